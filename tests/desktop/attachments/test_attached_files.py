"""Text out of files of every kind a person drops; what cannot be read is refused in one sentence."""

from __future__ import annotations

import os
import zipfile
from typing import TYPE_CHECKING

import pytest
from docx import Document
from pypdf import PdfReader, PdfWriter
from PySide6.QtCore import QMarginsF
from PySide6.QtGui import QPageLayout, QPdfWriter, QTextDocument

from desktop.attachments import reading
from desktop.attachments.attaching import Attaching
from desktop.attachments.quoting import Attachment
from desktop.attachments.reading import Unreadable, plain, read

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot


pytestmark = pytest.mark.usefixtures("qapp")  # pages are written with fonts
PICTURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


def pdf(path: Path, text: str) -> Path:
    writer = QPdfWriter(str(path))
    writer.setPageMargins(QMarginsF(10, 10, 10, 10), QPageLayout.Unit.Millimeter)
    document = QTextDocument()
    document.setPlainText(text)
    document.print_(writer)
    return path


def word(path: Path) -> Path:
    document = Document()
    document.add_heading("Plan", 2)
    document.add_paragraph("First we sail.")
    document.add_paragraph("rope", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for at, text in enumerate(("a", "b", "1", "2")):
        table.cell(at // 2, at % 2).text = text
    document.save(str(path))
    return path


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain \xc3\xb1\r\nlines\rend", "plain ñ\nlines\nend"),
        (b"\xef\xbb\xbfmark", "mark"),
        ("wide ñ 🙂".encode("utf-16"), "wide ñ 🙂"),
        (b"\xff\xfea\0b\0", "ab"),
        ("caf\xe9 \x80".encode("latin-1"), "café €"),
        ("a\ud83eb".encode("utf-16-le", "surrogatepass").join((b"\xff\xfe", b"")), "a\ufffdb"),
        (b"page one\x0cpage two", "page one\npage two"),
    ],
)
def test_text_files_of_every_encoding(tmp_path: Path, data: bytes, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    assert read(path) == text


@pytest.mark.parametrize("data", [PICTURE, bytes(range(256)) * 9, b"MZ\x90\0\3\0\0\0", b"\1\2\3" * 99])
def test_what_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable) as caught:
        plain(data)
    assert caught.value.kind == "unknown"


def test_pdf_and_word_files_give_their_text(tmp_path: Path) -> None:
    assert "The waves of the sea" in read(pdf(tmp_path / "a.pdf", "The waves of the sea\nroll in and out"))
    assert read(word(tmp_path / "a.docx")) == "## Plan\n\nFirst we sail.\n\n- rope\n\n| a | b |\n| 1 | 2 |"


def test_what_cannot_be_read_is_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kind(path: Path) -> str:
        with pytest.raises(Unreadable) as caught:
            read(path)
        return caught.value.kind

    (tmp_path / "empty.txt").write_text(" \n")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7\n1 0 obj\n<<")
    (tmp_path / "broken.docx").write_bytes(b"PK\3\4 no archive")
    with zipfile.ZipFile(tmp_path / "other.docx", "w") as archive:
        archive.writestr("x", "y")
    source = PdfReader(pdf(tmp_path / "open.pdf", "secret"))
    locked = PdfWriter(clone_from=source)
    locked.encrypt("word", algorithm="RC4-128")
    locked.write(tmp_path / "locked.pdf")
    blank = PdfWriter()
    blank.add_blank_page(100, 100)
    blank.write(tmp_path / "blank.pdf")
    assert kind(tmp_path / "nothing.txt") == "missing"
    assert kind(tmp_path) == "folder"
    assert kind(tmp_path / "empty.txt") == "empty"
    assert kind(tmp_path / "broken.pdf") == "damaged"
    assert kind(tmp_path / "broken.docx") == "damaged"
    assert kind(tmp_path / "other.docx") == "damaged"
    assert kind(tmp_path / "locked.pdf") == "protected"
    assert kind(tmp_path / "blank.pdf") == "scanned"
    monkeypatch.setattr(reading, "LONGEST_TEXT", 3)
    (tmp_path / "long.txt").write_text("four")
    assert kind(tmp_path / "long.txt") == "long"
    monkeypatch.setattr(reading, "LARGEST_FILE", 3)
    assert kind(tmp_path / "long.txt") == "large"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are of Unix")
def test_a_pipe_does_not_hold_the_window(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(Unreadable) as caught:
        read(tmp_path / "pipe.txt")
    assert caught.value.kind == "missing"


def test_a_word_file_that_unfolds_beyond_measure_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"word/{number}.xml", b"\0" * 80_000_000)
    with pytest.raises(Unreadable) as caught:
        read(tmp_path / "bomb.docx")
    assert caught.value.kind == "large"


def test_slow_kinds_are_read_in_a_process_of_their_own(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> None:
    one = Attaching(qapp)
    came: list[Attachment] = []
    refused: list[str] = []
    one.came.connect(came.append)
    one.refused.connect(refused.append)
    (tmp_path / "notes.md").write_text("quick")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7\n")
    one.take([word(tmp_path / "plan.docx"), tmp_path / "broken.pdf", tmp_path / "notes.md", tmp_path / "gone.txt"])
    assert came == [Attachment("notes.md", "quick")]
    assert one.waiting == ["plan.docx", "broken.pdf"]
    qtbot.waitUntil(lambda: not one.waiting, timeout=60_000)
    assert [(file.name, file.text[:7]) for file in came] == [("notes.md", "quick"), ("plan.docx", "## Plan")]
    assert refused[0] == "gone.txt is not there any more."
    assert refused[1].startswith("broken.pdf is damaged and cannot be read (")


def test_reading_can_be_given_up(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> None:
    one = Attaching(qapp)
    came: list[Attachment] = []
    one.came.connect(came.append)
    one.take([pdf(tmp_path / "a.pdf", "words")])
    (job,) = one._running
    with qtbot.waitSignal(job.gone, timeout=60_000):
        one.give_up("a.pdf")
    assert one.waiting == []
    assert came == []
