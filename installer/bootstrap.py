#!/usr/bin/env python3
"""One command from a fresh clone to the running program: environment, packages, starter model, hand-over.

    python3 installer/bootstrap.py [--venv DIR] [--torch-index URL] setup|run|chat|test|bench|doctor [ARGUMENT ...]

Standard library only. Interrupted at any point, the same command continues; with all in place it hands over at once.
It is written so that even Python 3.8 can read it far enough to say what is wrong.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.request
from pathlib import Path

OLDEST = (3, 11)
if sys.version_info < OLDEST:
    sys.exit("Borrador needs Python 3.11 or newer and this is {}.{}; install one and start this with it, for example: "
             "python3.11 installer/bootstrap.py run".format(*sys.version_info[:2]))

CHECKOUT = Path(__file__).resolve().parent.parent
CONSTRAINTS = CHECKOUT / "installer" / "constraints.txt"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
VERBS = {
    "setup": "install everything, start nothing",
    "run": "the window",
    "chat": "the chat in this terminal",
    "test": "the tests",
    "bench": "measure with and without speculation",
    "doctor": "what this machine has and lacks",
}
PROGRAM = {
    "run": ["-m", "desktop"], "chat": ["-m", "inference", "chat"], "demo": ["-m", "inference", "demo"],
    "test": ["-m", "pytest", "--numprocesses=logical", "--maxprocesses=4", "--dist=loadfile", "--no-loadscope-reorder"],
    "bench": ["-m", "inference", "bench"], "doctor": ["-m", "inference", "doctor"],
}
STAMP = "borrador-installed.json"
GIGABYTE = 10**9
NEEDED = {"cpu": 2.5 * GIGABYTE, "cuda": 9 * GIGABYTE}
"""Bytes on disk that the environment takes while it is being installed (torch's CUDA libraries make the difference)."""

QT_LIBRARIES = (
    ("libEGL.so.1", "libegl1"), ("libGL.so.1", "libgl1"), ("libxkbcommon.so.0", "libxkbcommon0"),
    ("libdbus-1.so.3", "libdbus-1-3"), ("libfontconfig.so.1", "libfontconfig1"), ("libglib-2.0.so.0", "libglib2.0-0"),
)
X11_LIBRARIES = (
    ("libxcb-cursor.so.0", "libxcb-cursor0"), ("libxcb-icccm.so.4", "libxcb-icccm4"),
    ("libxcb-keysyms.so.1", "libxcb-keysyms1"), ("libxcb-image.so.0", "libxcb-image0"),
    ("libxcb-render-util.so.0", "libxcb-render-util0"), ("libxcb-shape.so.0", "libxcb-shape0"),
    ("libxcb-xkb.so.1", "libxcb-xkb1"), ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
    ("libxcb-xinerama.so.0", "libxcb-xinerama0"),
)


class Refusal(Exception):
    """Why it cannot go on, and what to do about it, in one sentence."""


def main(argv: list[str]) -> int:
    """Exit status: 0 done, 1 refused, 2 wrong arguments, 130 interrupted; after a hand-over the program's own."""
    parser = argparse.ArgumentParser(prog="bootstrap.py", usage=(__doc__ or "").split("\n\n")[1].strip(),
                                     epilog="; ".join(f"{verb}: {does}" for verb, does in VERBS.items()))
    parser.add_argument("--venv", type=Path, metavar="DIR", help="another place for the environment than .venv here")
    parser.add_argument("--torch-index", metavar="URL", help="a package index to take another build of torch from")
    parser.add_argument("verb", choices=VERBS)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="for the program")
    given = parser.parse_args(argv)
    if given.verb == "setup":  # no program follows that could want them
        given = parser.parse_args([*argv[: argv.index("setup")], *given.arguments, "setup"])
    try:
        return go(given.verb, given.arguments, (given.venv or CHECKOUT / ".venv").absolute(), given.torch_index)
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename or 'A file'} cannot be used ({error.strerror or error}); check it, or choose another "
              f"place with --venv.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; the same command continues from here.", file=sys.stderr)
        return 130


