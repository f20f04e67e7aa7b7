import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_tokenizers import KINDS, tiny_tokenizer

from inference.text.detokenize import Detokenizer, continuation, decode, hidden_ids

TOKENIZERS = {
    kind: tiny_tokenizer(kind, special=("<|im_end|>",), added=("<think>", "</think>", "｜odd name｜")) for kind in KINDS
}
REPLACEMENT = "\ufffd"


def ids_of(kind, text):
    return TOKENIZERS[kind](text, add_special_tokens=False)["input_ids"]


def stream(kind, ids, before=()):
    detokenizer = Detokenizer(TOKENIZERS[kind], before)
    return [*map(detokenizer.push, ids), detokenizer.finish()]


def bytes_as_ids(kind, data):
    """Ids that stand for these very bytes, one each."""
    tokenizer = TOKENIZERS[kind]
    if kind == "byte":
        from tokenizers.pre_tokenizers import ByteLevel

        table = sorted(ByteLevel.alphabet())
        printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
        others = [byte for byte in range(256) if byte not in printable]
        letters = {byte: chr(byte) for byte in printable}
        letters |= {byte: chr(256 + index) for index, byte in enumerate(others)}
        assert sorted(letters.values()) == table
        return [tokenizer.convert_tokens_to_ids(letters[byte]) for byte in data]
    return [tokenizer.convert_tokens_to_ids(f"<0x{byte:02X}>") for byte in data]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_ids_stream_to_what_decoding_them_at_once_gives(kind, data):
    size = len(TOKENIZERS[kind])
    ids = data.draw(st.lists(st.integers(0, size + 3), max_size=60))
    assert "".join(stream(kind, ids)) == decode(TOKENIZERS[kind], ids)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=40), text=st.text(max_size=5))
def test_any_bytes_stream_to_what_decoding_them_at_once_gives(kind, data, text):
    ids = bytes_as_ids(kind, data) + ids_of(kind, text) + bytes_as_ids(kind, data[:3])
    assert "".join(stream(kind, ids)) == decode(TOKENIZERS[kind], ids)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=40).filter(lambda text: REPLACEMENT not in text))
def test_text_without_replacement_marks_never_shows_one(kind, text):
    assert REPLACEMENT not in "".join(stream(kind, ids_of(kind, text))[:-1])


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_continued_reply_reads_as_if_it_had_not_been_cut(kind, data):
    text = data.draw(st.text(alphabet=" abHello\n山🙂é", max_size=40))
    ids = ids_of(kind, text)
    whole = decode(TOKENIZERS[kind], ids)
    cut = data.draw(st.integers(0, len(ids)))
    front = decode(TOKENIZERS[kind], ids[:cut])
    hidden = hidden_ids(TOKENIZERS[kind])
    if whole.startswith(front):
        assert front + "".join(stream(kind, ids[cut:], ids[:cut])) == whole
        assert front + continuation(TOKENIZERS[kind], hidden, ids[:cut], ids[cut:]) == whole


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["ok 🙂 go", "👨‍👩‍👧‍👦 home", "🇪🇸 flag", "山川", "हिन्दी"])
def test_c01_characters_split_over_tokens_never_show_as_replacement_marks(kind, text):
    pieces = stream(kind, ids_of(kind, text))
    assert REPLACEMENT not in "".join(pieces)
    assert "".join(pieces).lstrip(" ") == text
    assert "".join(pieces) == decode(TOKENIZERS[kind], ids_of(kind, text))


@pytest.mark.parametrize("kind", KINDS)
def test_c03_a_genuine_replacement_mark_does_not_stall_the_stream(kind):
    tokenizer = TOKENIZERS[kind]
    ids = [*ids_of(kind, "left \ufffd"), *ids_of(kind, "\ufffd right and on")[-6:]]
    detokenizer = Detokenizer(tokenizer)
    shown = ""
    for position, token_id in enumerate(ids, 1):
        shown += detokenizer.push(token_id)
        whole = decode(tokenizer, ids[:position])
        assert whole.startswith(shown)
        assert len(whole) - len(shown) <= 3  # at most one character, which may have three marks on its way
    assert shown + detokenizer.finish() == decode(tokenizer, ids)


