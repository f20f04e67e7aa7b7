"""What the tests of the page Compare share: asking, running both, and reading what is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLabel

from desktop.speculation.compare_column import Column
from tests.desktop.steps import follow

if TYPE_CHECKING:


    from desktop.speculation.compare import Compare
    from tests.desktop.stage import Stage

QUESTION = "Write a short poem about the sea."


def page(one: Stage) -> Compare:
    return one.window.comparing.compare


def columns(one: Stage) -> list[Column]:
    return [part for part in page(one).columns.parts if isinstance(part, Column)]


def over(one: Stage) -> Compare:
    one.wait(lambda: not page(one).is_running)
    return page(one)


def both(one: Stage) -> Compare:
    """Ask, and press Run both under the reply."""
    one.ask(QUESTION)
    follow(one, f"both/{one.reply.turn}")
    return over(one)


def cells(shown: Compare) -> dict[str, list[str]]:
    table = shown.result.table
    texts = [[item.text() if (item := table.item(row, at)) else "" for at in range(table.columnCount())]
             for row in range(table.rowCount())]  # fmt: skip
    return {row[0]: row[1:] for row in texts}


def verdict(shown: Compare) -> str:
    return "\n".join(label.text() for label in shown.result.findChildren(QLabel) if label.text()[:1] in "✓≠⚠")