def go(verb: str, arguments: list[str], venv: Path, torch_index: str | None) -> int:
    """Carry out a verb."""
    program = verb
    if verb == "run":
        program = without_display(dict(os.environ), sys.platform, sys.stdin is not None and sys.stdin.isatty())
    if program in ("run", "test"):
        check_qt(dict(os.environ), sys.platform, offscreen_only=verb == "test")
    elif verb == "setup" and (missing := missing_packages(QT_LIBRARIES)):
        say(f"The window will need system libraries that are missing: sudo apt install {' '.join(missing)}")
    extras = ["test"] if verb == "test" else []
    python = environment_python(venv)
    if not is_installed(venv, extras):
        install(venv, extras, torch_index)
    if verb != "doctor" and "--model" not in arguments:
        fetch_starter(python)
    if verb == "setup":
        say("Everything is in place. Start it with: python3 installer/bootstrap.py run")
        return 0
    if program == "demo":
        arguments = []
    return hand_over([str(python), *PROGRAM[program], *arguments], CHECKOUT if verb == "test" else None)


def say(sentence: str) -> None:
    """A line about what goes on; standard output belongs to the program."""
    print(sentence, file=sys.stderr, flush=True)


def without_display(environment: dict[str, str], platform: str, has_terminal: bool) -> str:
    """What ``run`` starts: the window where there is a screen, else the terminal chat, else one demonstration."""
    if platform != "linux" or any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
        return "run"
    if has_terminal:
        say("There is no display here, so this is the chat in the terminal.")
        return "chat"
    say("There is neither a display nor a terminal here, so one question is answered with speculation off and on.")
    return "demo"


def check_qt(environment: dict[str, str], platform: str, offscreen_only: bool) -> None:
    """Refuse when Qt's system libraries are missing, naming Debian's packages."""
    if platform != "linux":
        return
    x11 = bool(environment.get("DISPLAY")) and not environment.get("WAYLAND_DISPLAY") and not offscreen_only
    x11 = x11 and environment.get("QT_QPA_PLATFORM", "xcb") == "xcb"
    if missing := missing_packages(QT_LIBRARIES + (X11_LIBRARIES if x11 else ())):
        raise Refusal(f"The window needs system libraries that are missing here; install them with: sudo apt install "
                      f"{' '.join(missing)}")


def missing_packages(libraries: tuple[tuple[str, str], ...]) -> list[str]:
    """Debian's packages for those of the libraries that cannot be loaded."""
    return [package for library, package in libraries if not can_load(library)] if sys.platform == "linux" else []


def can_load(library: str) -> bool:
    """Whether the system's loader finds a shared library."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def environment_python(venv: Path) -> Path:
    """The interpreter inside a virtual environment."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def wanted() -> str:
    """A hash of all that decides what is installed; as long as it stays, pip need not be asked."""
    digest = hashlib.sha256()
    for path in (CHECKOUT / "pyproject.toml", CONSTRAINTS):
        digest.update(path.read_bytes())
    digest.update(f"{CHECKOUT} {sys.version_info[:2]}".encode())
    return digest.hexdigest()


def is_installed(venv: Path, extras: list[str]) -> bool:
    """Whether the environment was finished for just this checkout, these pins and these extras."""
    try:
        stamp = json.loads((venv / STAMP).read_text(encoding="utf-8"))
        return stamp["wanted"] == wanted() and set(extras) <= set(stamp["extras"]) and environment_python(venv).exists()
    except (OSError, ValueError, KeyError, TypeError):
        return False


