"""Markdown cut while it grows, and parsed with places in the source."""

from __future__ import annotations

import time

import pytest

from desktop.transcript.markdown import LARGEST_TABLE, LONG_CODE, LONGEST_CHUNK, Block, Cutter, parse

TEXT = """# Title

Some **bold** and *light* `code` [page](https://example.org) &amp; more.

1. one
2. two

   inner

```python
a = "$1 <b> __main__"

# comment
```
last
"""


def plain(block: Block) -> str:
    return "".join(run.text for run in block.runs)


def test_every_run_that_has_a_place_stands_there() -> None:
    for block in parse(TEXT, 0, len(TEXT)):
        for run in block.runs:
            if run.source >= 0:
                assert TEXT[run.source : run.source + len(run.text)] == run.text


def test_blocks_and_styles() -> None:
    blocks = parse(TEXT, 0, len(TEXT))
    assert [b.kind for b in blocks] == [
        "heading",
        "paragraph",
        "paragraph",
        "paragraph",
        "paragraph",
        "code",
        "paragraph",
    ]
    assert [b.marker for b in blocks if b.indent] == ["1.", "2.", ""]
    assert [run.text for run in blocks[1].runs if run.bold or run.italic or run.code] == ["bold", "light", "code"]
    assert next(run.link for run in blocks[1].runs if run.text == "page") == "https://example.org"
    assert [run.text for run in blocks[5].runs] == ['a = "$1 <b> __main__"', "", "# comment"]


@pytest.mark.parametrize(
    "text",
    [
        "![x](http://127.0.0.1:9/p?d=secret)",
        '<img src="file:///etc/hostname">',
        "<script>alert(1)</script>",
        "<style>body{display:none}</style>",
        "[a](file:///etc/hostname) [b](javascript:alert(1)) [c](qrc:/x) [d](borrador:again)",
    ],
)
def test_h16_html_stays_text_and_only_web_links_are_links(text: str) -> None:
    blocks = parse(text, 0, len(text))
    assert all(not run.link for block in blocks for run in block.runs)
    shown = "".join(map(plain, blocks))
    assert "<" not in text or shown == text


def test_a_thousand_quotes_and_a_huge_line_are_bounded() -> None:
    for text in (">" * 10_000 + " x", "*a " * 20_000, "[" * 30_000, "x" * 200_000):
        begun = time.process_time()
        assert parse(text, 0, len(text))
        assert time.process_time() - begun < 5


def test_a_table_is_parsed_and_a_giant_one_stays_as_it_is() -> None:
    head = "| a | b |\n| --- | --- |\n"
    (table,) = parse(head + "| 1 | 2 |\n| 3 |\n", 0, 99)
    assert [[plain(Block("paragraph", cell)) for cell in row] for row in table.rows] == [
        ["a", "b"],
        ["1", "2"],
        ["3", ""],
    ]
    giant = head + "| 1 | 2 |\n" * (LARGEST_TABLE // 2)
    assert {b.kind for b in parse(giant, 0, len(giant))} == {"paragraph"}


@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_cutting_never_splits_a_paragraph_and_is_the_same_in_any_steps(step: int) -> None:
    cutter = Cutter()
    cuts = {cutter.advance(TEXT[:end]) for end in range(step, len(TEXT) + step, step)} - {0}
    assert cuts <= {TEXT.index(begin) for begin in ("Some", "1. one", "```python", "last")}
    assert max(cuts) == TEXT.index("last")


def test_h06_long_open_code_is_cut_between_lines_and_stays_code() -> None:
    text = "```\n" + "value = $1 \\[y\\] <b> # comment\n" * 200
    cutter = Cutter()
    start, fence, shown = 0, "", []
    for end in range(0, len(text), 50):
        cut = cutter.advance(text[:end])
        if cut > start:
            shown += parse(text, start, cut, fence)
            start, fence = cut, cutter.fence
    shown += parse(text, start, len(text), fence)
    assert len(shown) > len(text) // (2 * LONG_CODE)
    assert {b.kind for b in shown} == {"code"}
    lines = [run for block in shown for run in block.runs]
    assert [run.text for run in lines] == text.split("\n")[1:-1]
    assert all(text[run.source :].startswith(run.text) for run in lines)


def test_a_piece_too_long_to_parse_is_shown_as_it_is() -> None:
    text = "**a** " * LONGEST_CHUNK
    (block,) = parse(text, 0, len(text))
    assert plain(block) == text
