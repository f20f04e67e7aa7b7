"""What is attached is quoted under its name, and found again when the message is edited."""

from __future__ import annotations

import time

import hypothesis.strategies as st
from hypothesis import given, settings

from desktop.attachments.quoting import Attachment, clean_name, joined, parted

NAMES = st.text(st.sampled_from("ab .-_ñ🙂"), min_size=1, max_size=12).map(lambda one: clean_name(one) or "x")
TEXTS = st.text(st.sampled_from("ab `\n\t[]:é🙂"), max_size=40)


@settings(max_examples=300, deadline=None)
@given(files=st.lists(st.builds(Attachment, NAMES, TEXTS), max_size=4), words=TEXTS)
def test_what_is_quoted_is_found_again(files: list[Attachment], words: str) -> None:
    message = joined(files, words)
    if not words and files:
        assert parted(message) == (files, "")
    else:
        assert parted(message) == (files, words)
    assert joined(*parted(message)) == message


def test_a_file_is_quoted_with_its_name_and_kind() -> None:
    message = joined([Attachment("notes.py", "print('`` ``` ````')\n")], "What does it do?")
    assert message == "[File: notes.py]\n`````py\nprint('`` ``` ````')\n\n`````\n\nWhat does it do?"


def test_a_message_that_only_looks_like_a_quotation_stays_as_it_is() -> None:
    for text in (
        "[File: a.txt]",
        "[File: a.txt]\n```\nno end",
        "[File: a.txt]\n```\nx\n```and more",
        "see [File: a.txt]\n```\nx\n```",
        "[File: ]\n```\nx\n```",
    ):
        assert parted(text) == ([], text)


def test_text_without_a_name_is_sent_as_it_stands() -> None:
    assert joined([Attachment("", "long " * 9)], "") == "long " * 9
    assert joined([Attachment("", "long"), Attachment("a", "b")], "c") == "long\n\n[File: a]\n```\nb\n```\n\nc"


def test_names_fit_on_one_line_and_hold_no_brackets() -> None:
    assert clean_name("a\n[b]\x00\x1b c.txt") == "a b c.txt"
    assert clean_name("caf\udce9.txt") == "caf\ufffd.txt"
    assert len(clean_name("x" * 500)) == 120


def test_a_megabyte_of_backticks_is_parted_at_once() -> None:
    text = ("`" * 99 + "\n") * 10_000
    message = joined([Attachment("a", text)], "words")
    begun = time.process_time()
    assert parted(message) == ([Attachment("a", text)], "words")
    assert time.process_time() - begun < 2
