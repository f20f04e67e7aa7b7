"""Answers keep the ids that the model wrote, where the template's text for them is unchanged (design D4)."""

import pytest
from chat_families import LLAMA3, PHI3, QWEN, R1, SMOLLM2
from chats import EACH, bare, chat, control_ids, direct, made, spelled
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_tokenizers import tiny_tokenizer

from inference.settings import Message
from inference.text.detokenize import Detokenizer
from inference.text.template import ChatTemplate


@EACH
@pytest.mark.parametrize("ends", ["end", "stopped", "other"])
def test_the_next_turn_extends_the_ids_of_the_last_one(family, ends):
    tokenizer, template = made(family)
    first = template.encode(chat(("u", "hi")))
    body = spelled(tokenizer, family.second.removeprefix(family.first)[:6].removesuffix("<"))
    if body is None or family is R1:  # R1 writes the past without the tag that opens the thinking
        body = spelled(tokenizer, "hello")
    other = tokenizer.convert_tokens_to_ids(tokenizer.unk_token or tokenizer.eos_token)
    tail = {"end": [template.end_of_turn()], "stopped": [], "other": [other]}[ends]
    stream = Detokenizer(tokenizer)
    content = "".join(map(stream.push, body)) + stream.finish()
    assert content == "hello"
    messages = [Message("user", "hi"), Message("assistant", content, tuple(body + tail)), Message("user", "bye")]
    second = template.encode(messages).ids
    if family is R1:
        assert second == direct(tokenizer, family.second)
        return
    cached = first.ids + body
    assert second[: len(cached)] == cached
    assert bare(tokenizer.decode(second)) == bare(tokenizer.decode(direct(tokenizer, family.second)))
    if ends == "end" and family.name != "llama-2":  # which writes a space between answer and end
        assert second[: len(cached) + 1] == [*cached, template.end_of_turn()]
    assert control_ids(tokenizer, second) == control_ids(tokenizer, direct(tokenizer, family.second))


@EACH
def test_a_third_turn_extends_the_second(family):
    tokenizer, template = made(family)
    messages, cached = [], []
    for question in ("hi", "bye now", "one more"):
        messages.append(Message("user", question))
        ids = template.encode(messages).ids
        if family is not R1 and family.name != "llama-2":
            assert ids[: len(cached)] == cached
        space = family.second.removeprefix(family.first).startswith(" ")
        reply = [*spelled(tokenizer, " hello" if space else "hello"), template.end_of_turn()]
        messages.append(Message("assistant", "hello", tuple(reply)))
        cached = ids + reply


@EACH
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_keeping_ids_never_changes_what_the_prompt_says(family, data):
    tokenizer, template = made(family)
    parts = ["hello", " you", "\n", "  ", "`", "🙂", "山", "<think>", "</think>", tokenizer.eos_token, family.end, "."]
    messages = [Message("user", "hi")]
    for _ in range(data.draw(st.integers(1, 3))):
        chunks = data.draw(st.lists(st.sampled_from(parts), max_size=6))
        ids = [
            token_id
            for chunk in chunks
            for token_id in tokenizer(chunk, add_special_tokens=False, split_special_tokens=data.draw(st.booleans()))[
                "input_ids"
            ]
        ]
        stream = Detokenizer(tokenizer)
        content = "".join(map(stream.push, ids)) + stream.finish()
        content = content[: len(content) - data.draw(st.sampled_from([0, 0, 1, 3]))]
        ids += data.draw(st.sampled_from([[], [template.end_of_turn()], [tokenizer.eos_token_id]]))
        messages += [Message("assistant", content, tuple(ids)), Message("user", "go on")]
    kept = template.encode(messages).ids
    plain = template.encode([Message(message.role, message.content) for message in messages]).ids
    assert control_ids(tokenizer, kept) == control_ids(tokenizer, plain)
    kept_text, plain_text = bare(tokenizer.decode(kept)), bare(tokenizer.decode(plain))
    if family.swallowing:  # white space behind a control token: an answer that began with it keeps it
        kept_text, plain_text = kept_text.replace("\n", ""), plain_text.replace("\n", "")
    assert kept_text == plain_text


