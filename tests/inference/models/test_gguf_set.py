"""Models cut into several GGUF files: joined as if they had never been cut, or refused, naming the part to blame."""

from __future__ import annotations

import hashlib
import shutil
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from inference.messages import Problem
from inference.models import contents, conversion, convert, fitting, folders, gguf_header, gguf_set, job, library
from tests.fake_hub import FakeHub, Repository
from tests.inference.models.folders_for_tests import small_gguf

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from inference.messages import Notice
    from tests.inference.models.conftest import Fetch


def silent(*_: object) -> None: ...


def cut(folder: Path, name: str = "tiny", **changes: Any) -> list[Path]:
    """A tiny model in three parts of a set."""
    folder.mkdir(exist_ok=True)
    small_gguf(folder / f"{name}.gguf", part=8, **changes)
    files = sorted(folder.glob(f"{name}-*.gguf"))
    assert [file.name for file in files] == [f"{name}-0000{number}-of-00003.gguf" for number in (1, 2, 3)]
    return files


def refused(path: Path, id: str, *said: str) -> None:
    with pytest.raises(Problem) as caught:
        convert.bring(path, silent)
    assert caught.value.notice.id == id
    assert all(one in str(caught.value) for one in said), caught.value
    assert "\n" not in str(caught.value)
    assert library.size_of(folders.models_folder()) == 0


def weights(folder: Path) -> str:
    return hashlib.sha256((folder / contents.SINGLE).read_bytes()).hexdigest()


@pytest.mark.parametrize("kind", ["Q8_0", "F32"])
def test_a_set_becomes_what_the_whole_file_becomes(kind: str, home: Path) -> None:
    whole = convert.bring(small_gguf(home / "whole.gguf", kind), silent)
    files = cut(home / "set", kind=kind)
    said: list[tuple[Notice, float | None]] = []
    joined = convert.bring(files[1], lambda notice, done: said.append((notice, done)))  # any part stands for the set
    assert weights(joined) == weights(whole)
    assert (joined / "tokenizer.json").read_bytes() == (whole / "tokenizer.json").read_bytes()
    assert joined.name == "tiny"
    done = [fraction for _, fraction in said if fraction is not None]
    assert done == sorted(done) and done[0] == 0.0 and done[-1] > 0.9
    assert {notice.values["model"] for notice, _ in said if notice.id == "convert.reading"} >= {
        one.name for one in files
    }
    assert convert.bring(files[0], pytest.fail) == convert.bring(files[2], pytest.fail) == joined
    assert not list((folders.models_folder() / convert.WORK).glob("*/"))


def test_the_joined_file_is_the_file_that_was_cut(home: Path) -> None:
    whole = small_gguf(home / "whole.gguf")
    gguf_set.join(cut(home / "set"), home / "joined.gguf", silent)
    before, after = gguf_header.read(whole), gguf_header.read(home / "joined.gguf")
    assert before.tensors == after.tensors
    assert dict(before.values) == dict(after.values)
    assert whole.read_bytes()[before.data :] == (home / "joined.gguf").read_bytes()[after.data :]


def test_a_set_is_listed_once_with_the_figures_of_the_whole(home: Path) -> None:
    files = cut(home / "set")
    (entry,) = [library.describe_gguf(path, "folder") for path in library._ggufs(home / "set")]
    whole = library.describe_gguf(small_gguf(home / "whole.gguf"), "folder")
    assert (entry.name, entry.model, entry.complete, entry.problem) == ("tiny", str(files[0]), True, None)
    assert (entry.parameters, entry.dtype, entry.context) == (whole.parameters, whole.dtype, whole.context)
    assert entry.size == sum(file.stat().st_size for file in files)
    assert fitting.shape_of(entry) == fitting.shape_of(whole)


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_an_incomplete_set_names_the_missing_parts(gone: int, home: Path) -> None:
    files = cut(home / "set")
    files.pop(gone).unlink()
    refused(files[0], "error.gguf_parts", f"tiny-0000{gone + 1}-of-00003.gguf")
    (entry,) = [library.describe_gguf(path, "folder") for path in library._ggufs(home / "set")]
    assert not entry.complete and entry.problem is not None and not entry.is_ready


def test_many_missing_parts_are_not_all_named(home: Path) -> None:
    path = small_gguf(home / "m-00002-of-00009.gguf")
    refused(
        path, "error.gguf_parts", "m-00001-of-00009.gguf, m-00003-of-00009.gguf, m-00004-of-00009.gguf, … is missing"
    )


def renamed(files: list[Path]) -> Path:
    files[1].rename(files[1].with_name("spare"))
    files[2].rename(files[1])
    files[1].with_name("spare").rename(files[2])
    return files[1]


def of_another(files: list[Path]) -> Path:
    other = cut(files[0].parent / "other", layers=2, seed=5)
    shutil.copyfile(other[0], files[2])
    return files[2]


def without_figures(files: list[Path]) -> Path:
    small_gguf(files[1])
    return files[1]


