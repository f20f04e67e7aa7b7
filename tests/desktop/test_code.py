"""Code on the page: written line behind line while it streams, coloured by a process beside the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QGuiApplication, QTextCursor

from desktop.palette import LIGHT
from desktop.reply import Reply
from desktop.transcript.lexing import LONGEST_LINE, ROLES, words
from desktop.transcript.uncoloured import Uncoloured
from inference.events import Piece
from tests.desktop.test_transcript import begun, formats_of, write

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.transcript.view import Transcript

CODE = (
    'def first(values):\n    """Words in a string,\n\n    more of them 😀."""\n    return sum(values) * 1.5  # end\n\n'
    "\nclass Second:\n    name = None\n"
)
COLOURS = [
    ("def", "keyword"), ("first", "name"), ('"""Words in a string,', "string"), ('more of them 😀."""', "string"),
    ("return", "keyword"), ("sum", "name"), ("1.5", "number"), ("# end", "comment"), ("class", "keyword"),
    ("Second", "name"), ("None", "number"),
]  # fmt: skip


def coloured(view: Transcript) -> list[tuple[str, str]]:
    """The words of the page that are coloured as words of code are, line by line."""
    roles = {LIGHT.muted.lower(): "comment"}
    roles |= {str(getattr(LIGHT, role)).lower(): role for role in ("keyword", "name", "string", "number")}
    found = []
    block = view.document().begin()
    while block.isValid():
        iterator = block.begin()
        while not iterator.atEnd():
            fragment = iterator.fragment()
            look = fragment.charFormat()
            role = roles.get(look.foreground().color().name())
            if role and look.fontFamilies() == view._formats.fixed:
                found.append((fragment.text().strip(), role))
            iterator += 1
        block = block.next()
    return found


def have_colours(view: Transcript, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not view._colouring.is_going_on, timeout=60_000)


def copied(view: Transcript) -> str:
    view.selectAll()
    return view.createMimeDataFromSelection().text()


@pytest.mark.parametrize("step", [3, 17, 10_000])
def test_code_has_its_colours_in_the_end_however_it_came(view: Transcript, qtbot: QtBot, step: int) -> None:
    reply = begun(view)
    for at in range(0, len(text := f"Before\n\n```python\n{CODE}```\n\nafter"), step):
        write(reply, text[at : at + step], at)
        view.extend()
        if at % 4 == 0:
            have_colours(view, qtbot)
    view.finish()
    have_colours(view, qtbot)
    assert coloured(view) == COLOURS
    assert copied(view) == f"Before\n{CODE}after"


@pytest.mark.parametrize(
    "text",
    [
        "1. Do this:\n\n   ```python\n   def f():\n\n       return 1\n   ```\n\n2. done",
        "> ```python\n> def f():\n>\n>     return 1\n> ```\n",
        "```python\ndef f():\n\n    return 1",
        "~~~python\ndef f():\n\n    return 1\n~~~\n",
    ],
)
def test_code_in_lists_and_quotes_and_code_without_an_end_are_coloured(
    view: Transcript, qtbot: QtBot, text: str
) -> None:
    reply = begun(view)
    for at, letter in enumerate(text):
        write(reply, letter, at)
        view.extend()
    view.finish()
    have_colours(view, qtbot)
    assert coloured(view) == [("def", "keyword"), ("f", "name"), ("return", "keyword"), ("1", "number")]
    assert "def f():\n\n    return 1" in copied(view)


def test_h05_a_step_of_streaming_code_touches_nothing_but_the_end(view: Transcript, qtbot: QtBot) -> None:
    reply = begun(view, "```python\nvalue_0 = 0\n")
    view.extend()
    text = "".join(f"value_{n} = {n}  # number {n}\n\n" for n in range(1, 300))
    touched: list[tuple[int, int]] = []
    view.document().contentsChange.connect(lambda at, removed, _added: touched.append((at, removed)))
    for at in range(0, len(text), 90):
        last = view.document().lastBlock().position()
        reply.add([Piece(text[at : at + 90], "plain", at)])
        touched.clear()
        view.extend()
        assert touched
        assert all(place >= last - 1 for place, _ in touched)
        assert sum(removed for _, removed in touched) <= view.document().characterCount() - last
    assert view.document().blockCount() > 590
    view.finish()
    assert copied(view) == f"value_0 = 0\n{text}".removesuffix("\n")


def test_h05_colouring_adds_and_takes_no_text_and_waits_for_one_answer_at_a_time(
    view: Transcript, qtbot: QtBot
) -> None:
    reply = begun(view, "```python\n")
    for at in range(0, len(CODE), 5):
        reply.add([Piece(CODE[at : at + 5], "plain", at)])
        view.extend()
        assert len(view._colouring._awaited) <= 1
    shown = view.document().toPlainText()
    have_colours(view, qtbot)
    assert view.document().toPlainText() == shown
    assert ("return", "keyword") in coloured(view)


def test_h06_a_fence_that_may_end_the_code_is_not_shown_as_code(view: Transcript) -> None:
    for text, mark, shown in (("```\na = `b`\n```\nafter", "``", "a = `b`\nafter"), ("~~~\n```\n~~", "~", "```\n~~")):
        reply = begun(view)
        for at, letter in enumerate(text):
            write(reply, letter, at)
            view.extend()
            assert not view.toPlainText().endswith(mark)
        view.finish()
        assert copied(view) == shown
        view.show_turns([])


def test_what_is_selected_in_code_stays_selected_while_it_grows_and_is_coloured(view: Transcript, qtbot: QtBot) -> None:
    reply = begun(view, "```python\ndef first(values):\n    return va")
    start = view.document().toPlainText().index("values")
    cursor = QTextCursor(view.document())
    cursor.setPosition(start)
    cursor.setPosition(start + len("values):\n    ret"), QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    for at, text in enumerate(["lues\n", "\n", "x = 1\n", "``", "`\n\nafter"]):
        write(reply, text, at)
        view.extend()
        have_colours(view, qtbot)
        assert view.createMimeDataFromSelection().text() == "values):\n    ret"
    view.finish()
    assert view.createMimeDataFromSelection().text() == "values):\n    ret"


def test_words_are_found_and_origins_shown_in_code_that_has_colours(view: Transcript, qtbot: QtBot) -> None:
    reply = begun(view)
    for at, line in enumerate(CODE.splitlines(keepends=True)):
        reply.add([Piece(("```python\n" if not at else "") + line, ("accepted", "correction")[at % 2], at)])
        view.extend()
    view.finish()
    have_colours(view, qtbot)
    view.find_bar.open_bar()
    view.find_bar.field.setText("values) * 1")
    view.find_bar.search()
    assert [mark.cursor.selectedText() for mark in view.extraSelections()] == ["values) * 1"]
    view.find_bar.close_bar()
    view.colour(True)
    view._marks.colours.rehighlight()
    shown = {text.strip(): look.foreground().color().name() for text, look in formats_of(view) if text.strip()}
    assert shown["def first(values):"] == LIGHT.accepted.lower()
    assert shown["class Second:"] == LIGHT.correction_on_user.lower()


def test_code_that_is_taken_off_the_page_while_its_colours_are_awaited_leaves_the_rest_alone(
    view: Transcript, qtbot: QtBot
) -> None:
    for _ in range(2):
        begun(view, f"```python\n{CODE}```\n")
        view.finish()
        view.show_turns([])
    begun(view, "Words that are not code at all, and many more of them so that there is room.")
    view.finish()
    have_colours(view, qtbot)
    assert coloured(view) == []
    assert copied(view).startswith("Words that")


def test_a_fold_over_code_can_close_and_open_while_its_colours_are_awaited(view: Transcript, qtbot: QtBot) -> None:
    reply = Reply(1)
    view.begin_reply(reply)
    write(reply, f"<think>\n```python\n{CODE}```\n</think>\n\n```python\nx = 2\n```")
    reply.is_interrupted = True
    view.finish()
    for _ in range(3):
        view._pressing._fold(1)
    have_colours(view, qtbot)
    # What a model thinks is written in the colour that comments have.
    seen = [(text, role) for text, role in coloured(view) if role != "comment"]
    assert seen == [*(one for one in COLOURS if one[1] != "comment"), ("2", "number")]


def test_an_unknown_language_and_a_huge_line_stay_plain_and_whole(view: Transcript, qtbot: QtBot) -> None:
    line = "x = 1 " * (LONGEST_LINE // 2)
    for head in ("nonsense", "python"):
        begun(view, f"```{head}\n{line}\n```\n")
        view.finish()
        have_colours(view, qtbot)
        assert copied(view) == line
        view.show_turns([])
    assert coloured(view) == []


def test_an_end_that_comes_at_once_is_laid_out_in_steps_with_its_figures_last(view: Transcript, qtbot: QtBot) -> None:
    reply = begun(view, "Words.\n\n")
    lines = "".join(f"Paragraph {n} of many that come at once.\n\n" for n in range(900))
    reply.add([Piece(lines, "plain", 9)])
    reply.is_interrupted = True
    view.finish()
    assert "Paragraph 899" not in view.toPlainText()
    assert "interrupted" not in view.toPlainText()
    qtbot.waitUntil(lambda: "interrupted" in view.toPlainText())
    assert copied(view) == "Words.\n" + lines.strip().replace("\n\n", "\n")


def test_a_question_behind_an_end_that_is_not_laid_out_yet_stands_behind_it(view: Transcript) -> None:
    reply = begun(view, "Words.\n\n")
    reply.add([Piece("Words that come at once. " * 900, "plain", 9)])
    reply.is_interrupted = True
    view.finish()
    view.show_question("next")
    assert view.toPlainText().rstrip().endswith("next")
    assert view.toPlainText().index("interrupted") < view.toPlainText().index("next")


# What the process beside the window answers


def said(language: str, code: str, begun: str = "") -> list[tuple[str, str]]:
    found, _, _ = words(language, (), code, begun)
    whole = code + begun
    return [
        (whole[at : at + length], ROLES[role])
        for at, length, role in zip(found[::3], found[1::3], found[2::3], strict=True)
    ]


def test_states_lead_over_from_one_part_of_the_code_to_the_next() -> None:
    text = 'a = """one\ntwo\nthree"""\nreturn\n'
    parts, states = [], ()
    for line in text.splitlines(keepends=True):
        found, states, is_known = words("python", states, line)
        assert is_known
        parts += [
            (line[at : at + length].strip(), ROLES[role])
            for at, length, role in zip(found[::3], found[1::3], found[2::3], strict=True)
        ]
    assert parts == [('"""one', "string"), ("two", "string"), ('three"""', "string"), ("return", "keyword")]


def test_a_line_begun_is_told_apart_behind_the_lines_before_it() -> None:
    assert said("python", 'a = """one\n', 'two"""; ret')[-2:] == [('"""one\n', "string"), ('two"""', "string")]
    assert words("python", ("root",), "", "return")[1] == ("root",)
    assert words("nonsense", (), "x\n") == ([], (), False)


@pytest.mark.parametrize("language", ["python", "c++", "html", "rust", "json", "sh", "diff", "php"])
def test_no_word_reaches_beyond_the_code(language: str) -> None:
    code = "for (a <b> in 'x') {\n\tif \"$y\" && 1.5e3 // <?php %\n}\n  é end\n"
    found, _, is_known = words(language, (), code, "begun 'x")
    assert is_known
    ends = [at + length for at, length in zip(found[::3], found[1::3], strict=True)]
    assert all(end <= start for end, start in zip(ends, found[3::3], strict=False))
    assert not ends or ends[-1] <= len(code) + len("begun 'x")


def test_what_waits_for_colours_is_asked_for_once_and_forgotten_with_its_text() -> None:
    code = Uncoloured(10, "python", None)  # type: ignore[arg-type]
    code.add(10, "a = 1\nb")
    assert code.ask() == ("a = 1\n", "b")
    code.add(17, " = 2\nc")
    assert code.ask() is None
    code.take(("root",))
    assert code.ask() == ("b = 2\n", "c")
    code.forget(18)
    code.add(18, " = 3")
    assert code.ask() == ("", "b  = 3")
    code.take(("root",))
    assert code.ask() is None
    code.add(30, "behind a gap\n")
    assert code.ask() == ("b  = 3\n", "")
    code.forget(10)
    assert code.is_gone


def test_the_copy_button_of_code_that_still_grows_takes_what_is_there(view: Transcript) -> None:
    reply = begun(view, "```python\nfirst = 1\n")
    write(reply, "\nsecond = 2")
    view.extend()
    view._pressing._copy_code(1, 0)
    assert QGuiApplication.clipboard().text() == "first = 1\n\nsecond = 2"


def test_a_formula_gets_its_room_though_it_moved_while_it_was_drawn(view: Transcript, qtbot: QtBot) -> None:
    reply = Reply(1)
    view.begin_reply(reply)
    write(reply, "<think>so\n\nmuch\n\nthought</think>$\\frac{a}{b} + \\sqrt{c}$ and more")
    reply.is_interrupted = True
    view.finish()

    def width() -> int:
        cursor = QTextCursor(view.document())
        cursor.setPosition(view.document().toRawText().index("\ufffc"))
        left = view.cursorRect(cursor).x()
        cursor.movePosition(QTextCursor.MoveOperation.NextCharacter)
        return view.cursorRect(cursor).x() - left

    source = width()
    view._pressing._fold(1)
    qtbot.waitUntil(lambda: bool(view._formulas._known) and not view._column.resizing.isActive(), timeout=20_000)
    assert width() < source / 2
