"""How the compiled products come to be: made once, again where the file is broken, done without where they must."""

from __future__ import annotations

import ctypes
import shutil
from typing import TYPE_CHECKING

import pytest

from inference.native import library

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

needs_compiler = pytest.mark.skipif(library.compiler() is None, reason="no C compiler")

SOURCE = """
int products_work(void) { return %d; }
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small source in a folder of its own."""
    file = tmp_path / "package" / "products.c"
    file.parent.mkdir()
    file.write_text(SOURCE % 1)
    monkeypatch.setattr(library, "SOURCE", file)
    monkeypatch.setattr(library.folders, "native_folder", lambda: tmp_path / "cache")
    for cached in (library.load, library.key):
        cached.cache_clear()
    yield file
    monkeypatch.undo()
    for cached in (library.load, library.key):
        cached.cache_clear()


def made(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.glob("*"))


@needs_compiler
def test_they_are_made_once(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not library.is_made()
    assert isinstance(library.load(), ctypes.CDLL)
    assert library.is_made()
    name = f"products-{library.key()}.so"
    assert made(source.parent / "__pycache__") == [name]
    library.load.cache_clear()
    monkeypatch.setattr(library, "compiler", lambda: None)
    assert isinstance(library.load(), ctypes.CDLL)


@needs_compiler
@pytest.mark.parametrize("content", [b"", b"not a library", b"\x7fELF" + bytes(200)])
def test_a_broken_file_is_made_again(source: Path, content: bytes) -> None:
    folder = source.parent / "__pycache__"
    folder.mkdir()
    (folder / f"products-{library.key()}.so").write_bytes(content)
    assert isinstance(library.load(), ctypes.CDLL)


@needs_compiler
def test_another_source_is_another_file(source: Path) -> None:
    library.load()
    source.write_text(SOURCE % 2)
    library.load.cache_clear()
    library.key.cache_clear()
    library.load()
    assert len(made(source.parent / "__pycache__")) == 2


@needs_compiler
def test_where_the_program_lies_read_only_the_cache_is_taken(source: Path, tmp_path: Path) -> None:
    (source.parent / "__pycache__").write_text("a file in the way")
    assert isinstance(library.load(), ctypes.CDLL)
    assert made(tmp_path / "cache") == [f"products-{library.key()}.so"]
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("another")
    library.load.cache_clear()
    assert library.load() == "compiler"


@needs_compiler
def test_a_processor_that_cannot_run_them_says_so(source: Path) -> None:
    source.write_text(SOURCE % 0)
    assert library.load() == "processor"


@needs_compiler
def test_a_source_that_does_not_compile_leaves_nothing(source: Path, tmp_path: Path) -> None:
    source.write_text("no C")
    assert library.load() == "compiler"
    assert made(source.parent / "__pycache__") == made(tmp_path / "cache") == []


def test_without_a_compiler_or_on_another_system_there_are_none(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setenv("PATH", str(source.parent))
    assert library.compiler() is None
    assert library.is_made(), "there is nothing to wait for"
    assert library.load() == "compiler"
    library.load.cache_clear()
    monkeypatch.setattr(library.sys, "platform", "win32")
    assert library.load() == "platform"


def test_a_named_compiler_comes_first(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = source.parent / "mine"
    mine.write_text("#!/bin/sh\n")
    mine.chmod(0o755)
    monkeypatch.setenv("CC", str(mine))
    assert library.compiler() == str(mine)
