"""The sentence for each trouble with the history. Knows nothing of SQLite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from desktop.sentences import filled

if TYPE_CHECKING:
    from desktop.history.trouble import Trouble

translate = QCoreApplication.translate


def in_words(trouble: Trouble) -> str:
    """What is wrong, what happens to the chats, and what to do."""
    words = {
        "locked": translate(
            "history",
            "Another program holds the history in {folder}; what you write now is kept and stored when it lets go.",
        ),
        "full": translate(
            "history", "The disk with {folder} is full; free some space, and what you write now is stored then."
        ),
        "unwritable": translate(
            "history",
            "The history in {folder} cannot be written ({detail}); what you write now goes into a file in your home"
            " folder at the end, and comes back when it can.",
        ),
        "unreadable": translate(
            "history",
            "The history in {folder} cannot be read ({detail}) and is left as it is; what you write now goes into a"
            " file in your home folder at the end, and comes back when it can.",
        ),
        "damaged": translate(
            "history", "The history was damaged; {count} messages were saved, and the damaged file is kept as {file}."
        )
        if trouble.is_over
        else translate("history", "The history in {folder} is damaged ({detail}); restore a backup or start again."),
        "emptied": translate(
            "history",
            "The history was empty; {count} messages came back from a backup, and the file is kept as {file}.",
        ),
        "newer": translate(
            "history",
            "The history in {folder} is of a newer Borrador and stays as it is; until you update, chats are kept beside"
            " it.",
        ),
        "gone": translate("history", "There is no chat to export."),
        "unexpected": translate("history", "The history had a problem ({detail}); it is tried again every second."),
    }[trouble.kind]
    values = {"folder": "", "detail": "", "file": "", "count": 0} | trouble.values
    return filled(words, **values)
