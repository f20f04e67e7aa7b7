"""The suffix automaton against looking through the whole text: the longest repeated end, and what followed it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from inference.drafters.suffixes import Match, Suffixes

TEXTS = st.lists(st.integers(0, 3), max_size=40) | st.lists(st.integers(0, 1), max_size=40)


def longest(text: list[int]) -> int:
    """The length of the longest end of the text that also stands in it earlier."""
    size = len(text)
    return (
        next(
            length
            for length in range(max(0, size - 1), -1, -1)
            if any(text[end - length : end] == text[size - length :] for end in range(length, size))
        )
        if size
        else 0
    )


def followers(text: list[int], length: int) -> set[int]:
    """Tokens that stand behind earlier places of the text's last ``length`` tokens."""
    tail = text[len(text) - length :]
    return {text[end] for end in range(length, len(text)) if text[end - length : end] == tail}


def built(text: list[int]) -> Suffixes:
    found = Suffixes()
    for token in text:
        found.push(token)
    return found


@settings(deadline=None, max_examples=300)
@given(TEXTS)
def test_the_match_is_the_longest_after_every_token(text: list[int]) -> None:
    found = Suffixes()
    assert (found.match, len(found)) == (Match(0, 0), 0)
    for size, token in enumerate(text, 1):
        found.push(token)
        assert found.match.length == longest(text[:size])
        assert len(found) == size


@settings(deadline=None, max_examples=300)
@given(TEXTS)
def test_continuations_are_what_followed_each_shorter_end_once(text: list[int]) -> None:
    found = built(text)
    given_ = list(found.continuations(found.match, 100))
    assert len({token for token, _, _ in given_}) == len(given_)
    lengths = [length for _, _, length in given_]
    assert lengths == sorted(lengths, reverse=True)
    for token, made, length in given_:
        assert token in followers(text, length)
        assert made.length == length + 1
        for longer in range(length + 1, found.match.length + 1):
            assert token not in followers(text, longer)
    everything = set().union(*(followers(text, length) for length in range(1, found.match.length + 1)), set())
    assert {token for token, _, _ in given_} == everything


@settings(deadline=None, max_examples=200)
@given(TEXTS, st.integers(1, 6))
def test_a_continuation_leads_on_as_if_it_had_been_written(text: list[int], steps: int) -> None:
    """The match a continuation makes is followed by what follows these tokens in the text."""
    found = built(text)
    match, tail = found.match, text[len(text) - found.match.length :]
    for _ in range(steps):
        nexts = list(found.continuations(match, 100))
        if not nexts:
            break
        token, match, length = nexts[0]
        tail = [*tail[len(tail) - length :], token]
        assert match.length == len(tail)
        places = [end for end in range(len(tail), len(text) + 1) if text[end - len(tail) : end] == tail]
        assert places
        full = {token for token, _, at in found.continuations(match, 100) if at == len(tail)}
        assert full == {text[end] for end in places if end < len(text)}


@settings(deadline=None, max_examples=200)
@given(TEXTS, TEXTS)
def test_another_text_is_followed_by_its_longest_end_that_stands_in_this_one(text: list[int], other: list[int]) -> None:
    found, match = built(text), Match(0, 0)
    for size, token in enumerate(other, 1):
        match = found.advanced(match, token)
        ends = [other[size - length : size] for length in range(size, 0, -1)]
        places = [end for end in ends if any(text[at : at + len(end)] == end for at in range(len(text)))]
        assert match.length == (len(places[0]) if places else 0)


def test_of_equal_matches_the_latest_comes_first_and_refused_tokens_do_not_count() -> None:
    found = built([1, 2, 3, 1, 2, 4, 1, 2])
    assert [token for token, _, _ in found.continuations(found.match, 9)] == [4, 3]
    assert [token for token, _, _ in found.continuations(found.match, 9, {4})] == [3]
    assert [token for token, _, _ in found.continuations(found.match, 1, {4})] == [3]


def test_a_hundred_thousand_tokens_make_no_more_than_two_states_each() -> None:
    for step in (1, 7, 5003):
        found = built([(place * place // step) % 997 for place in range(100_000)])
        assert len(found._link) <= 2 * len(found)
