"""Markdown cut while it grows, and parsed with places in the source."""

from __future__ import annotations

import time

import pytest

from desktop.plain_text import storable
from desktop.reply import in_halves
from desktop.transcript.blocks import Block, Cut, Run
from desktop.transcript.code import code_at
from desktop.transcript.cutter import LONG_CODE, LONG_LINE, Cutter
from desktop.transcript.markdown import LARGEST_TABLE, LONGEST_CHUNK, parse

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


def parsed(text: str, start: int = 0) -> list[Block]:
    return parse(text, Cut(start), len(text))


def in_steps(text: str, step: int) -> list[Block]:
    """Everything as it is laid out for good while ``text`` grows by ``step`` characters."""
    cutter = Cutter()
    before, state, blocks = Cut(0), (), []
    for end in [*range(step, len(text), step), len(text)]:
        for cut in cutter.advance(text, end):
            piece = parse(text[:end], before, cut.at, state, behind=cut)
            state = piece[-1].state if piece and cut.lead else ()
            before = cut
            blocks += piece
    return blocks + parse(text, before, len(text), state)


def runs_of(block: Block) -> list[Run]:
    return [*block.runs, *(run for row in block.rows for cell in row for run in cell)]


def test_every_run_that_has_a_place_stands_there() -> None:
    for block in parsed(TEXT):
        for run in block.runs:
            if run.source >= 0:
                assert TEXT[run.source : run.source + len(run.text)] == run.text


def test_blocks_and_styles() -> None:
    blocks = parsed(TEXT)
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
    assert plain(blocks[5]) == 'a = "$1 <b> __main__"\n\n# comment'


@pytest.mark.parametrize(
    "text",
    [
        "![x](file:///etc/hostname) ![y](data:image/png;base64,AAAA)",
        '<img src="file:///etc/hostname">',
        "<script>alert(1)</script>",
        "<style>body{display:none}</style>",
        "[a](file:///etc/hostname) [b](javascript:alert(1)) [c](qrc:/x) [d](borrador:again)",
    ],
)
def test_h16_html_stays_text_and_only_web_links_are_links(text: str) -> None:
    blocks = parsed(text)
    assert all(not run.link for block in blocks for run in block.runs)
    shown = "".join(map(plain, blocks))
    assert "<" not in text or shown == text


def test_a_thousand_quotes_and_a_huge_line_are_bounded() -> None:
    for text in (">" * 10_000 + " x", "*a " * 20_000, "[" * 30_000, "x" * 200_000):
        begun = time.process_time()
        assert parsed(text)
        assert time.process_time() - begun < 5


