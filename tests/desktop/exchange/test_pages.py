"""H16: what goes out as Markdown, web page or PDF says what was on the page, and loads nothing."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest
from pypdf import PdfReader

from desktop.exchange.pages import markdown, web_page
from desktop.exchange.reading import chats_in
from desktop.exchange.whole import whole
from desktop.exchange.writing import exported
from desktop.history.records import ChatRecord, MessageRecord
from desktop.store import Store
from tests.desktop.history.library import ODD, fill

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tests.desktop.stage import MakeStage

HOSTILE = (
    "![x](http://127.0.0.1:9/p?d=secret) <img src=http://127.0.0.1:9/> <script>alert(1)</script>"
    " [l](javascript:alert(1)) <style>body{display:none}</style>\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```\n<b>\n```\n"
)


def test_a_chat_as_markdown_has_what_was_on_the_page(stage: MakeStage) -> None:
    one = stage().ready().ask("First?")
    one.window.again()
    one.wait(lambda: not one.conversation.is_writing)
    text = markdown(whole(one.window.history.store, one.conversation.id))
    assert text.startswith("# First?\n")
    assert "## You\n\nFirst?\n" in text
    assert text.count("They carry **salt** and *silver light*") == 1
    assert "*58 tok/s · first 0.2 s" in text
    assert "seed 7*" in text


def hostile(store: Store) -> int:
    now = time.time()
    chat = ChatRecord(store.new_id(), "<script>t</script>", now, now)
    question = MessageRecord(store.new_id(), chat.id, None, "user", HOSTILE + ODD, now)
    answer = MessageRecord(store.new_id(), chat.id, question.id, "assistant", HOSTILE + ODD, now + 1)
    store.put(chat, question, answer)
    return chat.id


def test_h16_a_web_page_holds_no_script_and_fetches_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    page = web_page(whole(store, hostile(store)))
    assert "<script" not in page
    assert "<img" not in page
    assert 'href="javascript' not in page
    assert "src=" not in page.replace("src=http://127.0.0.1:9/&gt;", "")
    assert page.count("<style>") == 1
    assert "&lt;script&gt;t&lt;/script&gt;" in page
    assert "<td>1</td>" in page
    assert 'dir="auto"' in page
    assert "default-src 'none'" in page


def thoughtful(store: Store, text: str, **details: object) -> int:
    now = time.time()
    chat = ChatRecord(store.new_id(), "Thoughts", now, now)
    question = MessageRecord(store.new_id(), chat.id, None, "user", "Why <think>?", now)
    known = json.dumps(details)
    answer = MessageRecord(store.new_id(), chat.id, question.id, "assistant", text, now + 1, details=known)
    store.put(chat, question, answer)
    return chat.id


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("<think>I *ask*.\n\nSo <b>?\n</think>\n\nBecause 🙂.", False),
        ("I *ask*.\n\nSo <b>?\n</think>Because 🙂.", True),
    ],
)
def test_c07_thinking_goes_out_apart_from_the_answer_and_without_its_tags(
    tmp_path: Path, text: str, opens: bool
) -> None:
    store = Store(tmp_path)
    chat = thoughtful(store, text, opens_thinking=opens, thinking_seconds=12.3)
    written = markdown(whole(store, chat))
    assert "\n\n> *Thought for 12 s*\n>\n> I *ask*.\n>\n> So <b>?\n\nBecause 🙂.\n" in written
    assert "Why <think>?" in written
    assert "</think>" not in written
    page = web_page(whole(store, chat))
    assert page.count("<details>") == 1
    fold, _, rest = page.partition("<details>")[2].partition("</details>")
    assert ">Thought for 12 s</summary>" in fold
    assert "<p>I <em>ask</em>.</p>\n<p>So &lt;b&gt;?</p>" in fold
    assert "<p>Because 🙂.</p>" in rest
    assert "/think" not in page
    path = tmp_path / "out.pdf"
    assert max(exported(store, [chat], path)) == 2
    words = " ".join("".join(sheet.extract_text() for sheet in PdfReader(path).pages).split())
    assert all(part in words for part in ("Thought for 12 s", "So <b>?", "Because"))
    assert "/think" not in words
    kept = tmp_path / "out.json"
    assert max(exported(store, [chat], kept)) == 2
    assert [one.text for one in next(iter(chats_in(kept))).messages] == ["Why <think>?", text]


def test_b13_a_reply_that_ended_while_thinking_goes_out_as_thinking(tmp_path: Path) -> None:
    store = Store(tmp_path)
    one = whole(store, thoughtful(store, "I wonder", opens_thinking=True))
    assert markdown(one).endswith("\n\n> *Thought*\n>\n> I wonder\n")
    assert "<p>I wonder</p>" in web_page(one).partition("<details>")[2].partition("</details>")[0]


def test_each_form_is_written_whole(stage: MakeStage, tmp_path: Path) -> None:
    one = stage().ready()
    store = one.window.history.store
    chat = hostile(store)
    for ending, begin in ((".md", b"# "), (".html", b"<!DOCTYPE html>"), (".pdf", b"%PDF-"), (".json", b"{")):
        path = tmp_path / f"out{ending}"
        assert max(exported(store, [chat], path)) == 2
        assert path.read_bytes().startswith(begin)
    assert (tmp_path / "out.pdf").read_bytes().rstrip().endswith(b"%%EOF")
    assert not list(tmp_path.glob("*.part"))


def test_a_pdf_keeps_the_lines_of_a_question_and_gets_through_long_paragraphs(qtbot: QtBot, tmp_path: Path) -> None:
    store = Store(tmp_path)
    now = time.time()
    long = " ".join(f"w{number}" for number in range(9000)) + "\n\n" + "🙂x" * 6000
    store.put(
        ChatRecord(5, "T", now, now),
        MessageRecord(6, 5, None, "user", "one\n  two\n\nthree", now),
        MessageRecord(7, 5, 6, "assistant", long, now),
    )
    path = tmp_path / "out.pdf"
    steps = list(exported(store, [5], path))
    sheets = [sheet.extract_text() for sheet in PdfReader(path).pages]
    assert len(steps) > len(sheets) > 5  # a page at a time
    assert steps[-1] == 2
    lines = [line.split() for line in sheets[0].splitlines()]
    assert ["one"] in lines and ["two"] in lines and ["three"] in lines
    words = " ".join(" ".join(sheets).split())
    assert all(f"w{number}" in words for number in range(0, 9000, 97))
    assert "".join(sheets).count("x") >= 6000
    assert all(sheet.split()[-1] == str(number + 1) for number, sheet in enumerate(sheets))
    store.close()


def test_a_pdf_that_is_given_up_leaves_nothing(qtbot: QtBot, tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    fill(store, chats=1, turns=40)
    steps = exported(store, list(store.chats), tmp_path / "out.pdf")
    next(steps)
    steps.close()  # type: ignore[attr-defined]
    assert not list(tmp_path.glob("out*"))
    store.close()
