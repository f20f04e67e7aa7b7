"""Joins the models page to jobs, queue, header and chat: what is installed, what is wanted, what is loaded."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QFileDialog, QWidget

from desktop.models import last
from desktop.models.asking import Asking
from desktop.models.fits import Fits
from desktop.models.item import Item, State
from desktop.models.queue import Queue
from desktop.models.unloading import Unloading
from desktop.models.words import size
from desktop.sentences import filled, sentence
from desktop.settings import network
from desktop.settings.network import Environment, NetworkGroup

if TYPE_CHECKING:
    from PySide6.QtCore import QMimeData, QSettings

    from desktop.chat import Chat
    from desktop.header import Header
    from desktop.jobs import Jobs
    from desktop.model_menu import ModelMenu
    from desktop.models.page import ModelsPage
    from desktop.page import Page
    from desktop.pages import Pages
    from desktop.palette import Palette
    from desktop.settings.network import Network
    from inference.events import LoadFailed, Notice

MODELS = "models"
PART = re.compile(r"-\d{5}-of-\d{5}(?=\.gguf$)", re.IGNORECASE)


class Shelf(QObject):
    """`begin` looks for models; until then no process is started. ``reached``: the hub is reached otherwise."""

    reached = Signal()

    def __init__(
        self,
        jobs: Jobs,
        pages: Pages,
        chat: Chat,
        header: Header,
        menu: ModelMenu,
        page: Page,
        settings: QSettings,
        palette: Palette,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._jobs = jobs
        self._pages = pages
        self._chat = chat
        self._header = header
        self._menu = menu
        self._page = page
        self._roles = palette
        self._window = window
        self._entries: list[dict[str, Any]] = []
        self._folders: list[str] = []
        self._offers: dict[str, Any] | None = None
        self._settings = settings
        self._environment = Environment()
        self._environment.apply(network.read(settings))
        self.asking = Asking(jobs, window)
        self.asking.changed.connect(self.refresh)
        self.asking.told.connect(self._say)
        self.queue = Queue(jobs, settings, self)
        self.queue.arrived.connect(self._on_arrived)
        self.queue.listed.connect(self._on_queue)
        self.fits = Fits(jobs, chat, menu, lambda: self._entries, self)
        self.fits.came.connect(self._show_fits)
        pages.offer(MODELS, self._make)
        chat.state_changed.connect(self._show_state)
        chat.loaded.connect(lambda model: last.write(settings, model.model))
        chat.load_failed.connect(self._on_load_failed)
        self.unloading = Unloading(chat, menu, page, lambda: last.read(settings), self._say, self)
        menu.models_wanted.connect(lambda: self.show_models(discover=False))
        menu.hub_wanted.connect(lambda: self.show_models(discover=True))
        page.loading.models_wanted.connect(lambda: self.show_models(discover=True))
        page.welcome.models_wanted.connect(self._on_recommended)
        for part in (page, window):
            part.setAcceptDrops(True)
            part.installEventFilter(self)
        QShortcut(QKeySequence("Ctrl+L"), window, header.model.showMenu)
        QShortcut(QKeySequence("Ctrl+M"), window, lambda: self.show_models(discover=False))

    @property
    def models(self) -> ModelsPage:
        """The page; made when this is first asked for."""
        return cast("ModelsPage", self._pages.page(MODELS))

    def begin(self) -> None:
        """Look for what is installed and what suits this machine."""
        self.refresh()
        job = self._jobs.job("tested")
        job.done.connect(self._on_tested)
        job.start()

    def close(self) -> None:
        """The window closes: what runs ends, and is found paused next time."""
        self.queue.close()
        self._jobs.close()

    def refresh(self) -> None:
        """Look anew for what is installed."""
        job = self._jobs.job("library")
        job.done.connect(self._on_library)
        job.failed.connect(self._tell)
        job.start()

    def show_models(self, *, discover: bool) -> None:
        """Go to the page: to what is installed, or to what can be had."""
        page = self.models
        self._pages.go(MODELS)
        page.say("")
        page.show_tab(page.discover if discover or not self._entries else page.installed)

    def show_downloads(self) -> None:
        """Go to what is being fetched."""
        self._pages.go(MODELS)
        self.models.show_tab(self.models.downloads)

    def load(self, model: str) -> None:
        """Load a model and go to the chat."""
        self._pages.go_back()
        self._page.composer.setFocus()
        self._menu.choose(model)

    def download(self, offer: dict[str, Any]) -> None:
        """Queue a model of the hub."""
        self.queue.add(Item(offer["model"], offer["name"], size=offer["size"] or 0))
        self.show_downloads()

    def bring(self, paths: list[Path]) -> None:
        """Import folders and GGUF files; of the parts of a set the first stands for all."""
        for path in without_later_parts(paths):
            self.queue.add(Item(str(path), path.name, "import"))
        self.show_downloads()

    def remove(self, entry: dict[str, Any]) -> None:
        """Remove an installed model after asking."""
        self.asking.remove(entry, is_listed=entry["kind"] == "model" and entry["folder"] in self._folders)

    def ask_for_folder(self) -> None:
        """Let the user point at a folder in transformers format."""
        dialog = QFileDialog(self._window, self.tr("Folder of a model"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        self._open(dialog)

    def ask_for_file(self) -> None:
        """Let the user point at a GGUF file."""
        dialog = QFileDialog(self._window, self.tr("GGUF file of a model"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.tr("GGUF files (*.gguf)")])
        self._open(dialog)

    def network_group(self) -> NetworkGroup:
        """The fields for how the hub is reached, for the settings."""
        group = NetworkGroup(network.read(self._settings), self._jobs)
        group.begin()
        return group

    def keep_network(self, chosen: Network) -> None:
        """How the hub is reached from the next job on."""
        network.write(self._settings, chosen)
        self._environment.apply(chosen)
        self.reached.emit()

    def apply_palette(self, palette: Palette) -> None:
        """Other colours."""
        self._roles = palette
        made = self._pages.made(MODELS)
        if made is not None:
            cast("ModelsPage", made).apply_palette(palette)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A model's folder or GGUF file may be dropped anywhere; other files are for the message."""
        if isinstance(event, QDropEvent) and (paths := models_in(event.mimeData())):
            event.acceptProposedAction()
            if not isinstance(event, QDragEnterEvent) and event.type() == QEvent.Type.Drop:
                self.bring(paths)
            return True
        return super().eventFilter(watched, event)

    # Within

    def _make(self) -> ModelsPage:
        from desktop.models.discover import Discover
        from desktop.models.downloads import Downloads
        from desktop.models.installed import Installed
        from desktop.models.page import ModelsPage

        installed = Installed(self._roles, self._window)
        discover = Discover(self._jobs, self._roles, self._here, self._is_coming, self._window)
        downloads = Downloads(self.queue, self._roles, self._window)
        page = ModelsPage(installed, discover, downloads, self._roles, self._window)
        page.back_wanted.connect(self._go_back)
        for part in (installed, discover, downloads):
            part.load_wanted.connect(self.load)
        installed.unload_wanted.connect(self.unloading.unload)
        installed.import_wanted.connect(lambda path: self.bring([Path(path)]))
        installed.remove_wanted.connect(self.remove)
        installed.trust_wanted.connect(
            lambda entry: self.asking.trust(str(entry["model"]), entry["name"], lambda: None)
        )
        installed.folder_wanted.connect(self.ask_for_folder)
        installed.file_wanted.connect(self.ask_for_file)
        discover.download_wanted.connect(self.download)
        installed.show_entries(self._entries)
        installed.watched.connect(self.fits.watch)
        if self._offers is not None:
            discover.show_tested(self._offers["models"], self._offers["recommended"], self._offers["room"])
        page.apply_palette(self._roles)
        installed.show_state(*self._state())
        downloads.refresh()
        return page

    def _go_back(self) -> None:
        self._pages.go_back()
        self._page.composer.setFocus()

    def _made(self) -> ModelsPage | None:
        return cast("ModelsPage | None", self._pages.made(MODELS))

    def _state(self) -> tuple[str, str]:
        """What is loaded and what is being loaded."""
        chat = self._chat
        return (chat.model.model if chat.model else "", self._menu.choice.model if chat.is_loading else "")

    def _show_state(self) -> None:
        loaded, loading = self._state()
        if loading:
            self._header.show_loading(loading)
        else:
            self._header.show_model(self._chat.model.name if self._chat.model is not None else "")
        self._menu.show_models(self._entries, loaded or loading)
        page = self._made()
        if page is not None:
            page.installed.show_state(loaded, loading)

    def _show_fits(self) -> None:
        page = self._made()
        if page is not None:
            page.installed.show_fits(self.fits.found, self.fits.cards)

    def _on_library(self, event: dict[str, Any]) -> None:
        self._entries = [entry for entry in event["models"] if entry["kind"] != "draft"]
        self._folders = event["folders"]
        self._menu.show_models(self._entries, next(filter(None, self._state()), ""))
        page = self._made()
        if page is not None:
            page.installed.show_entries(self._entries)
            self.fits.look()
            page.discover.refresh()
        self._show_recommended()

    def _on_tested(self, event: dict[str, Any]) -> None:
        self._offers = event
        page = self._made()
        if page is not None:
            page.discover.show_tested(event["models"], event["recommended"], event["room"])
        self._show_recommended()

    def _recommended(self) -> dict[str, Any] | None:
        """The model for this machine, unless it is here."""
        if self._offers is None:
            return None
        wanted = self._offers["recommended"]
        found = next((one for one in self._offers["models"] if one["repository"] == wanted), None)
        return None if found is None or self._here(found) else found

    def _show_recommended(self) -> None:
        offer = self._recommended()
        is_small = offer is not None and all(entry["source"] == "starter" for entry in self._entries)
        words = ""
        if offer is not None and is_small:
            words = filled(
                self.tr("Recommended for this machine: {name}, {size}"), name=offer["name"], size=size(offer["size"])
            )
        self._page.welcome.show_recommended(words)

    def _on_recommended(self) -> None:
        self.show_models(discover=True)
        offer = self._recommended()
        row = self.models.discover.rows.row(offer["repository"]) if offer is not None else None
        if row is not None and row.buttons():
            row.buttons()[0].setFocus()
            self.models.discover.rows.ensureWidgetVisible(row)

    def _on_queue(self) -> None:
        page = self._made()
        if page is not None:
            page.discover.refresh()

    def _on_arrived(self, item: Item) -> None:
        self.refresh()
        words = filled(self.tr("{name} is here."), name=item.name)
        self._page.notice.say(words, self.tr("Load"), lambda: self.load(item.model))

    def _here(self, offer: dict[str, Any]) -> str:
        """What an offer that is installed is chosen by; empty when it is not here."""
        return next(
            (
                str(entry["model"]) for entry in self._entries
                if entry["ready"] and entry["source"] == "hub" and entry["name"] == offer["repository"]
            ),
            "",
        )  # fmt: skip

    def _is_coming(self, offer: dict[str, Any]) -> bool:
        ended = (State.DONE, State.FAILED)
        return any(item.source == offer["model"] and item.state not in ended for item in self.queue.items)

    def _on_load_failed(self, event: LoadFailed) -> None:
        """A model that needs code of its own can be loaded after a yes; the page says the rest."""
        if event.notice.id == "error.remote_code":
            model = self._menu.choice.model
            self.asking.trust(model, str(event.notice.values["model"]), lambda: self._menu.choose(model))

    def _tell(self, notice: Notice) -> None:
        page = self._made()
        if page is not None:
            page.say(sentence(notice))

    def _say(self, words: str) -> None:
        """Where the user is: on the page, or in the chat."""
        if self._pages.is_chat:
            self._page.notice.say(words)
        else:
            self.models.say(words)

    def _open(self, dialog: QFileDialog) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self.bring([Path(name)]))
        dialog.open()


def without_later_parts(paths: list[Path]) -> list[Path]:
    """Of files that are parts of one set only the first that was given."""
    found: dict[Path, Path] = {}
    for path in sorted(paths):
        found.setdefault(path.with_name(PART.sub("", path.name)), path)
    return [path for path in paths if path in found.values()]


def models_in(data: QMimeData) -> list[Path]:
    """What of dropped files is a model: GGUF files, and folders with a configuration."""
    paths = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    return [path for path in paths if path.suffix.lower() == ".gguf" or (path / "config.json").is_file()]
