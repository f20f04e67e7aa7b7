"""What the installer decides: pip's arguments, refusals, the stamp, what is handed over to."""

from __future__ import annotations

import ast
import builtins
import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.installer.conftest import PATH, Machine

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

INDEX = "https://example.org/whl/cu130"


def test_old_pythons_can_read_it_far_enough() -> None:
    ast.parse(PATH.read_text(encoding="utf-8"), feature_version=(3, 8))


def test_only_the_standard_library() -> None:
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(PATH.read_text(encoding="utf-8")))
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import)
                     else [node.module or ""] if isinstance(node, ast.ImportFrom) else [])
    }
    assert imported <= set(sys.stdlib_module_names)


def test_too_old_is_one_sentence_with_the_remedy() -> None:
    code = PATH.read_text(encoding="utf-8").replace("OLDEST = (3, 11)", "OLDEST = (9, 0)")
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 1
    assert re.fullmatch(r"Borrador needs Python 3\.11 or newer and this is 3\.\d+; install one .*\n", ended.stderr)


@pytest.mark.parametrize(("platform", "cuda", "cpu_index", "given", "added"), [
    ("linux", True, False, None, None),
    ("linux", True, True, None, None),
    ("linux", False, True, None, "https://download.pytorch.org/whl/cpu"),
    ("linux", False, False, None, None),
    ("linux", False, True, INDEX, INDEX),
    ("linux", True, False, INDEX, INDEX),
    ("win32", False, False, None, None),
    ("win32", True, False, None, None),
    ("win32", True, False, INDEX, INDEX),
])
def test_pip_arguments(
    bootstrap: ModuleType, platform: str, cuda: bool, cpu_index: bool, given: str | None, added: str | None
) -> None:
    arguments = bootstrap.pip_arguments(platform, cuda, cpu_index, given, ["test"])
    head = ["install", "--no-input", "--disable-pip-version-check", "--constraint", str(bootstrap.CONSTRAINTS)]
    index = ["--extra-index-url", added] if added else []
    assert arguments == [*head, *index, "--editable", f"{bootstrap.CHECKOUT}[test]"]
    assert "--index-url" not in arguments  # pip's own configuration stays in force


@pytest.mark.parametrize(("cuda", "reachable", "asked", "build"), [
    (True, True, 0, "CUDA build"),
    (False, True, 1, "CPU build"), (False, False, 1, "whatever build of torch pip offers"),
])
def test_the_build_of_torch_follows_the_driver(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    cuda: bool, reachable: bool, asked: int, build: str,
) -> None:
    questions = []
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(machine.module, "has_nvidia_driver", lambda: cuda)
    monkeypatch.setattr(machine.module, "is_reachable", lambda url, seconds: questions.append(seconds) or reachable)
    assert machine.run("setup") == 0
    assert questions == [3] * asked
    assert (machine.module.CPU_INDEX in machine.pip[0]) == (reachable and not cuda)
    assert build in capsys.readouterr().err


def test_a_given_index_is_taken_without_a_look_at_the_other(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.module, "is_reachable", lambda *_: pytest.fail("not asked"))
    assert machine.run("--torch-index", INDEX, "setup") == 0
    assert INDEX in machine.pip[0]


def test_setup_takes_options_behind_it_too(machine: Machine, tmp_path: Path) -> None:
    assert machine.module.main(["setup", "--venv", str(tmp_path / "other"), "--torch-index", INDEX]) == 0
    assert machine.pip[0][0] == str(machine.module.environment_python(tmp_path / "other"))
    assert INDEX in machine.pip[0]


