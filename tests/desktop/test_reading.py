"""Reading a chat: formulas, code, thinking, finding, copying, long chats laid out bit by bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtTest import QTest

from desktop.conversation import Conversation
from desktop.palette import LIGHT
from desktop.reply import Reply
from desktop.transcript.drawing import draw
from desktop.transcript.selection import text_between
from desktop.transcript.turns import AT_ONCE, SHOWN_CHARACTERS
from desktop.transcript.view import Transcript
from inference.events import Piece, Started
from tests.desktop.test_transcript import begun, formats_of, write
from tests.fake_session import tokens_of

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

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


@pytest.fixture
def view(qtbot: QtBot) -> Transcript:
    one = Transcript(LIGHT, 1.0)
    qtbot.addWidget(one)
    one.resize(700, 300)
    one.show()
    return one


def copied(view: Transcript) -> str:
    view.selectAll()
    return view.createMimeDataFromSelection().text()


def press(view: Transcript, path: str) -> None:
    view.anchorClicked.emit(QUrl(f"borrador:{path}"))


def opened(thinking: bool, seconds: float | None = 12.3) -> Reply:
    reply = Reply(1)
    reply.take(Started(1, 10, 0, 7, opens_thinking=thinking))
    reply.thinking_seconds = seconds
    return reply


def chat(turns: int, words: int = 60) -> Conversation:
    conversation = Conversation()
    for number in range(turns):
        turn = conversation.ask(f"question {number}")
        turn.reply.add([Piece(f"reply {number} " + "word " * words, "plain", 0)])
        turn.reply.is_interrupted = True
    return conversation


def numbers(view: Transcript) -> list[int]:
    return [passage.reply.turn for passage in view._sheet.passages]


# Formulas


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
    qtbot.waitUntil(lambda: len(view._formulas._known) == 2 and not view._column.resizing.isActive(), timeout=20_000)
    assert width(0) < source
    assert width(1) == failing > width(0)
    assert copied(view) == "a $x^2$ b $\\foo{x}$ c"


# Copying


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


# Thinking


def test_c07_thinking_is_folded_with_its_time_and_unfolds(view: Transcript) -> None:
    view.show_question("q")
    reply = opened(True)
    view.begin_reply(reply)
    for at, token in enumerate(tokens_of("I **think** so.\n\nYes.\n</think>\n\nThe *answer*.")):
        write(reply, token, at)
        view.extend()
        assert "think" not in view.toPlainText().partition("q\n")[2]
        assert "</" not in view.toPlainText()
    view.finish()
    assert "▸ Thought for 12 s\nThe answer." in view.toPlainText()
    view.show_question("next")
    press(view, "thought/1")
    assert "▾ Thought for 12 s\nI think so.\nYes.\nThe answer." in view.toPlainText()
    assert copied(view) == "q\nI think so.\nYes.\nThe answer.\nnext"
    view.colour(True)
    view._marks.colours.rehighlight()
    texts = [text.strip() for text, _ in formats_of(view)]
    assert "I" in texts
    assert "answer." in texts
    press(view, "thought/1")
    assert "▸ Thought for 12 s\nThe answer." in view.toPlainText()
    assert [view.document().findBlock(p.start).text() for p in view._sheet.passages] == ["▸ Thought for 12 s"]


def test_thinking_that_is_unfolded_grows_while_it_streams(view: Transcript) -> None:
    reply = Reply(1)
    view.begin_reply(reply)
    write(reply, "<think>one *two*")
    view.extend()
    assert "▸ Thinking" in view.toPlainText()
    press(view, "thought/1")
    assert "▾ Thinking\none two" in view.toPlainText()
    write(reply, " three</think>four")
    view.extend()
    reply.is_interrupted = True
    view.finish()
    assert "▾ Thought\none two three\nfour" in view.toPlainText()


def test_c09_tags_in_the_answer_and_in_code_are_text(view: Transcript) -> None:
    text = "<think>it ends with `</think>`, so</think>Put `<think>x</think>` around <think>notes</think>."
    begun(view, text)
    view.finish()
    assert "Put <think>x</think> around <think>notes</think>." in view.toPlainText()
    press(view, "thought/1")
    assert "it ends with </think>, so" in view.toPlainText()


def test_b13_a_reply_that_ended_while_thinking_says_so_and_can_go_on(view: Transcript) -> None:
    reply = opened(True)
    view.begin_reply(reply)
    write(reply, "thinking and thinking")
    reply.is_interrupted = True
    view.finish()
    assert "The reply ended while the model was still thinking" in view.toPlainText()
    assert "Continue" in view.toPlainText()
    assert reply.answer == ""


@pytest.mark.parametrize(
    ("opens", "text", "answer"),
    [
        (True, "so\n</think>\n\nYes", "Yes"),
        (False, "<think>so</think>Yes", "Yes"),
        (False, "No tags </think> at all", "No tags </think> at all"),
        (None, "so</think>Yes 😀", "Yes 😀"),
        (None, "put `</think>` there", "put `</think>` there"),
        (False, "<think></think>Yes", "Yes"),
        (True, "", ""),
    ],
)
def test_c07_the_answer_is_the_text_without_the_thinking(opens: bool | None, text: str, answer: str) -> None:
    reply = Reply(1, opens_thinking=opens)
    write(reply, text)
    reply.is_interrupted = True
    assert reply.answer == answer


def test_c06_white_space_alone_is_kept() -> None:
    reply = Reply(1)
    for piece in (" ", "\n", "    ", "\n\n", "```python", "\n", "x"):
        reply.add([Piece(piece, "plain", 0)])
    assert reply.text == " \n    \n\n```python\nx"


# Finding


def test_words_are_found_counted_and_stepped_through(view: Transcript, qtbot: QtBot) -> None:
    view.show_turns(chat(12).turns)
    qtbot.waitUntil(lambda: not view._turns.filling.is_going_on)
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    bar = view.find_bar
    qtbot.waitUntil(bar.isVisible)
    QTest.keyClicks(bar.field, "REPLY 1")
    bar.search()
    assert bar.count.text().endswith("of 3")  # 1, 10 and 11
    seen = set()
    for _ in range(3):
        QTest.keyClick(bar.field, Qt.Key.Key_Return)
        seen.add(bar.count.text())
        mark = next(
            one for one in view.extraSelections() if one.format.background().color().name() == LIGHT.accent.lower()
        )
        assert mark.cursor.selectedText().lower() == "reply 1"
        assert view.viewport().rect().intersects(view.cursorRect(mark.cursor))
    assert seen == {"1 of 3", "2 of 3", "3 of 3"}
    QTest.keyClick(bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    bar.field.setText("nowhere at all")
    bar.search()
    assert bar.count.text() == "not found"
    QTest.keyClick(bar.field, Qt.Key.Key_Escape)
    assert not bar.isVisible()
    assert not view.extraSelections()


def test_emoji_before_a_word_do_not_move_what_is_found(view: Transcript) -> None:
    begun(view, "😀😀 İstanbul $x$ word **wor**d")
    view.finish()
    view.find_bar.open_bar()
    view.find_bar.field.setText("word")
    view.find_bar.search()
    assert [mark.cursor.selectedText() for mark in view.extraSelections()] == ["word", "word"]


# Long chats


def test_h10_a_long_chat_is_laid_out_bit_by_bit_and_the_reader_stays(view: Transcript, qtbot: QtBot) -> None:
    conversation = chat(90)
    view.show_turns(conversation.turns)
    assert len(view._sheet.passages) <= SHOWN_CHARACTERS // 300
    bar = view.verticalScrollBar()
    bar.setValue(bar.maximum() - 150)
    cursor = view.cursorForPosition(view.viewport().rect().center())
    text, top = cursor.block().text(), view.cursorRect(cursor).top()
    qtbot.waitUntil(lambda: not view._turns.filling.is_going_on, timeout=30_000)
    assert numbers(view) == [turn.reply.turn for turn in conversation.turns]
    assert cursor.block().text() == text
    assert abs(view.cursorRect(cursor).top() - top) <= 1
    assert "earlier" not in view.toPlainText()[:200]
    for passage in view._sheet.passages:
        start = next(passage.ranges(0, 5))[0]
        assert view.document().findBlock(start).text().startswith("reply ")
    bar.setValue(0)
    assert "question 0" in view.cursorForPosition(view.viewport().rect().topLeft()).block().next().text()


def test_h10_at_the_top_more_comes_at_once(view: Transcript) -> None:
    view.show_turns(chat(150).turns)
    view._turns.filling.stop()
    before = view._sheet.earlier
    view.verticalScrollBar().setValue(0)
    assert view._sheet.earlier < before - AT_ONCE // 400


def test_h10_a_question_in_a_chat_that_opened_at_its_beginning_stands_at_the_end(view: Transcript) -> None:
    conversation = chat(100)
    view.show_turns(conversation.turns, conversation.turns[3])
    assert "reply 99 " not in view.toPlainText()
    turn = conversation.ask("the newest")
    view.show_question("the newest", turn)
    view.begin_reply(turn.reply, turn)
    write(turn.reply, "and its answer")
    view.extend()
    assert numbers(view) == [turn.reply.turn for turn in conversation.turns[3:]]
    assert "reply 99 " in view.toPlainText().partition("the newest")[0]


def test_h08_the_reader_stays_while_a_fold_above_opens(view: Transcript) -> None:
    reply = opened(True)
    view.begin_reply(reply)
    write(reply, "thought\n\n" * 40 + "</think>" + "answer\n\n" * 40)
    reply.is_interrupted = True
    view.finish()
    bar = view.verticalScrollBar()
    bar.setValue(200)
    title = QTextCursor(view.document().begin())
    before = view.cursorRect(title).top()
    press(view, "thought/1")
    assert view.cursorRect(title).top() == before
    assert bar.maximum() > 2 * 200


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


def test_b13_a_turn_that_never_got_beyond_thinking_is_not_sent_back_as_an_empty_answer() -> None:
    conversation = Conversation()
    for text in ("<think>endless", "<think>short</think>Yes"):
        reply = conversation.ask("Is it?").reply
        write(reply, text)
        reply.is_interrupted = True
    conversation.ask("And now?")
    assert [message.content for message in conversation.request().messages] == [
        "Is it?",
        "<think>short</think>Yes",
        "And now?",
    ]


def test_h05_much_code_that_comes_at_once_is_shown_in_steps(view: Transcript, qtbot: QtBot) -> None:
    reply = begun(view, "```python\n")
    lines = "".join(f"value_{n} = {n}\n" for n in range(1500))
    reply.add([Piece(lines, "plain", 9)])
    view.extend()
    assert "value_1499" not in view.toPlainText()
    qtbot.waitUntil(lambda: "value_1499" in view.toPlainText())
    view.finish()
    assert copied(view) == lines.rstrip("\n")
