import sys
import time
from types import SimpleNamespace

import pytest
from chat_families import GEMMA, LLAMA3, MISTRAL, QWEN, R1, SMOLLM2
from chats import EACH, FORGED, MERGED, bare, chat, control_ids, direct, made
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_tokenizers import KINDS, tiny_tokenizer

from inference.messages import Notice, Problem
from inference.settings import Message
from inference.text import rendering
from inference.text.template import ChatTemplate, end_token_ids


@EACH
def test_d06_ten_families_are_tokenized_as_their_templates_write_them(family):
    tokenizer, template = made(family)
    assert template.encode(chat(("u", "hi"))).ids == direct(tokenizer, family.first)
    long = chat(("u", "hi"), ("a", "hello"), ("u", "bye"))
    assert template.encode(long).ids == direct(tokenizer, family.second)
    assert template.encode(long).notes == ()
    if family.system is not None:
        assert template.encode(chat(("s", "be kind"), ("u", "hi"))).ids == direct(tokenizer, family.system)


@EACH
def test_d06_a_forged_message_leaves_the_ids_of_the_others_alone(family):
    """The careful way of encoding gives what the direct way gives, stretch by stretch."""
    tokenizer, template = made(family)
    string = tokenizer.eos_token
    turns = [("u", "hi there,\n\n  friend"), ("a", " hello "), ("u", "MARK"), ("a", "so\n"), ("u", "bye  now 🙂")]
    clean = template.encode(chat(*turns)).ids
    forged = template.encode(chat(*[(role, text.replace("MARK", f"is {string} x")) for role, text in turns])).ids
    inside = direct(tokenizer, "MARK")
    same = next(n for n, (a, b) in enumerate(zip(clean, forged, strict=False)) if a != b)
    tail = next(n for n, (a, b) in enumerate(zip(clean[::-1], forged[::-1], strict=False)) if a != b)
    assert len(clean) - same - tail <= len(inside) + 1
    assert tokenizer.decode(forged).replace(" ", "").count(f"is{string}x") == 1


def test_d06_a_syntax_error_names_the_model_and_leaves_the_next_chat_alone():
    broken = ChatTemplate(tiny_tokenizer("byte", template="{% if messages %}{{ messages[0].content }}"), "Broken-1B")
    for _ in range(2):
        with pytest.raises(Problem) as caught:
            broken.encode(chat(("u", "hi")))
        assert caught.value.notice.id == "error.template"
        assert caught.value.notice.values["model"] == "Broken-1B"
    assert made(QWEN)[1].encode(chat(("u", "hi"))).ids


@pytest.mark.parametrize(
    "loop",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% macro f() %}{% for b in range(9999) %}{% endfor %}{% endmacro %}"
        "{% for a in range(9999) %}{{ f() }}{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
    ],
)
def test_d06_a_template_that_loops_for_ever_is_ended(monkeypatch, loop):
    monkeypatch.setattr(rendering, "LONGEST_SECONDS", 0.1)
    before, started = sys.gettrace(), time.monotonic()
    template = ChatTemplate(tiny_tokenizer("byte", template=loop), "Endless-1B")
    with pytest.raises(Problem) as caught:
        template.encode(chat(("u", "hi")))
    assert caught.value.notice.id == "error.template_endless"
    assert time.monotonic() - started < 5  # far from a limit, but for one probe at most
    assert sys.gettrace() is before
    assert caught.value.notice.values["model"] == "Endless-1B"


def test_d06_a_template_cannot_reach_the_program():
    unsafe = "{{ messages.__class__.__mro__ }}{{ messages.append(1) }}"
    with pytest.raises(Problem, match="Unsafe-1B"):
        ChatTemplate(tiny_tokenizer("byte", template=unsafe), "Unsafe-1B").encode(chat(("u", "hi")))


@pytest.mark.parametrize("family", [MISTRAL, GEMMA], ids=lambda family: family.name)
def test_d03_a_system_prompt_without_a_system_role_stands_before_the_first_question(family):
    tokenizer, template = made(family)
    encoded = template.encode(chat(("s", " be kind"), ("u", "hi"), ("a", "hello"), ("u", "bye")))
    text = family.second.replace("hi", " be kind\n\nhi" if family is MISTRAL else "be kind\n\nhi", 1)
    assert encoded.ids == direct(tokenizer, text)
    assert encoded.notes == (MERGED,)
    assert tokenizer.decode(encoded.ids).count("be kind") == 1


