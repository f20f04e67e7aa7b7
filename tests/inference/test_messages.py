"""Every notice in the code has a sentence, and its values their names."""

from __future__ import annotations

import re
from pathlib import Path

from inference.messages import ENGLISH, fields


def test_every_message_id_in_the_code_exists_and_gets_its_values() -> None:
    root = Path(__file__).parents[2] / "inference"
    used = {}
    for path in root.rglob("*.py"):
        if path.name == "messages.py":
            continue
        source = path.read_text(encoding="utf-8")
        for id in re.findall(r"(?:Problem|Notice)\(\s*\"([a-z_.]+)\"", source):
            used[id] = path.name
    assert set(used) <= set(ENGLISH), {id: used[id] for id in set(used) - set(ENGLISH)}
    for id, template in ENGLISH.items():
        assert "  " not in template, id
        assert all(name.isidentifier() for name in fields(template))