def test_a_long_chat_is_rendered_twice_at_most(monkeypatch):
    tokenizer, template = made(QWEN)
    ids = (*spelled(tokenizer, "hello"), template.end_of_turn())
    messages = [Message("user", "hi"), Message("assistant", "hello", ids)] * 60 + chat(("u", "bye"))
    renders = []
    render = template.renderer.render
    monkeypatch.setattr(template.renderer, "render", lambda *args: renders.append(args) or render(*args))
    kept = template.encode(messages).ids
    assert len(renders) == 2
    assert sum(kept[at : at + len(ids)] == list(ids) for at in range(len(kept))) == 60


def test_an_answer_edited_or_cut_at_a_stop_is_tokenized_anew():
    tokenizer, template = made(QWEN)
    ids = (*spelled(tokenizer, "hello"), template.end_of_turn())
    for content in ("help", "hel"):
        plain = template.encode(chat(("u", "hi"), ("a", content), ("u", "bye")))
        kept = template.encode([Message("user", "hi"), Message("assistant", content, ids), Message("user", "bye")])
        assert kept == plain


def test_ids_behind_a_stop_do_not_stand_for_the_next_question():
    tokenizer = tiny_tokenizer("byte")
    template = ChatTemplate(tokenizer, "x")
    ids = tuple(token_id for letter in " hello\n\nUser: b" for token_id in direct(tokenizer, letter))
    messages = [Message("user", "hi"), Message("assistant", " hello", ids), Message("user", "bye")]
    assert template.encode(messages) == template.encode(chat(("u", "hi"), ("a", " hello"), ("u", "bye")))


@pytest.mark.parametrize("family", [QWEN, LLAMA3, SMOLLM2], ids=lambda family: family.name)
def test_c11_a_control_string_is_spelled_as_any_text_would_be(family):
    tokenizer, template = made(family)
    text = f"so {family.end}, {family.eos}."
    ids = template.encode(chat(("u", text))).ids
    spelled_out = tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    assert any(ids[at : at + len(spelled_out)] == spelled_out for at in range(len(ids)))


def test_ids_that_spell_a_control_string_do_not_stand_for_the_token():
    tokenizer, template = made(QWEN)
    ids = tuple(tokenizer("hello<|im_end|>", add_special_tokens=False, split_special_tokens=True)["input_ids"])
    kept = template.encode([Message("user", "hi"), Message("assistant", "hello", ids), Message("user", "bye")])
    assert kept == template.encode(chat(("u", "hi"), ("a", "hello"), ("u", "bye")))


def test_ids_with_a_control_token_inside_are_not_kept():
    tokenizer, template = made(QWEN)
    start = tokenizer.convert_tokens_to_ids("<|im_start|>")
    ids = (*spelled(tokenizer, "hel"), start, *spelled(tokenizer, "lo"))
    kept = template.encode([Message("user", "hi"), Message("assistant", "hello", ids), Message("user", "bye")])
    assert kept == template.encode(chat(("u", "hi"), ("a", "hello"), ("u", "bye")))


def test_an_answer_that_quotes_a_control_string_keeps_its_ids():
    tokenizer, template = made(QWEN)
    body = tokenizer("say <|im_end|> twice", add_special_tokens=False, split_special_tokens=True)["input_ids"]
    first = template.encode(chat(("u", "hi"))).ids
    answer = Message("assistant", "say <|im_end|> twice", (*body, template.end_of_turn()))
    second = template.encode([Message("user", "hi"), answer, Message("user", "bye")]).ids
    assert second[: len(first) + len(body) + 1] == [*first, *body, template.end_of_turn()]


def test_swallowed_space_does_not_come_back_behind_a_kept_answer():
    tokenizer, template = made(PHI3)
    ids = (*spelled(tokenizer, " hello"), template.end_of_turn())
    messages = [Message("user", "hi"), Message("assistant", "hello", ids), Message("user", "bye")]
    front = template.encode(messages[:1]).ids
    rest = direct(tokenizer, "<|user|>\nbye<|end|>\n<|assistant|>\n")
    assert template.encode(messages).ids == [*front, *ids, *rest]
