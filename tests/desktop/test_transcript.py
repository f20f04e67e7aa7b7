"""The page: what is shown, where the reader stays, what is never fetched."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QImage, QTextCharFormat, QTextCursor, QTextDocument, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox

from desktop.conversation import Conversation
from desktop.palette import DARK, LIGHT
from tests.desktop.transcripts import begun, formats_of, write
from tests.fake_session import Script, tokens_of

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.transcript.view import Transcript
    from tests.desktop.stage import MakeStage

LONG = "\n\n".join(f"Paragraph {n} with **some** words and an emoji 😀 in it." for n in range(60))


def test_streamed_text_equals_text_laid_out_at_once(view: Transcript) -> None:
    reply = begun(view)
    for at, token in enumerate(tokens_of(LONG)):
        write(reply, token, at)
        view.extend()
    view.finish()
    streamed = view.toPlainText()
    turn = Conversation().ask("q")
    turn.reply = reply
    view.show_turns([])
    view.begin_reply(reply)
    view.finish()
    assert view.toPlainText() == streamed
    assert "Paragraph 59 with some words and an emoji 😀 in it." in streamed


def test_columns_stand_where_the_table_says(view: Transcript) -> None:
    begun(view, "| a | b | c | d |\n|---|:--|--:|:-:|\n| 1 | 2 | 3 | 4 |\n\nafter")
    view.finish()
    sides = {}
    block = view.document().begin()
    while block.isValid():
        sides[block.text()] = block.blockFormat().alignment() & Qt.AlignmentFlag.AlignHorizontal_Mask
        block = block.next()
    left, right, middle = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignHCenter
    fixed = Qt.AlignmentFlag.AlignAbsolute
    assert [sides[text] for text in "1234"] == [left, left | fixed, right | fixed, middle | fixed]
    assert sides["b"] == left | fixed and sides["after"] == left


def test_h08_the_view_follows_only_while_the_reader_is_at_the_end(view: Transcript) -> None:
    reply = begun(view, LONG)
    bar = view.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    write(reply, "\n\n" + LONG)
    view.extend()
    assert bar.value() == bar.maximum()
    bar.setValue(bar.maximum() // 2)
    before = bar.value()
    write(reply, "\n\n" + LONG)
    view.extend()
    view.finish()
    assert bar.value() == before
    assert view._latest.isVisible()
    view._latest.click()
    assert bar.value() == bar.maximum()
    assert not view._latest.isVisible()


@pytest.mark.parametrize("how", ["wheel", "key"])
def test_h08_who_scrolls_up_by_wheel_or_key_stays_there_and_who_is_at_the_end_does_in_any_size(
    view: Transcript, how: str
) -> None:
    reply = begun(view, LONG)
    bar = view.verticalScrollBar()
    view.resize(560, 260)
    assert bar.value() == bar.maximum() > 0
    if how == "wheel":
        at = QPointF(view.viewport().rect().center())
        turn = QPoint(0, 120)
        wheel = QWheelEvent(
            at, view.viewport().mapToGlobal(at), QPoint(), turn, Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QCoreApplication.sendEvent(view.viewport(), wheel)
    else:
        QTest.keyClick(view, Qt.Key.Key_PageUp)
    before = bar.value()
    assert before < bar.maximum()
    write(reply, "\n\n" + LONG)
    view.extend()
    assert bar.value() == before
    assert view._latest.isVisible()


@pytest.mark.parametrize("backwards", [False, True])
def test_a_selection_survives_streaming_and_laying_out(view: Transcript, backwards: bool) -> None:
    reply = begun(view, "First paragraph.\n\nThe second one 😀 with **bold** words")
    cursor = view.textCursor()
    start = view.toPlainText().index("second")
    end = view.document().characterCount() - 1
    cursor.setPosition(end if backwards else start)
    cursor.setPosition(start if backwards else end, QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    write(reply, " and more")
    view.extend()
    assert view.textCursor().selectedText() == "second one 😀 with bold words"
    write(reply, " to come.\n\nThird paragraph.")
    view.extend()
    view.finish()
    assert view.textCursor().selectedText() == "second one 😀 with bold words"
    assert (view.textCursor().anchor() > view.textCursor().position()) is backwards


def test_no_selection_grows_out_of_nothing(view: Transcript) -> None:
    view.show_question("q")
    begun(view, LONG)
    view.finish()
    assert not view.textCursor().hasSelection()


def test_h15_copied_text_keeps_no_break_spaces_and_joins_long_lines(view: Transcript) -> None:
    text = "10\u00a0000\u202f€ 😀\n" + "word " * 1500 + "end"
    begun(view, text)
    view.finish()
    view.selectAll()
    assert view.createMimeDataFromSelection().text() == text


def test_h05_a_growing_paragraph_is_continued_in_blocks_of_bounded_length(view: Transcript) -> None:
    reply = begun(view)
    for _ in range(60):
        write(reply, "word after word " * 20)
        view.extend()
    block = view.document().begin()
    longest = 0
    while block.isValid():
        longest = max(longest, block.length())
        block = block.next()
    assert longest < 3_000


def test_h05_the_work_for_a_token_does_not_grow_with_the_text(view: Transcript) -> None:
    """Counts how much of the document each step touches, not how long it takes."""
    reply = begun(view)
    touched: list[int] = []
    view.document().contentsChange.connect(lambda _at, removed, added: touched.append(removed + added))
    costs = []
    for part in range(40):
        touched.clear()
        for token in tokens_of(f"Paragraph {part} with *some* words " * 12 + "\n\n"):
            write(reply, token)
            view.extend()
        costs.append(sum(touched))
    assert max(costs[20:]) <= 1.2 * max(costs[1:10])


def test_h16_nothing_is_fetched_or_read(view: Transcript, qtbot: QtBot) -> None:
    seen: list[str] = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        home = f"http://127.0.0.1:{server.server_port}"
        text = (
            f"![x]({home}/p?d=secret) <img src='{home}/i'> <link rel=stylesheet href='{home}/c'>\n\n"
            f"<style>@import url({home}/s)</style> ![f](file:///etc/hostname) ![d](data:image/png;base64,AAAA)\n\n"
            f"| ![t]({home}/t) |\n| --- |\n| <img src='{home}/u'> |\n"
        )
        view.show_question(text)
        begun(view, text)
        view.finish()
        view.grab()
        resource = QTextDocument.ResourceType.ImageResource.value
        assert not view.document().resource(resource, QUrl(f"{home}/direct"))
        assert view.toPlainText().count("<img src=") == 4
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert seen == []


def test_h18_a_link_asks_before_it_opens_outside_and_the_page_stays(
    view: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("desktop.transcript.links.QDesktopServices.openUrl", lambda url: opened.append(url.toString()))
    begun(view, "[page](https://example.org/a) and [file](file:///etc/passwd)")
    view.finish()
    before = view.toPlainText()
    for url in ("file:///etc/passwd", "#anchor", "relative", "javascript:alert(1)"):
        view.anchorClicked.emit(QUrl(url))
        assert view.findChild(QMessageBox) is None
    for press, expected in (("Cancel", []), ("Copy address", []), ("Open", ["https://example.org/a"])):
        view.anchorClicked.emit(QUrl("https://example.org/a"))
        box = view.findChild(QMessageBox)
        assert "example.org" in box.informativeText()
        next(button for button in box.buttons() if button.text() == press).click()
        assert opened == expected
        QCoreApplication.sendPostedEvents(box, QEvent.Type.DeferredDelete)
    assert QGuiApplication.clipboard().text() == "https://example.org/a"
    assert view.toPlainText() == before


def test_h18_a_link_asks_when_the_keyboard_or_the_control_key_opens_it(view: Transcript) -> None:
    begun(view, "[page](https://example.org/a)")
    before = view.toPlainText()
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Tab)
    QTest.keyClick(view, Qt.Key.Key_Return)
    box = view.findChild(QMessageBox)
    assert "example.org" in box.informativeText()
    box.reject()
    QCoreApplication.sendPostedEvents(box, QEvent.Type.DeferredDelete)
    cursor = view.document().find("page")
    place = view.cursorRect(cursor).center() - QPoint(8, 0)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, place)
    box = view.findChild(QMessageBox)
    assert "example.org" in box.informativeText()
    box.reject()
    assert view.toPlainText() == before


def test_colours_are_by_origin_twice_coded_and_leave_plain_tokens(view: Transcript) -> None:
    begun(view, "One 😀 two three **four** five\n\n```\nsix seven\n```")
    view.finish()
    assert not list(formats_of(view))
    view.colour(True)
    view._marks.colours.rehighlight()
    style = QTextCharFormat.UnderlineStyle
    looks = {
        text.strip(): (look.foreground().color().name().upper(), look.underlineStyle())
        for text, look in formats_of(view)
    }
    assert looks["One"] == (LIGHT.accepted, style.SingleUnderline)
    assert looks["😀"] == (LIGHT.correction, style.DashUnderline)
    assert looks["two"] == (LIGHT.bonus, style.DotLine)
    assert "three" not in looks
    assert looks["four"] == (LIGHT.accepted, style.SingleUnderline)
    assert looks["seven"][0] == LIGHT.accepted
    view.colour(False)
    assert not list(formats_of(view))


def test_a_round_lights_its_own_words(view: Transcript) -> None:
    reply = begun(view, "One **two** three 😀 four")
    view.finish()
    lit = []
    for index in range(6):
        view.light(reply, index)
        lit.append(view.lit_text().strip())
    assert lit == ["One", "two", "three", "😀", "four", ""]
    view.light(None, 0)
    assert view.lit_text() == ""


def test_another_palette_shows_the_same_text_in_other_colours(stage: MakeStage) -> None:
    one = stage(Script(replies=(LONG,))).ready().ask()
    before = one.page
    one.window.apply_palette(DARK)
    assert one.page == before
    colour = one.window.transcript.document().begin().begin().fragment().charFormat().foreground().color()
    assert colour.name().upper() == DARK.muted


def test_a_screenshot_is_not_blank(stage: MakeStage) -> None:
    one = stage().ready().ask()
    one.window.toggle_panel()
    image = one.window.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    colours = {image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}
    assert len(colours) > 40