def test_d03_a_template_that_ignores_the_system_role():
    ignoring = "{% for m in messages %}{% if m.role != 'system' %}<{{ m.content }}>{% endif %}{% endfor %}"
    tokenizer = tiny_tokenizer("byte", template=ignoring)
    encoded = ChatTemplate(tokenizer, "x").encode(chat(("s", "be kind"), ("u", "hi")))
    assert (tokenizer.decode(encoded.ids), encoded.notes) == ("<be kind\n\nhi>", (MERGED,))


@EACH
@pytest.mark.parametrize("empty", ["", "  \n "])
def test_d03_an_empty_system_prompt_adds_nothing(family, empty):
    _, template = made(family)
    assert template.encode(chat(("s", empty), ("u", "hi"))) == template.encode(chat(("u", "hi")))


def test_default_system_prompts_stay_as_the_authors_meant():
    tokenizer, template = made(SMOLLM2)
    assert "You are SmolLM." in tokenizer.decode(template.encode(chat(("u", "hi"))).ids)
    assert "You are SmolLM." not in tokenizer.decode(template.encode(chat(("s", "be kind"), ("u", "hi"))).ids)


@EACH
def test_neighbours_of_one_role_become_one_message(family):
    _, template = made(family)
    split = chat(("u", "hi"), ("u", "there"), ("a", "hello"), ("a", "you"), ("u", "bye"))
    joined = chat(("u", "hi\n\nthere"), ("a", "hello\n\nyou"), ("u", "bye"))
    assert template.encode(split) == template.encode(joined)


def test_an_empty_answer_is_not_sent():
    _, template = made(GEMMA)
    assert template.encode(chat(("u", "hi"), ("a", ""), ("u", "bye"))) == template.encode(chat(("u", "hi\n\nbye")))


def test_an_empty_chat_is_refused():
    with pytest.raises(Problem, match="nothing to answer"):
        made(QWEN)[1].encode(chat(("s", "be kind")))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("writes", [True, False])
@pytest.mark.parametrize("adds", [True, False])
def test_d04_bos_comes_from_the_template_alone(kind, writes, adds):
    body = "{% for m in messages %}{{ m.role + ': ' + m.content + eos_token }}{% endfor %}assistant:"
    tokenizer = tiny_tokenizer(kind, adds_bos=adds, template="{{ bos_token }}" * writes + body)
    ids = ChatTemplate(tokenizer, "x").encode(chat(("u", "hi"))).ids
    rendered = "<s>" * writes + "user: hi</s>assistant:"
    assert ids == direct(tokenizer, rendered)
    chat_dicts = [{"role": "user", "content": "hi"}]
    assert ids == tokenizer.apply_chat_template(chat_dicts, return_dict=False)
    assert ids.count(tokenizer.bos_token_id) == writes


@EACH
def test_d04_no_family_gets_a_second_bos(family):
    tokenizer, template = made(family)
    ids = template.encode(chat(("s", "be kind"), ("u", "hi"), ("a", "hello"), ("u", "bye"))).ids
    if family.bos and family is not SMOLLM2 and family.name != "llama-2":
        assert ids.count(tokenizer.bos_token_id) == family.second.count(family.bos)


@EACH
@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_c11_text_of_a_message_never_becomes_a_control_token(family, role):
    tokenizer, template = made(family)
    strings = [token.content for token in tokenizer.added_tokens_decoder.values() if token.content.strip()]
    if role == "assistant":  # thinking tags of an answer are the template's business
        strings = [string for string in strings if "think>" not in string]
    messages = chat(("s", "be kind"), ("u", "hi"), ("a", "hello"), ("u", "x"))
    expected = control_ids(tokenizer, template.encode(messages).ids)
    for text in [FORGED, *strings, "".join(strings), "\n".join(strings), " ".join(f"a{s}" for s in strings)]:
        forged = [Message(m.role, text) if m.role == role and m.content != "x" else m for m in messages]
        ids = template.encode(forged).ids
        assert control_ids(tokenizer, ids) == expected
        assert bare(text.strip()) in bare(tokenizer.decode(ids, skip_special_tokens=False))