def test_c03_wrong_bytes_for_ever_stream_on_too():
    ids = bytes_as_ids("byte", b"\x80" * 300)
    pieces = stream("byte", ids)
    assert all(piece == REPLACEMENT for piece in pieces[1:])
    assert "".join(pieces) == REPLACEMENT * 300


def test_c03_a_token_of_a_space_and_a_replacement_mark():
    tokenizer = tiny_tokenizer("first", added=("▁\ufffd", " \ufffd"))
    odd = tokenizer.convert_tokens_to_ids("▁\ufffd")
    ids = [*tokenizer("Hello", add_special_tokens=False)["input_ids"], *[odd] * 60, *tokenizer("x")["input_ids"]]
    detokenizer = Detokenizer(tokenizer)
    assert "".join(map(detokenizer.push, ids)) + detokenizer.finish() == decode(tokenizer, ids)


@pytest.mark.parametrize("kind", KINDS)
def test_c04_leading_spaces_are_exact(kind):
    ids = ids_of(kind, "Hello again, see you soon")
    assert "".join(stream(kind, ids)) == "Hello again, see you soon"
    assert stream(kind, ids)[0] in ("Hello", "He")
    first = decode(TOKENIZERS[kind], ids[:1])
    assert first + "".join(stream(kind, ids[1:], ids[:1])) == "Hello again, see you soon"


@pytest.mark.parametrize("kind", KINDS)
def test_c06_white_space_comes_through(kind):
    parts = [" ", "\n", "    ", "\n\n", "```python", "\n", "x"]
    ids = [token_id for part in parts for token_id in ids_of(kind, part)]
    pieces = stream(kind, ids)
    assert "".join(pieces) == decode(TOKENIZERS[kind], ids)
    assert "".join(pieces).replace(" ", "").endswith("\n\n\n```python\nx")


@pytest.mark.parametrize("kind", KINDS)
def test_special_tokens_are_hidden_and_added_ones_are_not(kind):
    ids = ids_of(kind, "Hello<|im_end|></s><think>｜odd name｜")
    text = "".join(stream(kind, ids))
    assert "im_end" not in text and "</s>" not in text
    assert "<think>" in text and "｜odd name｜" in text


@pytest.mark.parametrize("kind", KINDS)
def test_text_comes_with_its_token_unless_it_ends_in_bytes(kind):
    detokenizer = Detokenizer(TOKENIZERS[kind])
    ids = ids_of(kind, "The quick brown fox jumps over the wall.")
    shown = ""
    for position, token_id in enumerate(ids, 1):
        shown += detokenizer.push(token_id)
        assert shown == decode(TOKENIZERS[kind], ids[:position])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", ["any", "text", "bytes", "wrong bytes"])
def test_the_window_does_not_grow_with_the_reply(kind, source):
    choose = random.Random(7)
    pool = {
        "any": range(len(TOKENIZERS[kind])),
        "text": ids_of(kind, "Hello again, 🙂 山"),
        "bytes": bytes_as_ids(kind, range(128, 256)),
        "wrong bytes": bytes_as_ids(kind, range(128, 192)),
    }[source]
    detokenizer = Detokenizer(TOKENIZERS[kind])
    decoded = 0
    original = detokenizer._tokenizer

    class Counting:
        def __getattr__(self, name):
            return getattr(original, name)

        def decode(self, ids, **options):
            nonlocal decoded
            decoded += len(ids)
            return original.decode(ids, **options)

    detokenizer._tokenizer = Counting()
    for _ in range(2000):
        detokenizer.push(choose.choice(pool))
    assert decoded < 2000 * 60
    detokenizer.finish()
