"""The composition root: application, translation, colours, worker and window are made here and end here."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

import platformdirs
from PySide6.QtCore import QLibraryInfo, QLocale, QSettings, QTranslator
from PySide6.QtWidgets import QApplication

from desktop.icons import mark
from desktop.interrupts import Interrupts
from desktop.main_window import MainWindow
from desktop.models import last
from desktop.palette import Palette, palette_for, qt_palette
from desktop.resources import TRANSLATIONS
from desktop.settings import preferences
from desktop.settings.cards import cards, on_card
from desktop.store import Store
from desktop.worker import Worker, engine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtCore import Qt

    from desktop.single_instance import SingleInstance
    from desktop.worker import Session
    from inference.settings import ModelChoice, Speculation

PATIENCE_MS = 500
"""So long the engine's thread may take to end after the window is gone."""


def look_for_cycles() -> None:
    """From now on, after the start (__main__). What is there by then stays and is not looked at again.

    With 10,000 chats a look at all of it took 30 to 40 ms, in the midst of opening one.
    """
    gc.freeze()
    gc.enable()


def run(
    choice: ModelChoice,
    speculation: Speculation,
    make_session: Callable[[], Session] = engine,
    *,
    is_named: bool = True,
) -> int:
    """Show the window until it is closed; the exit status. A model that is not ``is_named`` gives way to the last."""
    app = QApplication(sys.argv[:1])
    app.setApplicationName("Borrador")
    app.setOrganizationName("Borrador")
    app.setDesktopFileName("borrador")
    app.setStyle("Fusion")
    app.setWindowIcon(mark())
    folder = platformdirs.user_data_path("borrador", appauthor=False)
    instance = single_instance(folder)
    if instance is not None and not instance.is_first():
        return 0
    install_translation(app, QLocale())
    hints = app.styleHints()
    palette = palette_for(hints.colorScheme())
    app.setPalette(qt_palette(palette))
    worker = Worker(make_session)
    settings = QSettings()
    if not is_named:
        choice = last.chosen(settings, choice)
    if card := preferences.read(settings).card:
        choice = on_card(choice, card, cards())
    window = MainWindow(worker, choice, speculation, palette, settings, Store(folder))
    if instance is not None:
        instance.asked.connect(window.come_forward)

    def on_scheme(scheme: Qt.ColorScheme) -> None:
        apply_palette(app, window, palette_for(scheme))

    hints.colorSchemeChanged.connect(on_scheme)
    window.appeared.connect(look_for_cycles)
    window.appeared.connect(worker.start)
    window.appeared.connect(window.shelf.begin)
    window.closed.connect(app.quit)
    interrupts = Interrupts(window.close, app)
    window.resize(window.sizeHint().boundedTo(app.primaryScreen().availableSize()))
    window.show()
    window.load(choice)
    status = app.exec()
    worker.close()
    if instance is not None:
        instance.close()
    if not worker.has_ended(PATIENCE_MS):
        # The thread is inside a call that nothing can interrupt (importing torch, reading weights). Everything worth
        # keeping is already written; waiting would leave a dead process behind, and destroying a running thread aborts.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    interrupts.close()
    hints.colorSchemeChanged.disconnect(on_scheme)
    return status


def single_instance(folder: Path) -> SingleInstance | None:
    """What tells whether another Borrador shows this history; None where Qt's network part lacks its libraries."""
    try:
        from desktop.single_instance import SingleInstance as Instance
    except ImportError:  # it needs those of Kerberos; SQLite's own locks still keep two programs apart
        return None
    return Instance(folder)


def apply_palette(app: QApplication, window: MainWindow, palette: Palette) -> None:
    """Other colours, for Qt's own parts and for ours."""
    app.setPalette(qt_palette(palette))
    window.apply_palette(palette)


def install_translation(app: QApplication, locale: QLocale) -> bool:
    """Let the program speak the language of ``locale``; True if there is a translation (the source is English)."""
    QLocale.setDefault(locale)
    for name, folder in (
        ("qtbase", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)),
        ("borrador", str(TRANSLATIONS)),
    ):
        translator = QTranslator(app)
        found = translator.load(locale, name, "_", folder)
        if found:
            app.installTranslator(translator)
    return found