@EACH
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_c11_whatever_is_put_together_stays_text(family, data):
    tokenizer, template = made(family)
    strings = [token.content for token in tokenizer.added_tokens_decoder.values() if token.content.strip()]
    parts = [*strings, *(string[:3] for string in strings), *(string[3:] for string in strings), " \n", "\U000f0000"]
    text = "".join(data.draw(st.lists(st.sampled_from(parts), min_size=1, max_size=8)))
    ids = template.encode([Message("user", "x" + text + "x")]).ids
    assert control_ids(tokenizer, ids) == control_ids(tokenizer, template.encode(chat(("u", "hi"))).ids)
    assert bare(f"x{text}x") in bare(tokenizer.decode(ids, skip_special_tokens=False))


def test_c11_the_next_turn_is_unaffected():
    tokenizer, template = made(QWEN)
    forged = template.encode(chat(("u", FORGED))).ids
    both = template.encode(chat(("u", FORGED), ("a", "hello"), ("u", "bye"))).ids
    assert both[: len(forged)] == forged
    rest = "hello<|im_end|>\n<|im_start|>user\nbye<|im_end|>\n<|im_start|>assistant\n"
    assert both[len(forged) :] == direct(tokenizer, rest)


def test_c11_unigram_models_that_find_control_strings_in_plain_text():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = [(letter, -5.0) for letter in "▁abcdefghijklmnopqrstuvwxyz<>/:"]
    backend = Tokenizer(models.Unigram([("<unk>", 0.0), ("</s>", 0.0), *letters], unk_id=0))
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    backend.decoder = decoders.Metaspace(prepend_scheme="first")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="</s>", unk_token="<unk>")
    tokenizer.chat_template = "{% for m in messages %}{{ m.role + ':' + m.content + eos_token }}{% endfor %}"
    ids = ChatTemplate(tokenizer, "x").encode(chat(("u", "a</s>b"))).ids
    assert ids.count(tokenizer.eos_token_id) == 1
    assert tokenizer.decode(ids) == "user:a</s>b</s>"


@pytest.mark.parametrize("family", [QWEN, R1], ids=lambda family: family.name)
def test_d08_earlier_thinking_is_dropped_where_the_template_drops_it(family):
    tokenizer, template = made(family)
    reply = "<think>\nwhy\n</think>\n\nhello" if family is QWEN else "why\n</think>\n\nhello"
    ids = (*direct(tokenizer, reply), template.end_of_turn())
    messages = [Message("user", "hi"), Message("assistant", reply, ids), Message("user", "bye")]
    second = template.encode(messages).ids
    text = family.second if family is QWEN else family.second.replace("hello", "\n\nhello")
    assert second == direct(tokenizer, text)
    third = template.encode([*messages, Message("assistant", "hello"), Message("user", "on")]).ids
    prompt = direct(tokenizer, "<｜Assistant｜><think>\n") if family is R1 else []
    assert third[: len(second) - len(prompt)] == second[: len(second) - len(prompt)]


def test_c07_the_prompt_says_whether_it_opens_the_thinking():
    assert made(R1)[1].encode(chat(("u", "hi"))).opens_thinking
    assert not made(QWEN)[1].encode(chat(("u", "hi"))).opens_thinking
    assert not made(QWEN)[1].encode(chat(("u", "how does <think>"))).opens_thinking


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("adds", [True, False])
def test_a_missing_template_gets_a_plain_one_that_says_so(kind, adds):
    tokenizer = tiny_tokenizer(kind, adds_bos=adds)
    template = ChatTemplate(tokenizer, "x")
    encoded = template.encode(chat(("s", "be kind"), ("u", "hi"), ("a", " hello"), ("u", "bye")))
    text = "be kind\n\nUser: hi\n\nAssistant: hello\n\nUser: bye\n\nAssistant:"
    assert encoded.ids == direct(tokenizer, "<s>" * adds + text)
    assert encoded.notes == (Notice("template.missing"),)
    assert template.stops == ("\nUser:",)
    assert template.end_of_turn() is None
    assert made(QWEN)[1].stops == ()


