import json
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_tokenizers import KINDS, tiny_tokenizer

from inference.text.clean import clean


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\ud83e b", "a\ufffd b"),
        ("\ud83d\ude42", "🙂"),
        ("\udc9f", "\ufffd"),
        ("\ud83e\ud83d\ude42\ude42", "\ufffd🙂\ufffd"),
        ("a\0b", "ab"),
        ("\ud83d\0\ude42", "🙂"),
        ("🙂 é 山 \u00a0\u202f", "🙂 é 山 \u00a0\u202f"),
        ("🙂"[:1] + "\ud83d", "🙂\ufffd"),
    ],
)
def test_c16_pairs_are_joined_lone_halves_replaced_and_nul_removed(text, cleaned):
    assert clean(text) == cleaned


@given(st.text(alphabet=st.characters(codec=None, exclude_characters="\0")))
def test_c16_any_text_can_be_stored_and_sent(text):
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert json.loads(json.dumps(cleaned)) == cleaned
    with closing(sqlite3.connect(":memory:")) as database:
        assert database.execute("select ?", (cleaned,)).fetchone() == (cleaned,)
    if text.encode("utf-8", "replace").decode() == text:
        assert cleaned == text


@pytest.mark.parametrize("kind", KINDS)
def test_c16_tokenizers_take_cleaned_text(kind):
    assert tiny_tokenizer(kind)(clean("a\ud83e b\0"))["input_ids"]
