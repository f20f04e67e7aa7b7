"""What was on the page of a chat as Markdown, as a web page that loads nothing, and as PDF.

What a model thought before it answered is folded away on the web page, and a quotation in the other two.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from PySide6.QtCore import (
    QBuffer,
    QByteArray,
    QCoreApplication,
    QDate,
    QLocale,
    QMarginsF,
    QRectF,
    QSizeF,
    Qt,
    QUrl,
)
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QPageLayout,
    QPageSize,
    QPainter,
    QPdfWriter,
    QTextCursor,
    QTextDocument,
)

from desktop.exchange.whole import shown_path
from desktop.reply import in_halves
from desktop.sentences import sentence
from desktop.transcript.actions import thinking_time
from desktop.transcript.figures import quiet_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from desktop.exchange.whole import Whole
    from desktop.reply import Reply

translate = QCoreApplication.translate

STYLE = """
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; color: #1f2328;
  background: #fbfaf7; overflow-wrap: anywhere; }
.you { background: #efece4; border-radius: 6px; padding: .6rem .9rem; white-space: pre-wrap; }
.who, .figures { color: #5b6470; font-size: 13px; margin: 1.2rem 0 .3rem; }
pre { background: #efece4; border-radius: 6px; padding: .6rem .9rem; white-space: pre-wrap; }
.thought { border-left: 3px solid #d9d6ce; margin: .6rem 0; padding: 0 .9rem; color: #5b6470; }
table { border-collapse: collapse; } td, th { border: 1px solid #d9d6ce; padding: .3rem .6rem; }
"""


MUTED = "#5b6470"
PRINTED = """
body { font-size: 10pt; } .figures, .who, .thought { color: #5b6470; font-size: 8pt; }
.you { background-color: #efece4; white-space: pre-wrap; } pre { background-color: #efece4; white-space: pre-wrap; }
td, th { padding: 2px 6px; }
"""
FOOT_INCHES = 0.35
LONGEST_BLOCK = 4_000


@dataclass(frozen=True, slots=True)
class _Message:
    """What one side said; ``figures`` are the quiet line below, ``time`` tells how long ``thinking`` took."""

    who: str
    text: str
    is_user: bool = False
    figures: str = ""
    thinking: str = ""
    time: str = ""


def markdown(one: Whole) -> str:
    """The chat as Markdown; the words of both sides as they were written."""
    parts = [f"# {_title(one)}\n", f"{_day(one.chat.created)}\n"]
    for message in _messages(one):
        parts.append(f"## {message.who}\n")
        if message.thinking:
            lines = [f"*{message.time}*", "", *message.thinking.split("\n")]
            parts.append("\n".join(f"> {line}".rstrip() for line in lines) + "\n")
        if message.text.strip():
            parts.append(f"{message.text.rstrip()}\n")
        if message.figures:
            parts.append(f"*{message.figures}*\n")
    return "\n".join(parts)


def web_page(one: Whole, *, folds: bool = True) -> str:
    """The chat as one HTML file: no script, no picture, nothing fetched; markup in messages shows as text.

    Without ``folds`` all thinking is in view.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parts = []
    for one_said in _messages(one):
        body = html.escape(one_said.text) if one_said.is_user else parser.render(one_said.text)
        kind = "you" if one_said.is_user else "reply"
        parts.append(f'<p class="who">{html.escape(one_said.who)}</p>')
        if one_said.thinking:
            time, thought = html.escape(one_said.time), parser.render(one_said.thinking)
            thought = f'<blockquote class="thought" dir="auto">{thought}</blockquote>'
            fold = f'<details>\n<summary class="figures">{time}</summary>\n{thought}</details>'
            parts.append(fold if folds else f'<p class="figures">{time}</p>\n{thought}')
        if one_said.text.strip():
            parts.append(f'<div class="{kind}" dir="auto">{body}</div>')
        if one_said.figures:
            parts.append(f'<p class="figures">{html.escape(one_said.figures)}</p>')
    title = html.escape(_title(one))
    return (
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f'<p class="figures">{html.escape(_day(one.chat.created))}</p>\n' + "\n".join(parts) + "\n</body>\n</html>\n"
    )


def pdf(one: Whole, path: Path) -> Iterator[int]:
    """Write the chat as PDF on A4, a page at each step. Raises OSError where the file cannot be written."""
    device = QBuffer()
    device.open(QBuffer.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(device)
    writer.setTitle(_title(one))
    writer.setCreator("Borrador")
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    writer.setPageMargins(QMarginsF(18, 18, 18, 18), QPageLayout.Unit.Millimeter)
    width, foot = writer.width(), round(FOOT_INCHES * writer.resolution())
    height = writer.height() - foot
    document = _Sealed()
    document.setDefaultStyleSheet(PRINTED)
    page = web_page(one, folds=False)
    document.setHtml(page[page.index("<body>") :])
    _break_long(document)
    layout = document.documentLayout()
    layout.setPaintDevice(writer)
    document.setPageSize(QSizeF(width, height))
    painter = QPainter(writer)
    try:
        for number in range(document.pageCount()):
            if number:
                writer.newPage()
            context = QAbstractTextDocumentLayout.PaintContext()
            context.clip = QRectF(0, number * height, width, height)
            painter.save()
            painter.translate(0, -number * height)
            painter.setClipRect(context.clip)
            layout.draw(painter, context)
            painter.restore()
            painter.setPen(QColor(MUTED))
            where = QRectF(0, height, width, foot)
            painter.drawText(where, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom), str(number + 1))
            yield number
    finally:
        painter.end()
    path.write_bytes(device.data().data())  # the writer itself says nothing of a disk that is full


def _break_long(document: QTextDocument) -> None:
    """Paragraphs that go on for pages become several: of one, each page costs the time of all its lines."""
    blocks = [document.findBlockByNumber(number) for number in range(document.blockCount())]
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    for block in reversed([block for block in blocks if block.length() > LONGEST_BLOCK]):
        start, first, after = block.position(), block.blockFormat(), block.blockFormat()
        first.setBottomMargin(0)
        after.setTopMargin(0)
        for place in reversed(_breaks(in_halves(block.text()))):
            cursor.setPosition(start + place)
            cursor.insertBlock(after)
            after.setBottomMargin(0)  # of all but the last
        cursor.setPosition(start)
        cursor.setBlockFormat(first)
    cursor.endEditBlock()


def _breaks(wide: str) -> list[int]:
    """Where a long text is broken: behind spaces if there are any, and never within a character."""
    places = [0]
    while len(wide) - places[-1] > LONGEST_BLOCK:
        end = places[-1] + LONGEST_BLOCK
        end = wide.rfind(" ", end - LONGEST_BLOCK // 2, end) + 1 or end
        places.append(end - 1 if "\udc00" <= wide[end] <= "\udfff" else end)
    return places[1:]


class _Sealed(QTextDocument):
    """Loads nothing."""

    def loadResource(self, type: int, name: QUrl | str) -> object:
        return QByteArray()


def _messages(one: Whole) -> Iterator[_Message]:
    """Every message that was on the page."""
    for turn in shown_path(one).turns:
        reply = turn.reply
        if turn.question:
            yield _Message(_you(), turn.question, is_user=True)
        if reply.text:
            thinking = reply.thinking if reply.thinking.strip() else ""
            yield _Message(_name(reply), reply.answer, False, _figures(reply), thinking, thinking_time(reply))


def _name(reply: Reply) -> str:
    return (reply.finished.statistics.model if reply.finished else reply.model) or translate("exchange", "Reply")


def _figures(reply: Reply) -> str:
    if reply.failure is not None:
        return sentence(reply.failure)
    if reply.finished is None:
        return ""
    seed = translate("exchange", "seed {seed}").format(seed=reply.finished.statistics.seed)
    return f"{quiet_line(reply.finished)} · {seed}"


def _title(one: Whole) -> str:
    return one.chat.title or translate("exchange", "Chat")


def _you() -> str:
    return translate("exchange", "You")


def _day(created: float) -> str:
    day = datetime.fromtimestamp(created)
    return QLocale().toString(QDate(day.year, day.month, day.day), QLocale.FormatType.LongFormat)
