"""What is installed: models of the program's own folder, of the cache that all programs share, of the user's folders.

Reads configurations and headers only and copies nothing. One kind of entry for all; what is broken is listed with its
sentence. Free of torch; knows nothing of loading.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from inference.messages import Notice, Problem, sentence
from inference.models import architectures, contents, gguf_header, gguf_set, headers, places, starter
from inference.models.folders import hub_cache, models_folder
from inference.settings import DRAFTERS

if TYPE_CHECKING:
    from collections.abc import Iterator

Source = Literal["starter", "converted", "hub", "folder"]
Kind = Literal["model", "gguf", "draft"]

DEEPEST = 4
"""Levels below an added folder that are looked into: publisher/name/variant and one more."""

BROKEN = (
    "error.model_incomplete", "error.model_damaged", "error.missing_weights", "error.weights_disagree",
    "error.weights_mixed",
)
"""Problems that another download would mend."""

WRITERS = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
"""How the classes of models that write text are called; the same bodies also serve search and sorting."""


@dataclass(frozen=True, slots=True)
class Draftable:
    """Whether a drafter can draft for a model; ``reason`` is the id of a message that says why not."""

    name: str
    available: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that is installed.

    ``model`` is what to choose it by (settings.ModelChoice.model). ``kind`` gguf is to be imported before it can be
    loaded, ``draft`` is a twin or heads and drafts for another. ``size`` counts bytes on disk, ``parameters`` weights,
    ``context`` tokens; None is not known. ``shared``: other programs use these files too. ``problem`` says why it
    cannot be loaded as it is; ``complete`` is False only for what is cut off or missing.
    """

    name: str
    model: str
    folder: Path
    source: Source
    kind: Kind = "model"
    revision: str | None = None
    architecture: str = ""
    parameters: int | None = None
    dtype: str = ""
    size: int = 0
    context: int | None = None
    licence: str | None = None
    template: bool = False
    shared: bool = False
    complete: bool = True
    problem: Notice | None = None
    drafters: tuple[Draftable, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether it can be loaded as it is."""
        return self.kind == "model" and self.problem is None


def installed() -> tuple[Entry, ...]:
    """Everything that is installed, the program's own first, each folder once."""
    found: dict[Path, Entry] = {}
    for entry in (*_own(), *_hub(), *_users()):
        place = entry.folder if entry.kind != "gguf" else Path(entry.model)
        found.setdefault(_real(place), entry)
    return tuple(found.values())


def find(name: str) -> Entry:
    """The entry the user means by a name, a folder or a file. Raises Problem when there is none or several."""
    entries = installed()
    path = _real(Path(name).expanduser())
    exact = [
        entry for entry in entries if entry.model == name or path in (_real(entry.folder), _real(Path(entry.model)))
    ]
    alike = exact or [entry for entry in entries if entry.name.lower() == name.lower()]
    if not alike:
        raise Problem("error.not_installed", model=name)
    if len(alike) > 1 and not exact:
        raise Problem("error.ambiguous", model=name, choices=", ".join(entry.model for entry in alike))
    return alike[0]


def as_json(entry: Entry) -> dict[str, Any]:
    """An entry as ``models list --json`` and the job print it (design section 6)."""
    value = {**asdict(entry), "folder": str(entry.folder), "ready": entry.is_ready}
    if entry.problem is not None:
        text = sentence(entry.problem)
        value["problem"] = {"id": entry.problem.id, "values": dict(entry.problem.values), "text": text}
    value["drafters"] = [asdict(drafter) for drafter in entry.drafters]
    return value


def describe(folder: Path, name: str, model: str, source: Source) -> Entry:
    """The entry of a folder in transformers' format, broken or not."""
    entry = Entry(name, model, folder, source, size=size_of(folder), shared=source in ("hub", "folder"))
    try:
        config = contents.read(folder / contents.CONFIG, name)
    except Problem as problem:
        return replace(entry, problem=problem.notice, complete=False)
    text = text_part(config)
    entry = replace(
        entry,
        architecture=_architecture(config),
        context=_whole(text.get("max_position_embeddings")),
        licence=_licence(folder),
        template=_has_template(folder),
        drafters=drafters(config),
    )
    tensors: dict[str, headers.Tensor] = {}
    try:
        for file in contents.weights(folder, name):
            tensors |= headers.read(file) or {}
        entry = replace(
            entry,
            parameters=_parameters(config, tensors),
            dtype=contents.quantized_with(config) or headers.precision(tensors),
        )
        contents.check(folder, name)
    except Problem as problem:
        return replace(entry, problem=problem.notice, complete=problem.notice.id not in BROKEN)
    return entry


def describe_gguf(path: Path, source: Source) -> Entry:
    """The entry of a GGUF file, or of the set whose first part it is; it is imported before it can be loaded."""
    files, missing = gguf_header.parts(path)
    size = sum(file.stat().st_size for file in files)
    name = gguf_set.name(path)
    entry = Entry(name, str(path), path.parent, source, "gguf", size=size, shared=source in ("hub", "folder"))
    try:
        every = [gguf_header.read(file) for file in files] if missing else [gguf_set.read(files)]
        first = every[0]
    except Problem as problem:
        return replace(entry, problem=problem.notice, complete=False)
    notice = Notice("error.gguf_parts", {"model": name, "files": gguf_header.listed(missing)}) if missing else None
    return replace(
        entry,
        architecture=first.architecture,
        parameters=sum(header.parameters for header in every),
        dtype=first.kind,
        context=_whole(first.figure("context_length")),
        licence=_text(first.values.get("general.license")),
        template="tokenizer.chat_template" in first.values,
        complete=not missing,
        problem=notice or _unreadable(name, every),
    )


def drafters(config: dict[str, Any]) -> tuple[Draftable, ...]:
    """Which drafters a model of this configuration can have, and why not the others."""
    reasons: dict[str, str] = {}
    if is_recurrent(config):
        reasons = dict.fromkeys((name for name in DRAFTERS if name != "none"), "drafter.recurrent")
    elif contents.quantized_with(config) is not None:
        reasons["twin"] = "drafter.no_linear"
    return tuple(Draftable(name, name not in reasons, reasons.get(name)) for name in DRAFTERS)


def is_recurrent(config: dict[str, Any]) -> bool:
    """Whether a model of this configuration keeps a running state, so that nothing can draft for it."""
    text = text_part(config)
    kinds = {text.get("model_type"), config.get("model_type")}
    layers = set(map(str, text.get("layer_types") or text.get("layers_block_type") or ()))
    return bool(kinds & architectures.RECURRENT_MODELS or layers & architectures.RECURRENT)


def text_part(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration of the part that writes text; a multimodal model nests it."""
    nested = config.get("text_config")
    return nested if isinstance(nested, dict) else config


def size_of(folder: Path) -> int:
    """Bytes the files of a folder take, each file of a shared cache counted once."""
    seen: dict[tuple[int, int], int] = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not Path(place, name).is_symlink()]
        for name in files:
            try:
                found = Path(place, name).stat()
            except OSError:
                continue
            seen[found.st_dev, found.st_ino] = found.st_size
    return sum(seen.values())


def _own() -> Iterator[Entry]:
    """The starter and what was converted: folders with a marker, and nothing half done."""
    for folder in _folders(models_folder()):
        if folder == starter.folder():
            entry = describe(folder, starter.NAME, "starter", "starter")
            ready = starter.is_ready(folder)
            lacking = Notice("error.model_incomplete", {"model": starter.NAME, "files": starter.MARKER})
            yield replace(entry, licence=starter.LICENCE) if ready else replace(entry, complete=False, problem=lacking)
        elif (folder / starter.MARKER).is_file():
            yield describe(folder, folder.name, str(folder), "converted")


def _hub() -> Iterator[Entry]:
    """Chat models of the shared cache; pictures, data sets and what else lies there are not this program's."""
    for storage in _folders(hub_cache()):
        if not storage.name.startswith("models--"):
            continue
        repository = storage.name.removeprefix("models--").replace("--", "/")
        main = _first_line(storage / "refs" / "main")
        for snapshot in _folders(storage / "snapshots"):
            chosen = repository if snapshot.name == main else f"{repository}@{snapshot.name}"
            if (snapshot / contents.CONFIG).is_file():
                if _writes_text(snapshot):
                    entry = describe(snapshot, repository, chosen, "hub")
                    yield replace(entry, revision=snapshot.name)
            else:
                for path in _ggufs(snapshot):
                    yield replace(describe_gguf(path, "hub"), revision=snapshot.name)


def _users() -> Iterator[Entry]:
    for folder in places.read().folders:
        yield from _below(folder, DEEPEST, set())


def _below(folder: Path, levels: int, seen: set[Path]) -> Iterator[Entry]:
    real = _real(folder)
    if real in seen or not folder.is_dir():
        return
    seen.add(real)
    if (folder / contents.CONFIG).is_file() or (folder / "adapter_config.json").is_file():
        yield describe(folder, folder.name, str(folder), "folder")
        return
    for path in _ggufs(folder):
        yield describe_gguf(path, "folder")
    if levels:
        for inside in _folders(folder):
            yield from _below(inside, levels - 1, seen)


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError:
        return []


def _ggufs(folder: Path) -> Iterator[Path]:
    """The GGUF files of a folder, of each set the first part that is there."""
    sets = set()
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".gguf" and path.is_file())
    except OSError:
        return
    for path in files:
        match = gguf_header.PART.fullmatch(path.name)
        if match and match["stem"] in sets:
            continue
        if match:
            sets.add(match["stem"])
        yield path


def _unreadable(name: str, every: list[gguf_header.Header]) -> Notice | None:
    kinds = sorted({kind for header in every for kind in gguf_header.unreadable(header)})
    if not kinds:
        return None
    return Notice("error.gguf_kind", {"model": name, "kinds": ", ".join(kinds), "instead": gguf_header.INSTEAD})


def _writes_text(snapshot: Path) -> bool:
    try:
        config = contents.read(snapshot / contents.CONFIG, snapshot.name)
    except Problem:
        return False
    named = config.get("architectures")
    if isinstance(named, list) and named and not any(str(name).endswith(WRITERS) for name in named):
        return False
    kind = config.get("model_type")
    return kind in architectures.chat_models() or (bool(config.get("auto_map")) and kind not in architectures.known())


def _architecture(config: dict[str, Any]) -> str:
    named = config.get("architectures")
    return str(named[0]) if isinstance(named, list) and named else str(config.get("model_type", ""))


def _parameters(config: dict[str, Any], tensors: dict[str, headers.Tensor]) -> int | None:
    """Weights in the files; for packed ones nobody can tell from the shapes alone."""
    if not tensors or contents.quantized_with(config) is not None:
        return None
    return sum(tensor.elements for tensor in tensors.values())


def _has_template(folder: Path) -> bool:
    if (folder / "chat_template.jinja").is_file() or (folder / "chat_template.json").is_file():
        return True
    try:
        settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(settings, dict) and bool(settings.get("chat_template"))


def _licence(folder: Path) -> str | None:
    """By the marker of a conversion, the head of the model's page, or the first line of its licence file."""
    try:
        named = json.loads((folder / starter.MARKER).read_text(encoding="utf-8")).get("licence")
        if named:
            return str(named)
    except (OSError, ValueError, AttributeError):
        pass  # not converted here
    try:
        lines = (folder / "README.md").read_text(encoding="utf-8", errors="replace").splitlines()[:200]
    except OSError:
        lines = []
    if lines[:1] == ["---"]:
        for line in lines[1:]:
            if line.strip() == "---":
                break
            key, _, value = line.partition(":")
            if key == "license" and value.strip():
                return value.strip().strip("'\"")
    return _first_line(folder / "LICENSE") or _first_line(folder / "LICENSE.txt")


def _first_line(path: Path) -> str | None:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return next((line.strip()[:80] for line in file if line.strip()), None)
    except OSError:
        return None


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a loop of links
        return path.absolute()


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
