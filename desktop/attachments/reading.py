"""Text out of files: plain text and code, PDF, Word. ``python -m desktop.attachments.reading FILE`` prints it as JSON.

What cannot be read becomes a fault with the values its sentence needs. Knows nothing of Qt, and runs no code of a file.
"""

from __future__ import annotations

import json
import logging
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.plain_text import storable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docx.table import Table
    from docx.text.paragraph import Paragraph

LARGEST_FILE = 20_000_000
LONGEST_TEXT = 1_000_000
SLOW = (".pdf", ".docx")
"""Files of these kinds are read in a process of their own: it can take seconds, and they can be made to do harm."""
MOST_UNFOLDED = 200_000_000
MEMORY = 3_000_000_000
_MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
)
_UNPRINTED = frozenset(range(32)) - set(b"\t\n\r\f\x1b")


class Unreadable(Exception):
    """``kind`` names the fault: missing, folder, denied, large, long, empty, unknown, protected, scanned, damaged."""

    def __init__(self, kind: str, **values: str | int) -> None:
        super().__init__(kind)
        self.kind = kind
        self.values = values


def read(path: Path) -> str:
    """The text of a file, with plain line feeds. Raises Unreadable."""
    try:
        if path.is_dir():
            raise Unreadable("folder")
        if not path.is_file():
            raise Unreadable("missing")
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise Unreadable("large", size=size, limit=LARGEST_FILE)
        kind = path.suffix.lower()
        text = _pdf(path) if kind == ".pdf" else _word(path) if kind == ".docx" else plain(path.read_bytes())
    except OSError as error:
        raise Unreadable("denied", detail=error.strerror or str(error)) from error
    text = storable(text.replace("\r\n", "\n").replace("\r", "\n")).replace("\f", "\n")
    if len(text) > LONGEST_TEXT:
        raise Unreadable("long", size=len(text), limit=LONGEST_TEXT)
    if not text.strip():
        raise Unreadable("scanned" if kind == ".pdf" else "empty")
    return text


def plain(data: bytes) -> str:
    """Bytes as text: by their mark, as UTF-8, or as Windows wrote Western languages. Raises Unreadable."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    strange = sum(data[:65536].count(byte) for byte in _UNPRINTED)
    if strange > min(len(data), 65536) // 200 or b"\0" in data[:65536]:
        raise Unreadable("unknown")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _pdf(path: Path) -> str:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    pages: list[str] = []
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("protected")
        for page in reader.pages:
            pages.append(page.extract_text())
            if sum(map(len, pages)) > LONGEST_TEXT:
                break
    except (Unreadable, OSError):
        raise
    except (DependencyError, NotImplementedError) as error:
        raise Unreadable("protected") from error
    except (PyPdfError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise Unreadable("damaged", detail=_first_line(error)) from error
    return "\n\n".join(page.strip() for page in pages).replace("\t", " ")  # some writers call their spaces tabs


def _word(path: Path) -> str:
    from docx import Document
    from docx.table import Table as WordTable

    try:
        with zipfile.ZipFile(path) as archive:
            if sum(one.file_size for one in archive.infolist()) > MOST_UNFOLDED:
                raise Unreadable("large", size=MOST_UNFOLDED, limit=LARGEST_FILE)
        document = Document(str(path))
        parts = [
            "\n".join(_rows(one)) if isinstance(one, WordTable) else _paragraph(one)
            for one in document.iter_inner_content()
        ]
    except (Unreadable, OSError):
        raise
    except Exception as error:  # the library names no errors of its own, and the XML parser has many
        raise Unreadable("damaged", detail=_first_line(error)) from error
    return "\n\n".join(part for part in parts if part)


def _paragraph(one: Paragraph) -> str:
    text = one.text.strip()
    style = (one.style.name if one.style is not None else None) or ""
    if text and style.startswith("Heading ") and style[8:].isdecimal():
        return f"{'#' * min(6, int(style[8:]))} {text}"
    return f"- {text}" if text and style.startswith("List") else text


def _rows(table: Table) -> Iterator[str]:
    for row in table.rows:
        yield "| " + " | ".join(cell.text.strip().replace("\n", " ") for cell in row.cells) + " |"


def _first_line(error: Exception) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:200]


def main(arguments: list[str]) -> int:
    """Read one file and print its text, or the fault, as one line of JSON."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        answer: dict[str, object] = {"event": "done", "text": read(Path(arguments[0]))}
    except Unreadable as fault:
        answer = {"event": "done", "fault": fault.kind, "values": fault.values}
    except MemoryError:
        answer = {"event": "done", "fault": "damaged", "values": {"detail": "MemoryError"}}
    sys.stdout.write(json.dumps(answer) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
