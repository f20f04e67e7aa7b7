"""What the doctor says of machines that lack things."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from inference import doctor
from inference.messages import ENGLISH, Notice, sentence
from tests.inference.models.folders_for_tests import whole_model

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TORCH: dict[str, Any] = {
    "version": "2.13.0", "cuda": None, "hip": None, "bf16": True, "bitsandbytes": None,
    "products": None,
}


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setattr(doctor, "_torch_found", lambda: TORCH)
    monkeypatch.setattr(doctor, "_in_its_own_process", lambda code, environment: {"version": "6.11"})
    return


def look(name: str) -> list[tuple[str, str]]:
    return [(finding.level, finding.notice.id) for finding in doctor._isolated(name, doctor.PROBES[name])]


def test_json_and_status(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(doctor, "PROBES", {"Python": doctor._python, "PyTorch": doctor._torch})
    assert doctor.doctor(json=True) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["can_run"] is True
    assert [finding["id"] for finding in found["findings"]] == ["doctor.python", "doctor.torch", "doctor.bf16"]
    monkeypatch.setattr(doctor, "_torch_found", lambda: {"broken": "libcublas is missing"})
    assert doctor.doctor(json=False) == 1
    said = capsys.readouterr().out
    assert "! PyTorch cannot be used (libcublas is missing)" in said
    assert "cannot run" in said.splitlines()[-1]


def test_what_the_starter_takes_is_told_part_by_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert look("parts") == [("good", "memory.order")]
    whole_model(tmp_path / "starter", hidden_size=64)
    monkeypatch.setattr(doctor.starter, "is_ready", lambda: True)
    monkeypatch.setattr(doctor.starter, "folder", lambda: tmp_path / "starter")
    takes, order = doctor._isolated("parts", doctor._parts)
    values = takes.notice.values
    parts = [values[f"{name}_mb"] for name in ("target", "twin", "cache", "graphs", "work")]
    assert values["total_mb"] == sum(parts)  # type: ignore[arg-type]
    assert min(parts[:3]) > 0  # type: ignore[type-var, operator]
    assert "its low-bit copy" in sentence(takes.notice)
    assert "the card's graphs, bits of the low-bit copy" in sentence(order.notice)


def test_a_probe_that_throws_is_a_line_among_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def throw() -> Iterator[tuple[doctor.Level, Notice]]:
        yield "good", Notice("doctor.gpu_none")
        raise OSError("the bus fell off")

    monkeypatch.setattr(doctor, "PROBES", {"GPU": throw, "Python": doctor._python})
    assert doctor.doctor(json=False) == 0
    said = capsys.readouterr().out
    assert "GPU could not be looked at (OSError: the bus fell off)" in said
    assert "Python 3" in said


def test_a_library_that_takes_its_process_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with pytest.raises(doctor.Broken, match="status -6"):
        doctor._in_its_own_process("import os; os.abort()", {})
    with pytest.raises(doctor.Broken, match="no such library"):
        doctor._in_its_own_process("raise ImportError('no such library')", {})
    assert doctor._in_its_own_process("print('noise'); print('{\"a\": 1}')", {}) == {"a": 1}


@pytest.mark.parametrize(("change", "ids"), [
    ({"bf16": False, "products": "compiler"}, [("good", "doctor.torch"), ("note", "doctor.bf16_slow")]),
    ({"bf16": False}, [("good", "doctor.torch")]),
    ({"bitsandbytes": "no CUDA"},
     [("good", "doctor.torch"), ("bad", "doctor.bitsandbytes_broken"), ("good", "doctor.bf16")]),
])
def test_torch(monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], ids: list[tuple[str, str]]) -> None:
    monkeypatch.setattr(doctor, "_torch_found", lambda: {**TORCH, **change})
    assert look("PyTorch") == ids


@pytest.mark.parametrize(("torch", "said"), [
    (TORCH, ("note", "doctor.gpu_build")),  # I07
    ({**TORCH, "cuda": "13.0", "gpu": "no kernel image is available"}, ("note", "doctor.gpu_unusable")),  # I06
    ({**TORCH, "cuda": "13.0"}, ("note", "doctor.gpu_unusable")),
    ({**TORCH, "cuda": "13.0", "gpu": None}, None),
])
def test_I06_I07_a_card_that_this_build_cannot_use(
    monkeypatch: pytest.MonkeyPatch, torch: dict[str, Any], said: tuple[str, str] | None
) -> None:
    import pynvml

    class Memory:
        free, total = 7e9, 8e9

    for name, value in {"nvmlInit": None, "nvmlShutdown": None, "nvmlSystemGetDriverVersion": "580",
                        "nvmlDeviceGetCount": 1, "nvmlDeviceGetHandleByIndex": 0, "nvmlDeviceGetName": "Card",
                        "nvmlDeviceGetMemoryInfo": Memory}.items():
        monkeypatch.setattr(pynvml, name, lambda *_, value=value: value)
    monkeypatch.setattr(doctor, "_torch_found", lambda: torch)
    assert look("GPU") == [("good", "doctor.gpu"), *([said] if said else [])]


@pytest.mark.parametrize("trouble", [None, "compiler", "processor", "wrong"])
def test_compiled_products_matter_without_a_card(monkeypatch: pytest.MonkeyPatch, trouble: str | None) -> None:
    monkeypatch.setattr(doctor.sys, "platform", "linux")
    monkeypatch.setattr(doctor, "_torch_found", lambda: {**TORCH, "products": trouble})
    found = ("good", "doctor.products") if trouble is None else ("note", f"doctor.products_{trouble}")
    assert look("compiler") == [found]
    assert found[1] in ENGLISH


def test_a_compiler_matters_with_a_card_on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.sys, "platform", "linux")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    monkeypatch.setattr(doctor, "_torch_found", lambda: {**TORCH, "cuda": "13.0", "gpu": None})
    assert look("compiler") == [("note", "doctor.compiler_none")]
    monkeypatch.setattr(doctor.sys, "platform", "win32")
    assert look("compiler") == [("good", "doctor.compiler_unneeded")]


def test_a_folder_that_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").write_text("")
    assert look("disk") == [("bad", "doctor.disk_refused"), ("good", "doctor.disk")]


def test_qt_matters_where_there_is_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(code: str, environment: dict[str, str]) -> dict[str, Any]:
        raise doctor.Broken("libEGL.so.1: cannot open shared object file")

    monkeypatch.setattr(doctor.sys, "platform", "linux")
    monkeypatch.setattr(doctor, "_in_its_own_process", broken)
    for name in ("WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert look("window") == [("note", "doctor.qt_libraries"), ("note", "doctor.display_none")]
    monkeypatch.setenv("DISPLAY", ":0")
    assert look("window") == [("bad", "doctor.qt_libraries"), ("good", "doctor.display")]


def test_starter_missing() -> None:
    assert look("starter model") == [("note", "doctor.starter_missing")]


def test_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    from tests.fake_hub import FakeHub

    with FakeHub() as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        assert look("model hub") == [("good", "doctor.hub")]
    assert look("model hub") == [("note", "doctor.hub_unreachable")]
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert look("model hub") == [("note", "doctor.hub_offline")]


def test_every_sentence_is_there_and_used() -> None:
    import re
    from pathlib import Path

    used = set(re.findall(r'"(doctor\.\w+)"', Path(doctor.__file__).read_text(encoding="utf-8")))
    assert used == {id for id in ENGLISH if id.startswith("doctor.")}


@pytest.mark.slow
def test_this_machine(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.undo()
    assert doctor.doctor(json=True) == 0
    found = json.loads(capsys.readouterr().out)
    assert not [finding for finding in found["findings"] if finding["id"] == "doctor.failed"]
