"""The words under a turn that can be pressed: written as links, read back when one is followed. Knows no scrolling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from desktop.sentences import filled
from desktop.transcript.writing import begin_block, write_lines

if TYPE_CHECKING:
    from PySide6.QtCore import QUrl
    from PySide6.QtGui import QTextCursor

    from desktop.conversation import Turn
    from desktop.reply import Reply
    from desktop.transcript.formats import Formats

SCHEME = "borrador"
SHORTEST = 0.05
"""Less time than this is not worth saying, in seconds."""
GAP = "    "
translate = QCoreApplication.translate


def write_actions(
    cursor: QTextCursor, formats: Formats, reply: Reply, turn: Turn | None, number: int, *, is_last: bool
) -> tuple[int, int]:
    """The line of actions under a reply; where that begins and ends which only the last reply has."""
    begin_block(cursor, formats.own_words(bottom=6), formats.small())
    if reply.text:
        _write(cursor, formats, translate("actions", "Copy"), f"copy/{number}", "")
    if turn is not None and turn.question:
        hint = translate("actions", "Ask otherwise; this version stays")
        _write(cursor, formats, translate("actions", "Edit"), f"edit/{number}", hint)
    if turn is None or turn.question:
        hint = translate("actions", "Another reply; this one stays (Ctrl+R)")
        _write(cursor, formats, translate("actions", "Again"), f"again/{number}", hint)
    start = cursor.position()
    if reply.can_go_on and is_last:
        hint = translate("actions", "Let the reply go on where it ended")
        _write(cursor, formats, translate("actions", "Continue"), f"continue/{number}", hint)
    end = cursor.position()
    if turn is not None:
        hint = translate("actions", "A new chat with everything up to here")
        _write(cursor, formats, translate("actions", "Branch"), f"branch/{number}", hint)
        if turn.question:
            hint = translate("actions", "With speculation off and on, side by side (Ctrl+Shift+R)")
            _write(cursor, formats, translate("actions", "Run both"), f"both/{number}", hint)
        _write_versions(cursor, formats, turn.reply_place, number, "reply")
    return start, end


def write_label(cursor: QTextCursor, formats: Formats, turn: Turn | None, *, is_first: bool) -> None:
    """Who asks, and which version of the question this is."""
    label = formats.own_words(top=0 if is_first else 18, bottom=4)
    write_lines(cursor, [translate("actions", "You")], [label], formats.small())
    if turn is None:
        return
    cursor.insertText(GAP, formats.small())
    hint = translate("actions", "A new chat with everything before this; the question can be changed there")
    _write(cursor, formats, translate("actions", "Branch"), f"fork/{turn.reply.turn}", hint)
    _write_versions(cursor, formats, turn.question_place, turn.reply.turn, "question")


def write_figures(cursor: QTextCursor, formats: Formats, line: str, number: int) -> None:
    """The quiet line of figures under a reply; pressed, it leads to all of them."""
    begin_block(cursor, formats.own_words(top=4, bottom=2), formats.small())
    look = formats.small()
    look.setAnchor(True)
    look.setAnchorHref(f"{SCHEME}:figures/{number}")
    look.setToolTip(translate("actions", "All figures and settings of this reply"))
    cursor.insertText(line, look)


def write_earlier(cursor: QTextCursor, formats: Formats, count: int) -> None:
    """What leads to the turns that are not shown."""
    words = translate("actions", "Show {count} earlier turns").format(count=count)
    begin_block(cursor, formats.own_words(bottom=6), formats.small())
    cursor.insertText(words, formats.action(f"{SCHEME}:earlier/0"))


def write_rest(cursor: QTextCursor, formats: Formats, number: int, count: int) -> None:
    """What leads to the rest of a long reply."""
    words = translate("actions", "Show {count} more characters").format(count=count)
    begin_block(cursor, formats.own_words(bottom=6), formats.small())
    cursor.insertText(words, formats.action(f"{SCHEME}:whole/{number}"))


def thinking_words(reply: Reply, *, is_unfolded: bool) -> str:
    """What stands for the thinking of a reply: how long it took, and a sign of whether it is folded."""
    return f"{'▾' if is_unfolded else '▸'} {thinking_time(reply)}"


def thinking_time(reply: Reply) -> str:
    """How long a reply took to think, or that it still does."""
    seconds = reply.thinking_seconds
    if reply.thought.is_open and not reply.is_over:
        words = translate("actions", "Thinking")
        words += "" if seconds is None else f" · {filled('{seconds:.0f} s', seconds=seconds)}"
    elif seconds is None or seconds < SHORTEST:
        words = translate("actions", "Thought")
    elif seconds < 10:
        words = filled(translate("actions", "Thought for {seconds:.1f} s"), seconds=seconds)
    else:
        words = filled(translate("actions", "Thought for {seconds:.0f} s"), seconds=seconds)
    return words


def read(url: QUrl) -> tuple[str, int, int]:
    """(what is wanted, number of the reply, steps to another version) of a link that was followed."""
    name, _, rest = url.path().partition("/")
    number, _, step = rest.partition("/")
    return name, _whole(number), _whole(step)


def _write_versions(cursor: QTextCursor, formats: Formats, place: tuple[int, int], number: int, what: str) -> None:
    index, count = place
    if count < 2:
        return
    for sign, step, is_possible, hint in (
        ("‹", -1, index > 0, translate("actions", "Older version (Alt+Left)")),
        ("›", 1, index < count - 1, translate("actions", "Newer version (Alt+Right)")),
    ):
        look = formats.small()
        if is_possible:
            look = formats.action(f"{SCHEME}:{what}/{number}/{step}")
            look.setToolTip(hint)
        cursor.insertText(f"\u00a0{sign}\u00a0", look)
        if step < 0:
            cursor.insertText(f"{index + 1}/{count}", formats.small())


def _write(cursor: QTextCursor, formats: Formats, words: str, path: str, hint: str) -> None:
    look = formats.action(f"{SCHEME}:{path}")
    look.setToolTip(hint)
    cursor.insertText(words, look)
    cursor.insertText(GAP, formats.small())


def _whole(text: str) -> int:
    return int(text) if text.removeprefix("-").isdecimal() else 0