def of_fewer(files: list[Path]) -> Path:
    """The second of two parts in the place of the second of three."""
    small_gguf(files[0].parent / "two.gguf", part=12)
    shutil.copyfile(files[0].parent / "two-00002-of-00002.gguf", files[1])
    return files[1]


@pytest.mark.parametrize(("change", "said"), [
    (renamed, "by its header it is part 3 of 3, by its name part 2 of 3"),
    (of_another, "by its header it is part 1 of 3, by its name part 3 of 3"),
    (without_figures, "by its header it is no part, by its name part 2 of 3"),
    (of_fewer, "by its header it is part 2 of 2, by its name part 2 of 3"),
])  # fmt: skip
def test_parts_that_disagree_are_refused_and_listed_so(change: Any, said: str, home: Path) -> None:
    files = cut(home / "set")
    blamed = change(files)
    refused(files[0], "error.gguf_damaged", said, blamed.name)
    entry = library.describe_gguf(files[0], "folder")
    assert entry.problem is not None and entry.problem.values["detail"] == said


def test_parts_of_two_sets_are_told_by_what_they_hold(home: Path) -> None:
    """Parts of the right number, but of another model, or of the same model cut elsewhere."""
    files = cut(home / "set")
    kept = files[1].read_bytes()
    small_gguf(home / "elsewhere.gguf", part=9)
    shutil.copyfile(home / "elsewhere-00002-of-00003.gguf", files[1])
    refused(files[0], "error.gguf_damaged", files[2].name, "which another part holds, too")
    files[1].write_bytes(kept)
    other = cut(home / "other", extra={"rope_freqs.weight": np.ones(8, dtype=np.float32)})
    shutil.copyfile(other[2], files[2])
    refused(files[0], "error.gguf_damaged", "the parts hold 22 tensors, and it names 21")


def test_a_part_that_is_cut_off(home: Path) -> None:
    files = cut(home / "set")
    files[2].write_bytes(files[2].read_bytes()[:-200])
    refused(files[0], "error.gguf_damaged", files[2].name, "it ends after")


def test_room_for_both_copies_is_looked_for_first(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = cut(home / "set")
    asked: list[int] = []

    def full(folder: Path, needed: int) -> None:
        asked.append(needed)
        raise Problem("error.disk", folder=str(folder), needed_mb=needed / 1e6, free_mb=0.0)

    monkeypatch.setattr(convert, "require_space", full)
    refused(files[0], "error.disk", "MB")
    assert asked == [conversion.bytes_needed(gguf_set.read(files)) + sum(file.stat().st_size for file in files)]


@pytest.mark.slow
def test_killed_while_parts_are_joined_it_starts_cleanly_over(home: Path) -> None:
    files = cut(home / "set")
    for steps in (2, 4, 20):
        events: Iterator[dict[str, Any]] = job.run_job(["convert", str(files[0])], threading.Event())
        for count, _ in enumerate(events, 1):
            if count >= steps:
                events.close()  # type: ignore[attr-defined]
                break
        assert library.installed() == ()
        convert.sweep()
        assert library.size_of(folders.models_folder()) == 0
    *_, done = job.run_job(["convert", str(files[0])], threading.Event())
    assert done["event"] == "done"
    assert library.size_of(folders.models_folder()) <= library.find(done["folder"]).size


def test_of_a_repository_all_parts_of_a_set_are_fetched(hub: FakeHub, fetch: Fetch, home: Path) -> None:
    files = cut(home / "set")
    small_gguf(home / "tiny.F32.gguf", "F32")
    named = {file.name: file.read_bytes() for file in (*files, home / "tiny.F32.gguf")}
    hub.repositories["owner/tiny"] = Repository(named)
    asked = fetch.problem().notice
    assert asked.id == "error.choose_file"
    assert [text.partition(" (")[0] for text in str(asked.values["files"]).split(", ")] == [
        files[0].name, "tiny.F32.gguf",
    ]  # fmt: skip
    found = fetch(file=files[0].name)
    assert found.file is not None and found.file.name == files[0].name
    assert sorted(path.name for path in found.folder.iterdir()) == [file.name for file in files]
    assert fetch.said("download.progress")[-1].values["total_mb"] == pytest.approx(
        sum(file.stat().st_size for file in files) / 1e6
    )
    assert convert.bring(found.file, silent).name == "tiny"  # a link in the shared cache, named by its hash there


def test_a_repository_that_lacks_a_part_is_refused_before_anything_is_fetched(
    hub: FakeHub, fetch: Fetch, home: Path
) -> None:
    files = cut(home / "set")
    hub.repositories["owner/tiny"] = Repository({file.name: file.read_bytes() for file in files[:2]})
    refusal = fetch.problem(file=files[0].name).notice
    assert (refusal.id, refusal.values["files"]) == ("error.repo_incomplete", files[2].name)
    assert not any(asked.sent for asked in hub.asked)
