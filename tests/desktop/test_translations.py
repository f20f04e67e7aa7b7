"""Every string of the window is translated, every message id has a sentence, and numbers are the language's own."""

from __future__ import annotations

import runpy
import shutil
import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from desktop.resources import TRANSLATIONS
from desktop.sentences import TEMPLATES, TERMINAL_ONLY, sentence
from inference.events import Notice
from inference.messages import ENGLISH, fields

if TYPE_CHECKING:
    from pathlib import Path

    from tests.desktop.stage import MakeStage

SPANISH = TRANSLATIONS / "borrador_es.ts"


def messages(path: Path) -> dict[tuple[str, str], ElementTree.Element]:
    """(context, source) of every message, with its translation."""
    found = {}
    for context in ElementTree.parse(path).getroot().iter("context"):
        for message in context.iter("message"):
            translation = message.find("translation")
            assert translation is not None
            found[context.findtext("name", ""), message.findtext("source", "")] = translation
    return found


def test_every_string_of_the_source_is_translated(tmp_path: Path) -> None:
    fresh = tmp_path / SPANISH.name
    shutil.copy(SPANISH, fresh)
    runpy.run_path(str(TRANSLATIONS / "update.py"))["collect"](fresh)
    assert set(messages(fresh)) == set(messages(SPANISH)), "run resources/translations/update.py"
    unfinished = [
        key for key, translation in messages(fresh).items() if translation.get("type") or not translation.text
    ]
    assert unfinished == []


def test_translations_name_the_same_values_and_shout_at_nobody() -> None:
    for (context, source), translation in messages(SPANISH).items():
        text = translation.text or ""
        assert fields(source) == fields(text), (context, source)
        assert "!" not in source + text
        assert source.strip() == source


def test_the_compiled_file_holds_the_translations(spanish: None) -> None:
    for (context, source), translation in messages(SPANISH).items():
        assert QCoreApplication.translate(context, source) == translation.text


def test_every_message_id_has_a_sentence_with_the_same_values() -> None:
    shown = {name: text for name, text in ENGLISH.items() if not name.startswith(TERMINAL_ONLY)}
    assert set(TEMPLATES) == set(shown)
    for name, template in shown.items():
        assert fields(TEMPLATES[name]) == fields(template), name


def test_sentences_in_spanish(spanish: None) -> None:
    assert sentence(Notice("speculation.on", {"k": 3, "speedup": 1.44})) == "Activa: K 3, 1,4x"
    resting = sentence(Notice("speculation.none", {"reason": "drafter.none"}))
    assert resting == "Desactivada: no se ha elegido quién haga el borrador"


def test_an_unknown_id_is_shown_rather_than_lost() -> None:
    assert sentence(Notice("error.new", {"detail": "why"})) == "error.new why"
    assert sentence(Notice("error.disk", {})).startswith("{folder} needs")


def test_the_window_in_spanish(stage: MakeStage, spanish: None) -> None:
    one = stage()
    one.wait(lambda: one.window.status_bar.state.text() == "listo")
    one.ask()
    assert one.window.composer.button.text() == "Enviar"
    assert "58 tok/s · inicio 0,2 s" in one.page
    assert "autoborrador de 3 bits · K 3" in one.page
    assert "Copiar    Editar    Otra vez    Ramificar" in one.page