def make_environment(venv: Path) -> None:
    """A virtual environment with pip; one that was left half made is made anew."""
    python = environment_python(venv)
    works = python.exists() and subprocess.run(
        [str(python), "-c", "import pip"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ).returncode == 0
    if works:
        return
    if venv.exists() and not (venv / "pyvenv.cfg").exists() and any(venv.iterdir()):
        raise Refusal(f"{venv} holds other things than a Python environment; choose another place with --venv.")
    try:
        import ensurepip  # noqa: F401
        import venv as _  # noqa: F401
    except ImportError:
        version = "{}.{}".format(*sys.version_info[:2])
        raise Refusal(f"This Python cannot make environments; install the module with: sudo apt install "
                      f"python{version}-venv") from None
    say(f"Making a Python environment in {venv}")
    command = [sys.executable, "-m", "venv", "--clear", str(venv)]
    made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode:
        last = (made.stdout.strip().splitlines() or ["no word why"])[-1]
        raise Refusal(f"The environment {venv} could not be made ({last}); check the folder, or choose another with "
                      f"--venv.")


def pip_arguments(
    platform: str, cuda: bool, cpu_index: bool, torch_index: str | None, extras: list[str]
) -> list[str]:
    """What pip is asked for. pip's own configuration stays in force: indexes are only added to it.

    A build from an added index wins by its longer version (2.13.0+cpu over 2.13.0). On Linux the usual index holds the
    CUDA build, on Windows the CPU build.
    """
    project = f"{CHECKOUT}[{','.join(extras)}]" if extras else str(CHECKOUT)
    arguments = ["install", "--no-input", "--disable-pip-version-check", "--constraint", str(CONSTRAINTS)]
    if torch_index:
        arguments += ["--extra-index-url", torch_index]
    elif platform == "linux" and not cuda and cpu_index:
        arguments += ["--extra-index-url", CPU_INDEX]
    return [*arguments, "--editable", project]


def install(venv: Path, extras: list[str], torch_index: str | None) -> None:
    """The environment, the project and all it needs, pinned; then the stamp."""
    cuda = has_nvidia_driver()
    cpu_index = sys.platform == "linux" and not cuda and not torch_index and is_reachable(CPU_INDEX + "/torch/", 3)
    if torch_index:
        build = f"the build of torch from {torch_index}"
    elif cuda and sys.platform == "linux":
        build = "the CUDA build of torch, since there is an NVIDIA driver"
    elif cuda:
        build = "the CPU build of torch; the CUDA build comes with --torch-index and an index from pytorch.org"
    elif cpu_index or sys.platform != "linux":
        build = "the CPU build of torch"
    else:
        build = "whatever build of torch pip offers, since the index of CPU builds is out of reach"
    if not any(venv.glob("lib*/**/site-packages/torch/version.py")):
        check_space(venv, NEEDED["cpu" if cpu_index or not cuda else "cuda"])
    make_environment(venv)
    say(f"Installing Borrador and what it needs, with {build} (some minutes the first time)")
    command = [str(environment_python(venv)), "-m", "pip",
               *pip_arguments(sys.platform, cuda, cpu_index, torch_index, extras)]
    said = []
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, stderr=subprocess.PIPE, text=True,
                          errors="replace") as pip:
        try:
            for line in pip.stderr or ():
                sys.stderr.write(line)
                said.append(line)
        except KeyboardInterrupt:
            pip.wait()  # it was interrupted too and cleans up
            raise
    if pip.returncode:
        raise pip_refusal("".join(said), venv)
    stamp = {"wanted": wanted(), "extras": extras}
    part = venv / (STAMP + ".part")
    part.write_text(json.dumps(stamp), encoding="utf-8")
    part.replace(venv / STAMP)


def pip_refusal(said: str, venv: Path) -> Refusal:
    """What pip's complaint means, in one sentence."""
    if "No space left" in said or "not enough space" in said:
        return Refusal(f"The disk of {venv} is full ({free(venv) / GIGABYTE:.1f} GB free); free some and start again.")
    if any(word in said for word in ("NewConnectionError", "NameResolutionError", "Failed to establish", "unreachable",
                                     "name resolution", "getaddrinfo", "timed out", "ProxyError")):
        return Refusal("The package index cannot be reached and what is needed is not cached here; connect to a "
                       "network and run this again.")
    errors = [line[len("ERROR: "):].strip() for line in said.splitlines() if line.startswith("ERROR: ")]
    return Refusal(f"pip could not install what Borrador needs ({(errors or ['see above'])[-1].rstrip('.')}); run this "
                   f"again, or remove {venv} first.")