@pytest.mark.parametrize(("verb", "program"), [
    ("run", ["-m", "desktop"]), ("chat", ["-m", "inference", "chat"]), ("bench", ["-m", "inference", "bench"]),
    ("test", ["-m", "pytest", "--numprocesses=logical", "--maxprocesses=4", "--dist=loadfile",
              "--no-loadscope-reorder"]),
    ("doctor", ["-m", "inference", "doctor"]),
])
def test_what_follows_a_verb_goes_to_the_program(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, verb: str, program: list[str]
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    assert machine.run(verb, "--venv", "x", "--k", "4", "--json") == 0
    assert machine.program == [*program, "--venv", "x", "--k", "4", "--json"]
    assert machine.folder == (machine.module.CHECKOUT if verb == "test" else None)
    assert machine.starters == (0 if verb == "doctor" else 1)


def test_another_model_needs_no_starter(machine: Machine) -> None:
    assert machine.run("chat", "--model", "owner/tiny") == 0
    assert machine.starters == 0


def test_wrong_verbs_are_status_2(machine: Machine) -> None:
    with pytest.raises(SystemExit) as ended:
        machine.run("fly")
    assert ended.value.code == 2


def test_a_second_start_asks_pip_nothing(machine: Machine) -> None:
    machine.run("setup")
    machine.run("chat")
    machine.run("chat")
    assert len(machine.pip) == 1


def test_the_tests_need_their_extra_once(machine: Machine) -> None:
    machine.run("setup")
    machine.run("test")
    machine.run("test")
    machine.run("chat")
    assert len(machine.pip) == 2
    assert machine.pip[1][-1].endswith("[test]")


@pytest.mark.parametrize("change", ["pyproject", "constraints", "stamp", "python", "moved"])
def test_what_changes_installs_anew(machine: Machine, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.run("setup")
    module = machine.module
    if change == "pyproject":
        (module.CHECKOUT / "pyproject.toml").write_text("[project] # other")
    elif change == "constraints":
        module.CONSTRAINTS.write_text("torch==2.14.0")
    elif change == "stamp":
        (machine.venv / module.STAMP).write_text("{")
    elif change == "python":
        module.environment_python(machine.venv).unlink()
    else:
        module.CHECKOUT.rename(module.CHECKOUT.with_name("elsewhere"))
        monkeypatch.setattr(module, "CHECKOUT", module.CHECKOUT.with_name("elsewhere"))
        monkeypatch.setattr(module, "CONSTRAINTS", module.CHECKOUT / "installer" / "constraints.txt")
    machine.run("setup")
    assert len(machine.pip) == 2


def test_an_interrupted_or_failed_pip_leaves_no_stamp(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.pip_says = (1, "ERROR: something odd\n")
    assert machine.run("setup") == 1
    assert not (machine.venv / machine.module.STAMP).exists()
    assert machine.starters == 0
    machine.pip_says = (0, "")
    assert machine.run("setup") == 0
    assert json.loads((machine.venv / machine.module.STAMP).read_text())["extras"] == []


@pytest.mark.parametrize(("environment", "terminal", "program", "line"), [
    ({"DISPLAY": ":0"}, False, ["-m", "desktop", "--x"], ""),
    ({"WAYLAND_DISPLAY": "wayland-0"}, True, ["-m", "desktop", "--x"], ""),
    ({"QT_QPA_PLATFORM": "offscreen"}, False, ["-m", "desktop", "--x"], ""),
    ({}, True, ["-m", "inference", "chat", "--x"], "There is no display here, so this is the chat in the terminal."),
    ({"DISPLAY": ""}, True, ["-m", "inference", "chat", "--x"], "There is no display here"),
    ({}, False, ["-m", "inference", "demo"], "neither a display nor a terminal"),
])
def test_run_without_a_display(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    environment: dict[str, str], terminal: bool, program: list[str], line: str,
) -> None:
    class Stdin:
        def isatty(self) -> bool:
            return terminal

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sys, "stdin", Stdin())
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    machine.run("setup")
    capsys.readouterr()
    assert machine.run("run", "--x") == 0
    assert machine.program == program
    said = capsys.readouterr().err
    assert line in said
    assert len(said.splitlines()) == (1 if line else 0)


def test_windows_always_has_a_display(bootstrap: ModuleType) -> None:
    assert bootstrap.without_display({}, "win32", False) == "run"


def refusal(machine: Machine, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert machine.run(*arguments) == 1
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.endswith((".", "venv")) or "sudo apt install" in last
    return last


@pytest.mark.parametrize(("said", "words"), [
    ("NewConnectionError\nERROR: No matching distribution found for setuptools", "connect to a network"),
    ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "is full"),
    ("ERROR: Cannot install torch==1 because of conflicts.", "Cannot install torch==1 because of conflicts"),
    ("", "see above"),
])
def test_pip_failures(machine: Machine, capsys: pytest.CaptureFixture[str], said: str, words: str) -> None:
    machine.pip_says = (1, said)
    assert words in refusal(machine, capsys, "setup")


def test_too_small_a_disk_is_told_before_anything_is_made(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine.module, "free", lambda folder: 1.3e9)
    assert "needs 2.5 GB on the disk of" in (said := refusal(machine, capsys, "setup")) and "1.3 GB are free" in said
    monkeypatch.setattr(machine.module, "has_nvidia_driver", lambda: True)
    assert "needs 9.0 GB" in refusal(machine, capsys, "setup")
    assert machine.pip == []
    assert not machine.venv.exists()


@pytest.mark.parametrize(("environment", "missing", "named"), [
    ({"DISPLAY": ":0"}, {"libEGL.so.1", "libxcb-cursor.so.0"}, "libegl1 libxcb-cursor0"),
    ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "w"}, {"libGL.so.1", "libxcb-cursor.so.0"}, "libgl1"),
    ({"QT_QPA_PLATFORM": "offscreen", "DISPLAY": ":0"}, {"libfontconfig.so.1", "libxcb-icccm.so.4"}, "libfontconfig1"),
])
def test_I04_missing_qt_libraries_are_named_as_packages(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    environment: dict[str, str], missing: set[str], named: str,
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(machine.module, "can_load", lambda library: library not in missing)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert refusal(machine, capsys, "run").endswith(f"sudo apt install {named}")
    assert machine.pip == []


def test_the_tests_need_only_what_offscreen_needs(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(machine.module, "can_load", lambda library: not library.startswith("libxcb"))
    assert machine.run("test") == 0
    monkeypatch.setattr(machine.module, "can_load", lambda library: library != "libdbus-1.so.3")
    assert refusal(machine, capsys, "test").endswith("libdbus-1-3")


def test_the_terminal_needs_no_qt(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(machine.module, "can_load", lambda library: False)
    assert machine.run("chat") == 0


def test_no_venv_module(bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    true_import = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "ensurepip":
            raise ImportError(name)
        return true_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(bootstrap.Refusal, match=r"sudo apt install python3\.\d+-venv$"):
        bootstrap.make_environment(tmp_path / "venv")


def test_a_folder_with_other_things_is_left_alone(bootstrap: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear")
    with pytest.raises(bootstrap.Refusal, match="choose another place"):
        bootstrap.make_environment(tmp_path)
    assert (tmp_path / "letters.txt").exists()


def test_files_that_may_not_be_touched_are_a_sentence(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> bool:
        raise PermissionError(13, "Permission denied", "/etc/x")

    monkeypatch.setattr(machine.module, "is_installed", refuse)
    assert "/etc/x cannot be used (Permission denied)" in refusal(machine, capsys, "setup")


def test_interrupted(machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(python: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(machine.module, "fetch_starter", interrupt)
    assert machine.run("setup") == 130
    assert "continues from here" in capsys.readouterr().err


@pytest.mark.parametrize(("ended", "said"), [
    ({"event": "failed", "id": "x", "values": {}, "text": "The hub is away; wait."}, "The hub is away; wait."),
    (None, "could not be prepared (last words)"),
])
def test_the_starters_troubles_are_handed_on(
    bootstrap: ModuleType, tmp_path: Path, ended: dict[str, Any] | None, said: str
) -> None:
    script = tmp_path / "python"
    event = f"echo '{json.dumps(ended)}'\n" if ended else ""
    script.write_text(f"#!/bin/sh\n{event}echo 'last words' >&2\nexit 1\n")
    script.chmod(0o755)
    with pytest.raises(bootstrap.Refusal, match=re.escape(said)):
        bootstrap.fetch_starter(script)


def test_progress_in_a_log_is_a_line_per_tenth(bootstrap: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    line = bootstrap.Line()
    for percent in range(101):
        line.show("download", f"{percent} %", percent / 100)
    line.show("convert", "Converting", None)
    line.end()
    assert capsys.readouterr().err.splitlines() == [*(f"{tenth * 10} %" for tenth in range(11)), "Converting"]


def test_a_closed_port_is_out_of_reach(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = PATH.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__file__": str(PATH), "__name__": "bootstrap_again"}
    exec(compile(spec, str(PATH), "exec"), names)
    monkeypatch.setenv("NO_PROXY", "*")
    assert names["is_reachable"]("http://127.0.0.1:9/", 3) is False
    assert names["is_reachable"]("nonsense", 3) is False
    assert names["can_load"]("libnothing.so.0") is False


def test_every_dependency_is_pinned() -> None:
    import tomllib

    project = tomllib.loads((PATH.parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = (PATH.parent / "constraints.txt").read_text(encoding="utf-8")
    pinned = {re.split("[=<>]", line)[0].lower().replace("_", "-") for line in pins.splitlines() if "==" in line}
    for requirement in (*project["dependencies"], *project["optional-dependencies"]["test"]):
        assert re.split(r"[\s<>=!~;\[]", requirement)[0].lower().replace("_", "-") in pinned
    assert "torch==2.13.0\n" in pins
    assert 'triton==3.7.1 ; sys_platform == "linux"\n' in pins