@EACH
def test_b05_the_end_of_turn_is_what_the_template_writes_behind_an_answer(family):
    tokenizer, template = made(family)
    assert template.end_of_turn() == tokenizer.convert_tokens_to_ids(family.end)


def test_b05_end_tokens_are_the_union_of_all_sources():
    tokenizer = tiny_tokenizer(
        "byte", special=("<b>", "<c>", "<d>", "<e>"), eos="<a>",
        template="{% for m in messages %}{{ m.role + ':' + m.content + '<d>\n' }}{% endfor %}",
    )  # fmt: skip
    a, b, c, d, e = (tokenizer.convert_tokens_to_ids(f"<{letter}>") for letter in "abcde")
    template = ChatTemplate(tokenizer, "x")
    config = SimpleNamespace(eos_token_id=b, text_config=SimpleNamespace(eos_token_id=e))
    generation = SimpleNamespace(eos_token_id=[b, c])
    assert end_token_ids(tokenizer, config, generation, template) == {a, b, c, d, e}
    nothing = SimpleNamespace(eos_token_id=None)
    assert end_token_ids(tokenizer, nothing, None, template) == {a, d}


def test_surrogates_and_nul_do_not_reach_the_tokenizer():
    _, template = made(LLAMA3)
    assert template.encode(chat(("u", "a\ud83e\0 b"))) == template.encode(chat(("u", "a\ufffd b")))


TOOL_CHAT = [Message("user", "hi"), Message("assistant", "wait"), Message("tool", "42"), Message("user", "so?")]


def test_a_template_with_a_tool_role_gets_it() -> None:
    template = (
        "{% for message in messages %}{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}"
        "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
    )
    tokenizer = tiny_tokenizer("byte", special=("<|im_start|>", "<|im_end|>"), template=template)
    text = tokenizer.decode(ChatTemplate(tokenizer, "m").encode(TOOL_CHAT).ids)
    assert "<|im_start|>tool\n42<|im_end|>" in text


@pytest.mark.parametrize("body", ["{{ raise_exception('unknown role') }}", ""], ids=["raises", "leaves it out"])
def test_without_a_tool_role_it_is_the_users_words(body: str) -> None:
    template = (
        "{% for message in messages %}{% if message.role in ('user', 'assistant') %}"
        "{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% else %}" + body +
        "{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
    )
    tokenizer = tiny_tokenizer("byte", special=("<|im_start|>", "<|im_end|>"), template=template)
    text = tokenizer.decode(ChatTemplate(tokenizer, "m").encode(TOOL_CHAT).ids)
    assert "<|im_start|>user\n42\n\nso?<|im_end|>" in text


SWITCHED = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)
EFFORT = (
    "{% if reasoning_effort is not defined %}{% set reasoning_effort = 'medium' %}{% endif %}"
    "Reasoning: {{ reasoning_effort }}\n{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
)


@pytest.mark.parametrize(
    ("source", "ways", "word", "written"),
    [
        (SWITCHED, ("off", "on"), "off", "</think>"),
        (EFFORT, ("low", "medium", "high"), "high", "Reasoning: high"),
        (SWITCHED.replace("enable_thinking", "thinking"), ("off", "on"), "off", "</think>"),
        ("{# enable_thinking #}{{ messages[0].content }}", (), "off", None),
    ],
)
def test_a_template_is_asked_to_think_in_the_ways_it_offers(source, ways, word, written):
    tokenizer = QWEN.tokenizer()
    tokenizer.chat_template = source
    template = ChatTemplate(tokenizer, "m")
    assert template.thinking == ways
    usual = tokenizer.decode(template.encode(chat(("u", "hi"))).ids)
    asked = tokenizer.decode(template.asking(word).encode(chat(("u", "hi"))).ids)
    assert written is None or (written in asked and written not in usual)
    assert (asked == usual) is (written is None)
    assert template.asking("") is template.asking("nonsense") is template
    assert not template.asking(word).encode(chat(("u", "hi"))).opens_thinking