def check_space(folder: Path, needed: float) -> None:
    """Refuse when the disk cannot hold the environment; also the one that temporary files go to, if it is another."""
    temporary = Path(tempfile.gettempdir())
    for place, share in ((folder, 1.0), (temporary, 0.25)):
        if free(place) < needed * share:
            raise Refusal(f"Borrador needs {needed * share / GIGABYTE:.1f} GB on the disk of {place} and "
                          f"{free(place) / GIGABYTE:.1f} GB are free; free some, or choose another place with "
                          f"{'--venv' if place == folder else 'TMPDIR'}.")


def free(folder: Path) -> int:
    """Free bytes on the disk that holds a folder, or would hold it."""
    return shutil.disk_usage(next(path for path in (folder, *folder.parents) if path.exists())).free


def has_nvidia_driver() -> bool:
    """Whether an NVIDIA driver answers: its own report, its tool, or its library."""
    if Path("/proc/driver/nvidia/version").exists():
        return True
    if tool := shutil.which("nvidia-smi"):
        try:
            listed = subprocess.run([tool, "-L"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20)
            if listed.returncode == 0 and b"GPU" in listed.stdout:
                return True
        except (OSError, subprocess.TimeoutExpired):
            pass
    try:
        return int(ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1").cuInit(0)) == 0
    except (OSError, AttributeError):
        return False


def is_reachable(url: str, seconds: float) -> bool:
    """Whether a server answers in time; a name that does not resolve must not cost more than that either."""
    answers = []

    def ask() -> None:
        try:
            with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=seconds) as answer:
                answers.append(answer.status)
        except (OSError, ValueError):
            pass

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(seconds)
    return bool(answers)


def fetch_starter(python: Path) -> None:
    """The starter model in the user's data folder; returns at once when it is there."""
    command = [str(python), "-m", "inference.models.job", "starter"]
    line = Line()
    failed = ""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                              cwd=str(CHECKOUT), text=True, encoding="utf-8", errors="replace") as child:
            for text in child.stdout or ():
                event = json.loads(text)
                if event["event"] == "failed":
                    failed = event["text"]
                elif event["event"] == "progress":
                    line.show(event["id"], event["text"], event["fraction"])
        line.end()
        errors.seek(0)
        last = (errors.read().strip().splitlines() or ["no word why"])[-1]
    if child.returncode == 130:
        raise KeyboardInterrupt
    if child.returncode:
        raise Refusal(failed or f"The starter model could not be prepared ({last}); run this again.")


class Line:
    """Progress on one line of a terminal that is written over; elsewhere a line per step and tenth."""

    def __init__(self) -> None:
        self.over = sys.stderr.isatty()
        self.shown: tuple[str, int] = ("", -1)
        self.open = False

    def show(self, step: str, sentence: str, fraction: float | None) -> None:
        """A step that goes on."""
        at = (step, int((fraction or 0) * 10))
        if self.over:
            if step != self.shown[0]:
                self.end()
            sys.stderr.write(f"\r\x1b[K{sentence}")
            sys.stderr.flush()
            self.open = True
        elif at != self.shown:
            say(sentence)
        self.shown = at

    def end(self) -> None:
        """The line stays as it is."""
        if self.open:
            sys.stderr.write("\n")
        self.open = False


def hand_over(command: list[str], folder: Path | None) -> int:
    """Become the program (on Windows: wait for it and end as it ended)."""
    environment = dict(os.environ)
    if folder:
        os.chdir(folder)
        environment.setdefault("QT_QPA_PLATFORM", "offscreen")  # tests open no windows
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name != "nt":
        os.execve(command[0], command, environment)
    return subprocess.call(command, env=environment)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
