from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.text.thinking import ThinkingSplitter, opens_thinking

SNIPPETS = st.lists(
    st.sampled_from(["<think>", "</think>", "`", "```", "\n", " ", "a", "<", "</", "think>", "~~~", "``"]), max_size=14
)


def split(chunks, opened=False):
    splitter = ThinkingSplitter(opened)
    pieces = [piece for chunk in chunks for piece in splitter.push(chunk)] + splitter.finish()
    assert all(text for _, text in pieces)
    texts = {part: "".join(text for kind, text in pieces if kind == part) for part in ("thinking", "answer")}
    return texts["thinking"], texts["answer"]


@pytest.mark.parametrize(
    ("rendered", "opens"),
    [
        ("<|im_start|>assistant\n<think>\n", True),
        ("<｜Assistant｜><think>", True),
        ("<|im_start|>assistant\n<think>\n\n</think>\n\n", False),  # the thinking switch is off
        ("<|im_start|>assistant\n", False),
    ],
)
def test_c07_the_state_comes_from_the_end_of_the_prompt(rendered, opens):
    assert opens_thinking(rendered) is opens


@pytest.mark.parametrize("chunks", [["reasoning</think>answer"], list("reasoning</think>answer")])
def test_c07_only_the_closing_tag_is_written(chunks):
    assert split(chunks, opened=True) == ("reasoning", "answer")


def test_c07_with_the_thinking_switch_off_all_is_answer():
    assert split(["answer <think> as text"]) == ("", "answer <think> as text")


def test_thinking_opened_by_the_reply_itself():
    assert split(list("\n<think>why</think>\n\nso")) == ("\nwhy", "\n\nso")


def test_c09_tags_in_the_answer_survive():
    answer = "put `<think>x</think>` around notes </think>\n```\n<think>\n```\n"
    assert split([answer]) == ("", answer)
    assert split(["r</think>" + answer], opened=True) == ("r", answer)


@pytest.mark.parametrize("cut", [list, lambda text: [text]])
@pytest.mark.parametrize(
    "thinking",
    [
        "the tag `</think>` ends it",
        "`<think>x</think>` and more",
        "code:\n```\n</think>\n```\ndone",
        "~~~html\n</think>\n~~~\n",
        "a ` alone\nnext line",
    ],
)
def test_c09_reasoning_that_quotes_the_closing_tag_goes_on(cut, thinking):
    assert split(cut(thinking + "</think>answer"), opened=True) == (thinking, "answer")


@pytest.mark.parametrize("cut", [list, lambda text: [text]])
def test_a_lone_backtick_does_not_swallow_the_end_of_the_thinking(cut):
    assert split(cut("a ` alone</think>\nanswer `x`"), opened=True) == ("a ` alone", "\nanswer `x`")
    assert split(cut("a ` alone</think>answer"), opened=True) == ("a ` alone", "answer")


def test_thinking_that_is_cut_off_is_kept():
    assert split(["<think>because </thi"]) == ("because </thi", "")
    assert split(["<thi"]) == ("", "<thi")


def test_thinking_streams_as_it_comes():
    splitter = ThinkingSplitter(opened=True)
    assert splitter.push("so ") == [("thinking", "so ")]
    assert splitter.push("a < b, ") == [("thinking", "a < b, ")]
    assert splitter.push("x </") == [("thinking", "x ")]
    assert splitter.push("b>") == [("thinking", "</b>")]


@settings(max_examples=500, deadline=None)
@given(snippets=SNIPPETS, opened=st.booleans(), places=st.lists(st.integers(0, 99), max_size=8))
def test_c09_no_text_is_lost_whatever_the_split(snippets, opened, places):
    text = "".join(snippets)
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    chunks = [text[start:end] for start, end in pairwise(edges)]
    whole = split([text], opened)
    assert split(chunks, opened) == whole
    assert split(list(text), opened) == whole
    thinking, answer = whole
    begins = not opened and text.lstrip().startswith("<think>")
    body = text.replace("<think>", "", 1) if begins else text
    assert body in (thinking + answer, thinking + "</think>" + answer)
