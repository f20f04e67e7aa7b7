from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.text.stop import StopScanner

TEXTS = st.text(alphabet="ab", max_size=24)
STOPS = st.lists(st.text(alphabet="ab", min_size=1, max_size=6), max_size=4)


def scan(stops, chunks):
    """All that was shown, whether it stopped, and how many chunks it took."""
    scanner = StopScanner(stops)
    shown, used = "", 0
    for tag, chunk in enumerate(chunks):
        shown += "".join(text for text, _ in scanner.push(chunk, tag))
        used += 1
        if scanner.stopped:
            break
    shown += "".join(text for text, _ in scanner.finish())
    return shown, scanner.stopped, used


def naive(stops, text):
    starts = [text.find(stop) for stop in stops if stop in text]
    return (text[: min(starts)], True) if starts else (text, False)


def cut(text, places):
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in pairwise(edges)]


@settings(max_examples=1000, deadline=None)
@given(stops=STOPS, text=TEXTS, places=st.lists(st.integers(0, 99), max_size=8))
def test_any_chunking_shows_what_a_search_over_the_whole_text_shows(stops, text, places):
    shown, stopped, _ = scan(stops, cut(text, places))
    assert (shown, stopped) == naive(stops, text)


@settings(max_examples=1000, deadline=None)
@given(stops=STOPS, text=TEXTS)
def test_only_a_real_prefix_of_a_stop_is_held_back_and_nothing_shown_is_taken_back(stops, text):
    scanner = StopScanner(stops)
    shown = ""
    final, _ = naive(stops, text)
    for position, letter in enumerate(text, 1):
        shown += "".join(piece for piece, _ in scanner.push(letter, None))
        assert final.startswith(shown)
        if scanner.stopped:
            break
        held = text[len(shown) : position]
        begun = any(stop.startswith(held) and stop != held for stop in stops)
        waiting = any(stop in held for stop in stops)  # for a stop that starts earlier
        assert not held or begun or waiting


@settings(max_examples=300, deadline=None)
@given(stops=STOPS, text=TEXTS, places=st.lists(st.integers(0, 99), max_size=8))
def test_every_character_keeps_its_tag(stops, text, places):
    chunks = cut(text, places)
    scanner = StopScanner(stops)
    pieces = [piece for tag, chunk in enumerate(chunks) for piece in scanner.push(chunk, tag)] + scanner.finish()
    tags = [tag for tag, chunk in enumerate(chunks) for _ in chunk]
    flat = [(letter, tag) for piece, tag in pieces for letter in piece]
    assert flat == list(zip(text, tags, strict=True))[: len(flat)]
    assert all(piece for piece, _ in pieces)


def test_b01_no_character_of_a_stop_over_token_borders_is_shown():
    shown, stopped, used = scan(["ver the"], ["jump", "s o", "ver", " t", "he", " wall", " and on"])
    assert (shown, stopped, used) == ("jumps o", True, 5)
    assert scan(["\nHuman:"], ["Good.", "\nHuman", ":", " and"]) == ("Good.", True, 3)


@pytest.mark.parametrize("stops", [["ab", "abc"], ["abc", "ab"]])
@pytest.mark.parametrize("chunks", [["x", "a", "b", "c"], ["xabc"], ["xab", "c"]])
def test_b01_two_stops_one_the_prefix_of_the_other(stops, chunks):
    shown, stopped, used = scan(stops, chunks)
    assert (shown, stopped) == ("x", True)
    assert used == next(n for n in range(1, 5) if "ab" in "".join(chunks[:n]))


def test_b01_a_stop_that_starts_earlier_may_still_become_complete():
    stops = ["abcdef", "cd"]
    scanner = StopScanner(stops)
    assert scanner.push("xabcd", 0) == [("x", 0)]
    assert not scanner.stopped
    assert scanner.push("ef", 1) == []
    assert scanner.stopped
    assert scan(stops, ["xabcd", "e", "!"]) == ("xab", True, 3)
    assert scan(stops, ["xabcd"]) == ("xab", True, 1)


def test_b01_a_stop_inside_one_accepted_block():
    scanner = StopScanner(["STOP"])
    shown = scanner.push("before STOP behind", "round 3")
    assert shown == [("before ", "round 3")]
    assert scanner.stopped
    assert scanner.push("more", "round 4") == []
    assert scanner.finish() == []


def test_b02_held_text_appears_at_the_end():
    scanner = StopScanner(["\nHuman:"])
    assert scanner.push("...", 0) == [("...", 0)]
    assert scanner.push("\nHum", 1) == []
    assert scanner.finish() == [("\nHum", 1)]
    assert not scanner.stopped


def test_b02_a_long_stop_holds_only_what_may_begin_it():
    stop = "a" + "b" * 39
    scanner = StopScanner([stop])
    assert scanner.push("xxabx", 0) == [("xxabx", 0)]
    assert scanner.push("xxab", 1) == [("xx", 1)]
    assert scanner.push("x", 2) == [("ab", 1), ("x", 2)]


def test_without_stops_all_goes_through():
    scanner = StopScanner([])
    assert scanner.push("text", 1) == [("text", 1)]
    assert scanner.push("", 2) == []
    assert scanner.finish() == []
