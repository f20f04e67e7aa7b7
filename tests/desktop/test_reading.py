"""Reading a chat: formulas, code, copying, direction, much text at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextCursor

from desktop.reply import Reply
from desktop.transcript.drawing import draw
from desktop.transcript.selection import text_between
from inference.events import Piece
from tests.desktop.transcripts import begun, copied, press, write

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.transcript.view import Transcript

USUAL = (
    r"x^2 + y_1^{2n}",
    r"\frac{a+b}{c}",
    r"\sqrt{x}, \sqrt[3]{y}",
    r"\sum_{i=1}^{n} i = \frac{n(n+1)}{2}",
    r"\prod_{k} a_k",
    r"\int_0^\infty e^{-x^2}\,dx",
    r"\lim_{x \to 0} \frac{\sin x}{x}",
    r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
    r"\begin{cases} x & x \ge 0 \\ -x & x < 0 \end{cases}",
    r"\begin{aligned} a &= b \\ &= c \end{aligned}",
    r"\alpha \beta \Gamma \Omega",
    r"\vec{v} \cdot \hat{n} = \overline{z}",
    r"\left( \frac{1}{2} \right)^2",
    r"\mathbb{R} \subset \mathcal{C}, \mathbf{x}",
    r"\forall x \in A \; \exists y \notin B",
    r"\partial_t u = \nabla^2 u",
    r"a \le b \ne c \approx d \pm e",
    r"\text{if } n \text{ is even}",
    r"\binom{n}{k} = \frac{n!}{k!(n-k)!}",
    r"\underbrace{1 + \dots + 1}_{n}",
)
MIXED = (
    "# Title\n\nSome **bold** $x^2$ text and `code`, at https://example.org/a.\n\n"
    "$$\n\\frac{a}{b}\n$$\n\n| a | b |\n| --- | --- |\n| 1 | $y$ |\n| 2 | *z* |\n\n"
    "```python\ndef f(x):\n    return x  # $1\n\nf(2)\n```\n\n- [x] done\n- open\n  - nested\n\n"
    "> quoted\n\n1. one\n2. two\n"
)
SHOWN = (
    "Title\nSome bold $x^2$ text and code, at https://example.org/a.\n$$\n\\frac{a}{b}\n$$\na\tb\n1\t$y$\n2\tz\n"
    "def f(x):\n    return x  # $1\n\nf(2)\n☑ done\n• open\n• nested\nquoted\n1. one\n2. two"
)


@pytest.mark.parametrize("tex", USUAL)
def test_usual_formulas_are_drawn(tex: str) -> None:
    for is_display in (False, True):
        drawing = draw(tex, is_display=is_display)
        assert drawing is not None
        assert drawing.width > 0.3
        assert drawing.ascent + drawing.descent > 0.3
        assert "<image" not in drawing.svg
        assert "<use" not in drawing.svg


@pytest.mark.parametrize("tex", [r"\foo{x}", "x" * 3000, "{", ""])
def test_a_formula_that_cannot_be_drawn_is_none(tex: str) -> None:
    assert draw(tex, is_display=False) is None


def test_a_drawn_formula_takes_the_room_it_needs_and_one_that_fails_shows_its_source(
    view: Transcript, qtbot: QtBot
) -> None:
    begun(view, "a $x^2$ b $\\foo{x}$ c")
    view.finish()
    small = view.document().toRawText()
    assert small.count("\ufffc") == 2

    def width(index: int) -> float:
        at = view.document().toRawText().split("\ufffc")
        cursor = QTextCursor(view.document())
        cursor.setPosition(len("\ufffc".join(at[: index + 1])))
        left = view.cursorRect(cursor).x()
        cursor.movePosition(QTextCursor.MoveOperation.NextCharacter)
        return view.cursorRect(cursor).x() - left

    source, failing = width(0), width(1)
    qtbot.waitUntil(lambda: len(view._formulas._known) == 2 and not view._column.resizing.isActive(), timeout=60_000)
    assert width(0) < source
    assert width(1) == failing > width(0)
    assert copied(view) == "a $x^2$ b $\\foo{x}$ c"


@pytest.mark.parametrize("step", [2, 10_000])
def test_copied_text_is_clean_and_the_same_however_it_came(view: Transcript, step: int) -> None:
    view.show_question("A\u00a0question")
    reply = begun(view)
    for at in range(0, len(MIXED), step):
        write(reply, MIXED[at : at + step], at)
        view.extend()
    view.finish()
    assert copied(view) == "A\u00a0question\n" + SHOWN


def test_code_is_copied_whole_by_its_button(view: Transcript) -> None:
    reply = begun(view, MIXED)
    view.finish()
    press(view, f"code/1/{reply.wide.index('```python')}")
    assert QGuiApplication.clipboard().text() == "def f(x):\n    return x  # $1\n\nf(2)"


def test_h06_no_mark_shows_before_it_is_known_what_it_means(view: Transcript) -> None:
    reply = begun(view)
    for at, letter in enumerate(
        "Some **bold** and `code` here\n\n- item\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nend"
    ):
        write(reply, letter, at)
        view.extend()
        shown = view.toPlainText()
        assert "*" not in shown
        assert "`" not in shown
        assert "|" not in shown
        assert "-" not in shown


def test_h06_an_open_fence_closes_at_the_end_and_the_next_message_is_not_affected(view: Transcript) -> None:
    code = "$2 \\[y\\] <b> __main__ # comment *x*"
    reply = begun(view)
    for at, letter in enumerate(f"```\n{code}"):
        write(reply, letter, at)
        view.extend()
    assert code in view.toPlainText()
    view.finish()
    assert reply.text == f"```\n{code}"
    view.begin_reply(other := Reply(2))
    write(other, "**bold**")
    view.finish()
    assert text_between(view.document(), 0, view.document().characterCount()) == f"{code}\nbold"


def test_h13_direction_follows_the_first_letter_and_code_stays_left_to_right(view: Transcript) -> None:
    begun(view, "שלום world 12\n\nEnglish שלום\n\n- مرحبا\n\n```\nשלום = 1\n```\n")
    view.finish()
    block = view.document().begin()
    directions = {}
    while block.isValid():
        directions[block.text().strip("\u200b")] = block.textDirection()
        block = block.next()
    assert directions["שלום world 12"] == Qt.LayoutDirection.RightToLeft
    assert directions["English שלום"] == Qt.LayoutDirection.LeftToRight
    assert directions["שלום = 1"] == Qt.LayoutDirection.LeftToRight


def test_h13_hidden_direction_marks_are_seen_in_code_and_copied_as_they_are(view: Transcript) -> None:
    begun(view, "```\nif admin\u202e:\n```")
    view.finish()
    assert "\u202e" not in view.toPlainText()
    assert "if admin\ufffc:" in view.toPlainText()
    assert copied(view) == "if admin\u202e:"


def test_h16_ten_thousand_quotes_and_brackets_are_shown_in_bounded_time(view: Transcript) -> None:
    for text in (">" * 10_000 + " x", "[" * 10_000, "*a " * 5_000):
        begun(view, text)
        view.finish()
        view.show_turns([])


def test_h05_much_code_that_comes_at_once_is_shown_in_steps(view: Transcript, qtbot: QtBot) -> None:
    reply = begun(view, "```python\n")
    lines = "".join(f"value_{n} = {n}\n" for n in range(1500))
    reply.add([Piece(lines, "plain", 9)])
    view.extend()
    assert "value_1499" not in view.toPlainText()
    qtbot.waitUntil(lambda: "value_1499" in view.toPlainText(), timeout=60_000)
    view.finish()
    assert copied(view) == lines.rstrip("\n")
