import pytest
from chat_families import GEMMA, LLAMA2, SMOLLM2

from inference.messages import Notice, Problem
from inference.settings import Message
from inference.text.context import fit
from inference.text.template import ChatTemplate, Encoded

EACH = pytest.mark.parametrize("family", [SMOLLM2, LLAMA2, GEMMA], ids=lambda family: family.name)


def template_of(family):
    return ChatTemplate(family.tokenizer(), family.name)


def chat_of(turns, system="be kind"):
    messages = [Message("system", system)]
    for turn in range(turns):
        messages += [Message("user", f"question {turn}"), Message("assistant", f"answer {turn}")]
    return [*messages, Message("user", "the last question")]


@EACH
def test_b09_nothing_is_left_out_while_there_is_room(family):
    template, messages = template_of(family), chat_of(20)
    whole = template.encode(messages)
    size = len(whole.ids)
    fitted = fit(template, messages, limit=size + 200, reserve=200)
    assert (fitted.ids, fitted.notes, fitted.left_out) == (whole.ids, whole.notes, ())
    assert fit(template, messages, limit=size * 4, reserve=200).left_out == ()
    assert fit(template, messages, limit=size + 199, reserve=200).left_out != ()


@EACH
@pytest.mark.parametrize("reserve", [1, 50])
def test_as_few_as_possible_of_the_oldest_turns_are_left_out(family, reserve):
    template, messages = template_of(family), chat_of(12)
    for dropped in range(1, 13):
        kept = [messages[0], *messages[1 + 2 * dropped :]]
        size = len(template.encode(kept).ids)
        fitted = fit(template, messages, limit=size + reserve, reserve=reserve)
        assert fitted.ids == template.encode(kept).ids
        assert fitted.left_out == tuple(range(1, 1 + 2 * dropped))
        first = " ".join(kept[1].content.split())
        first = first if len(first) <= 40 else first[:40].rstrip() + "…"
        begins_at = Notice("context.begins_at", {"turns": dropped, "limit": size + reserve, "first": first})
        assert fitted.notes == (*template.encode(kept).notes, begins_at)


@EACH
def test_d03_the_system_prompt_stays_once_after_turns_are_left_out(family):
    template, messages = template_of(family), chat_of(12)
    fitted = fit(template, messages, limit=len(template.encode(messages).ids) - 30, reserve=10)
    text = family.tokenizer().decode(fitted.ids)
    assert text.count("be kind") == 1
    assert "question 0" not in text
    assert "the last question" in text


@EACH
def test_a_message_that_cannot_fit_is_refused_with_its_size(family):
    template = template_of(family)
    messages = [*chat_of(2), Message("assistant", "ok"), Message("user", "long " * 400)]
    size = len(template.encode([messages[0], messages[-1]]).ids)
    with pytest.raises(Problem) as caught:
        fit(template, messages, limit=size, reserve=1)
    assert caught.value.notice == Notice("error.prompt_too_long", {"size": size, "limit": size})
    fitted = fit(template, messages, limit=size + 1, reserve=100)
    assert len(fitted.ids) == size
    assert fitted.left_out == (1, 2, 3, 4, 5, 6)


def test_a_first_message_alone_may_use_the_reserve():
    template = template_of(SMOLLM2)
    messages = [Message("user", "long " * 100)]
    size = len(template.encode(messages).ids)
    fitted = fit(template, messages, limit=size + 5, reserve=100)
    assert (fitted.left_out, fitted.notes) == ((), ())


def test_kept_answers_keep_their_ids():
    template, tokenizer = template_of(SMOLLM2), SMOLLM2.tokenizer()
    ids = tuple(tokenizer.convert_tokens_to_ids(letter) for letter in "answer")
    messages = chat_of(6)
    messages[-2] = Message("assistant", "answer", ids)
    fitted = fit(template, messages, limit=len(template.encode(messages).ids) - 10, reserve=10)
    assert fitted.left_out
    assert any(tuple(fitted.ids[at : at + len(ids)]) == ids for at in range(len(fitted.ids)))


@pytest.mark.parametrize("own", [4, 16])
def test_the_fewest_turns_go_whether_kept_ids_are_more_or_fewer(own):
    class Counted:
        def encode(self, messages):
            return Encoded([0] * sum(len(message.token_ids or range(10)) for message in messages))

    messages = [Message("user", "?"), Message("assistant", "!", (1,) * own)] * 30 + [Message("user", "?")]
    for kept in range(30):
        size = 10 + kept * (10 + own)
        fitted = fit(Counted(), messages, limit=size + 5, reserve=5)
        assert (len(fitted.ids), len(fitted.left_out)) == (size, 2 * (30 - kept))


def test_what_is_sent_to_the_tokenizer_follows_the_context_and_not_the_length_of_the_chat():
    template = template_of(SMOLLM2)
    sizes = []

    class Counting:
        def encode(self, messages):
            sizes.append(len(messages))
            return template.encode(messages)

    fitted = fit(Counting(), chat_of(3000), limit=600, reserve=100)
    assert len(fitted.left_out) > 5900
    assert max(sizes) < 200
    assert len(sizes) < 20
