"""What was on the page of a chat as Markdown, as a web page that loads nothing, and as PDF."""

from __future__ import annotations

import html
from datetime import datetime
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from PySide6.QtCore import QByteArray, QCoreApplication, QDate, QLocale, QMarginsF, QUrl
from PySide6.QtGui import QPageLayout, QPageSize, QPdfWriter, QTextDocument

from desktop.exchange.whole import shown_path
from desktop.sentences import sentence
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
table { border-collapse: collapse; } td, th { border: 1px solid #d9d6ce; padding: .3rem .6rem; }
"""


def markdown(one: Whole) -> str:
    """The chat as Markdown; the words of both sides as they were written."""
    parts = [f"# {_title(one)}\n", f"{_day(one.chat.created)}\n"]
    for who, text, figures in _messages(one):
        parts.append(f"## {who}\n\n{text.rstrip()}\n")
        if figures:
            parts.append(f"*{figures}*\n")
    return "\n".join(parts)


def web_page(one: Whole) -> str:
    """The chat as one HTML file: no script, no picture, nothing fetched; markup in messages shows as text."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parts = []
    for who, text, figures in _messages(one):
        is_user = who == _you()
        body = html.escape(text) if is_user else parser.render(text)
        kind = "you" if is_user else "reply"
        parts.append(f'<p class="who">{html.escape(who)}</p>\n<div class="{kind}" dir="auto">{body}</div>')
        if figures:
            parts.append(f'<p class="figures">{html.escape(figures)}</p>')
    title = html.escape(_title(one))
    return (
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f'<p class="figures">{html.escape(_day(one.chat.created))}</p>\n' + "\n".join(parts) + "\n</body>\n</html>\n"
    )


def write_pdf(one: Whole, path: Path) -> None:
    """The chat as PDF, on A4. Raises OSError where the file cannot be written."""
    with path.open("wb"):
        pass
    writer = QPdfWriter(str(path))
    writer.setTitle(_title(one))
    writer.setCreator("Borrador")
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    writer.setPageMargins(QMarginsF(18, 18, 18, 18), QPageLayout.Unit.Millimeter)
    document = _Sealed()
    page = web_page(one)
    document.setDefaultStyleSheet(".figures, .who { color: #5b6470; } .you { background-color: #efece4; }")
    document.setHtml(page[page.index("<body>") :])
    document.print_(writer)


class _Sealed(QTextDocument):
    """Loads nothing."""

    def loadResource(self, type: int, name: QUrl | str) -> object:
        return QByteArray()


def _messages(one: Whole) -> Iterator[tuple[str, str, str]]:
    """(who, text, figures) of every message that was on the page."""
    for turn in shown_path(one).turns:
        if turn.question:
            yield _you(), turn.question, ""
        if turn.reply.text:
            yield _name(turn.reply), turn.reply.text, _figures(turn.reply)


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