def test_a_table_is_parsed_and_a_giant_one_stays_as_it_is() -> None:
    head = "| a | b |\n| --- | --- |\n"
    (table,) = parsed(head + "| 1 | 2 |\n| 3 |\n")
    assert [[plain(Block("paragraph", cell)) for cell in row] for row in table.rows] == [
        ["a", "b"],
        ["1", "2"],
        ["3", ""],
    ]
    giant = head + "| 1 | 2 |\n" * (LARGEST_TABLE // 2)
    assert {b.kind for b in parsed(giant)} == {"paragraph"}


@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_cutting_never_splits_a_paragraph_and_is_the_same_in_any_steps(step: int) -> None:
    cutter = Cutter()
    cuts = {cut.at for end in range(step, len(TEXT) + step, step) for cut in cutter.advance(TEXT, min(end, len(TEXT)))}
    assert cuts == {TEXT.index(begin) for begin in ("Some", "1. one", "```python", "last")}


@pytest.mark.parametrize("step", [1, 50, 10**9])
def test_h06_long_open_code_is_cut_between_lines_and_stays_code(step: int) -> None:
    text = "```\n" + "value = $1 \\[y\\] <b> # comment\n" * 200
    cutter = Cutter()
    for end in range(min(step, len(text)), len(text) + 1, step):
        cutter.advance(text, end)
        assert end - cutter.cut.at <= LONG_CODE + 2 * len("value = $1 \\[y\\] <b> # comment\n")
    pieces = in_steps(text, step)
    assert {b.kind for b in pieces} == {"code"}
    assert "".join(map(plain, pieces)) == text.partition("\n")[2].removesuffix("\n")
    assert [block.is_first for block in pieces] == [True] + [False] * (len(pieces) - 1)
    assert all(plain(block).startswith("\n") for block in pieces[1:])
    assert all(text[run.source :].startswith(run.text) for block in pieces for run in block.runs)


@pytest.mark.parametrize("language", ["python", "c++", "html", "rust", "json", "sh", "nonsense", ""])
def test_no_language_loses_a_character(language: str) -> None:
    text = f"```{language}\nfor (a <b> in 'x') {{\r\n\tif \u202e\"$y\" && 1.5e3 // <?php %\n}}\n  é😀 end\n```"
    (code,) = parsed(text)
    assert plain(code) == text.replace("\r", "").partition("\n")[2].rpartition("\n")[0]
    assert any(run.mark for run in code.runs)


@pytest.mark.parametrize("step", [3, 10**9])
def test_a_long_table_is_cut_between_rows_and_stays_one_table(step: int) -> None:
    rows = "".join(f"| {n} | *word* {n} | $x_{n}$ |\n" for n in range(300))
    text = f"before\n\n| a | b | c |\n| --- | --: | :-: |\n{rows}\nafter"
    first, *pieces, last = in_steps(text, step)
    assert (plain(first), plain(last)) == ("before", "after")
    assert len(pieces) > 10
    assert {piece.kind for piece in pieces} == {"table"}
    assert [piece.is_first for piece in pieces] == [True] + [False] * (len(pieces) - 1)
    assert sum(len(piece.rows) for piece in pieces) == 301
    assert len({piece.state for piece in pieces}) == 1
    assert {piece.sides for piece in pieces} == {("", "right", "center")}
    assert all(text[run.source :].startswith(run.text) for piece in pieces for run in runs_of(piece) if run.source >= 0)


@pytest.mark.parametrize("step", [999, 10**9])
@pytest.mark.parametrize("around", [("", ""), ("```\n", "\n```")])
def test_h10_a_line_without_a_break_is_cut_and_joins_again(step: int, around: tuple[str, str]) -> None:
    text = around[0] + "😀x" * 10_000 + around[1]
    blocks = in_steps(in_halves(text), step)
    assert len(blocks) > 8
    assert max(len(plain(block)) for block in blocks) <= LONG_LINE
    assert storable("".join(map(plain, blocks))) == "😀x" * 10_000
    assert [block.joins for block in blocks] == [False] + [True] * (len(blocks) - 1)


def test_a_piece_too_long_to_parse_is_shown_as_it_is() -> None:
    text = "**a** " * LONGEST_CHUNK
    (block,) = parsed(text)
    assert plain(block) == text


def test_tasks_pictures_and_bare_addresses() -> None:
    todo, done, pictures = parsed("- [ ] to do\n- [x] done\n\n![a map](https://x.org/m.png) at https://x.org/a_b.")
    assert (todo.marker, plain(todo), done.marker, plain(done)) == ("☐", "to do", "☑", "done")
    assert [(run.text, run.link) for run in pictures.runs] == [
        ("a map", "https://x.org/m.png"),
        (" at ", ""),
        ("https://x.org/a_b", "https://x.org/a_b"),
        (".", ""),
    ]


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("a $x^2$ b", ["x^2"]),
        ("costs $5 and $10, or $5-$7", []),
        ("\\(a_1\\) and \\[b_2\\]", ["a_1", "b_2"]),
        ("$$\na\n= b\n- c\n$$", ["a\n= b\n- c"]),
        ("`$x$` and \\$y\\$", []),
        ("- item $a * b * c$", ["a * b * c"]),
        ("$$x$$ inside", ["x"]),
        ("```\n$x$ \\[y\\]\n```", []),
        ("$$\nnever closed", []),
    ],
)
def test_h06_formulas_are_found_where_they_are_meant(text: str, formulas: list[str]) -> None:
    runs = [run for block in parsed(text) for run in block.runs]
    assert [run.formula for run in runs if run.formula] == formulas
    assert all(text[run.source :].startswith(run.text) for run in runs)


@pytest.mark.parametrize(
    ("text", "start", "code"),
    [
        ("x\n\n```py\na = 1\n\n  b\n```\ny", 3, "a = 1\n\n  b"),
        ("- one\n  ```\n  a\n    b\n  ```", 8, "a\n  b"),
        ("> ~~~\n> a\n>\n>  b\n> ~~~", 0, "a\n\n b"),
        ("    a\n      b\n\nc", 0, "a\n  b"),
        ("````\n```\n````", 0, "```"),
        ("```\nopen $1 \\[y\\] __main__", 0, "open $1 \\[y\\] __main__"),
    ],
)
def test_h06_code_is_copied_exactly(text: str, start: int, code: str) -> None:
    assert code_at(text, start) == code
