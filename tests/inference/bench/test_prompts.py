"""Prompts from files, and a limit that keeps the groups' shares."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from inference.bench.prompts import BUILT_IN, Prompt, evenly, read_prompts
from inference.messages import Problem

if TYPE_CHECKING:
    from pathlib import Path


def test_categories_become_groups(tmp_path: Path) -> None:
    categories = ["writing", "math", "summarization", "math_reasoning", "rag", "poetry"]
    lines = [
        json.dumps({"question_id": n, "category": name, "turns": ["one", "two"]}) for n, name in enumerate(categories)
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")
    found = read_prompts(file)
    assert [prompt.group for prompt in found] == ["chat", "chat", "summarisation", "math", "rag", "poetry"]
    assert found[0].turns == ("one", "two")


def test_a_text_file_has_a_prompt_a_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("¿Qué hora es?\n\n  Tell me more.  \n", encoding="utf-8")
    assert read_prompts(file) == (Prompt("prompts", ("¿Qué hora es?",)), Prompt("prompts", ("Tell me more.",)))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", b"", "it holds no prompt"),
        ("a.jsonl", b'{"category": "qa", "turns": ["x"]}\n{"turns": []}', "line 2 is no JSON object"),
        ("a.jsonl", b'["qa"]', "line 1 is no JSON object"),
        ("a.jsonl", b'{"category": "qa", "turns": [" "]}', "line 1 is no JSON object"),
        ("a.jsonl", b'{"category": "qa", "turns": "text"}', "line 1 is no JSON object"),
        ("a.txt", b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_file_that_is_none_says_where(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(Problem, match=said) as raised:
        read_prompts(file)
    assert raised.value.notice.id == "error.file"


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="No such file"):
        read_prompts(tmp_path / "none.jsonl")


def test_a_limit_takes_evenly() -> None:
    many = [Prompt(group, (str(n),)) for group in ("chat", "qa", "math", "rag") for n in range(40)]
    assert Counter(prompt.group for prompt in evenly(many, 40)) == dict.fromkeys(("chat", "qa", "math", "rag"), 10)
    assert len(set(evenly(many, 7))) == 7
    assert evenly(BUILT_IN, 1000) == BUILT_IN
    assert Counter(prompt.group for prompt in evenly(BUILT_IN, 6)) == Counter(prompt.group for prompt in BUILT_IN[::2])
