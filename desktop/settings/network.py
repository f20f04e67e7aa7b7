"""How the hub is reached: endpoint, proxy, offline switch, token. Kept by QSettings, handed to jobs by the environment.

The token is not kept here: a job puts it where only the user can read it, and takes it by standard input.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QFormLayout, QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from desktop.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtCore import QSettings
    from PySide6.QtGui import QKeyEvent

    from desktop.jobs import Jobs
    from inference.events import Notice

ENDPOINT = "HF_ENDPOINT"
OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY")
TRUE = ("1", "ON", "YES", "TRUE")
"""As the hub's client reads its variables."""


@dataclass(frozen=True, slots=True)
class Network:
    """Empty texts leave to the system what it has."""

    endpoint: str = ""
    proxy: str = ""
    offline: bool = False

    def environment(self) -> dict[str, str]:
        """What it adds to the environment that the program was started with."""
        found = {}
        if self.endpoint:
            found[ENDPOINT] = self.endpoint
        if self.proxy:
            found |= dict.fromkeys((*PROXIES, *map(str.lower, PROXIES)), self.proxy)
        if self.offline:
            found |= dict.fromkeys(OFFLINE, "1")
        return found


class Environment:
    """The environment that jobs inherit: what the program was started with, and over it what is set."""

    def __init__(self) -> None:
        names = (ENDPOINT, *OFFLINE, *PROXIES, *map(str.lower, PROXIES))
        self._before = {name: os.environ.get(name) for name in names}

    def apply(self, network: Network) -> None:
        """For every job that is started from now on."""
        wanted: Mapping[str, str | None] = {**self._before, **network.environment()}
        for name, value in wanted.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def is_offline() -> bool:
    """Whether the hub's client makes no connection: by the switch, or by what the program was started with."""
    told = next(filter(None, map(os.environ.get, OFFLINE)), "")
    return told.upper() in TRUE


def read(settings: QSettings) -> Network:
    """What is stored."""
    return Network(
        str(settings.value("endpoint", "")),
        str(settings.value("proxy", "")),
        str(settings.value("offline", False)).lower() == "true",
    )


def write(settings: QSettings, network: Network) -> None:
    """Store it."""
    for name, value in (("endpoint", network.endpoint), ("proxy", network.proxy), ("offline", network.offline)):
        settings.setValue(name, value)
    settings.sync()


class NetworkGroup(QWidget):
    """The fields. `network` is what they say; the token goes its own way, at once."""

    def __init__(self, network: Network, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self.offline = QCheckBox(self.tr("Offline: never connect to the hub"), self)
        self.offline.setObjectName("box")
        self.offline.setChecked(network.offline)
        self.endpoint = QLineEdit(network.endpoint, self)
        self.endpoint.setPlaceholderText("https://huggingface.co")
        self.proxy = QLineEdit(network.proxy, self)
        self.proxy.setPlaceholderText(self.tr("as the system has it"))
        self.token = _Token(self)
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.token.setPlaceholderText("hf_…")
        self.keep = QPushButton(self.tr("Keep"), self)
        self.forget = QPushButton(self.tr("Forget"), self)
        self.said = QLabel(self)
        self.said.setObjectName("quiet")
        self.said.setWordWrap(True)
        self.token.returnPressed.connect(self._on_keep)
        self.keep.clicked.connect(self._on_keep)
        self.forget.clicked.connect(lambda: self._ask("forget"))
        for button in (self.keep, self.forget):
            button.setAutoDefault(False)
        self.keep.setAccessibleName(self.tr("Keep the token"))
        self.forget.setAccessibleName(self.tr("Forget the token"))
        row = QHBoxLayout()
        row.setSpacing(8)
        for part in (self.token, self.keep, self.forget):
            row.addWidget(part)
        rows = QFormLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(12)
        rows.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        rows.addRow(self.offline)
        for words, field in ((self.tr("Address of the hub"), self.endpoint), (self.tr("Proxy"), self.proxy)):
            field.setAccessibleName(words)
            rows.addRow(words, field)
        self.token.setAccessibleName(self.tr("Token of the hub"))
        rows.addRow(self.tr("Token of the hub"), row)
        rows.addRow(self.said)

    def begin(self) -> None:
        """Look where the token is."""
        self._ask("place")

    def network(self) -> Network:
        """What the fields say."""
        return Network(self.endpoint.text().strip().rstrip("/"), self.proxy.text().strip(), self.offline.isChecked())

    def _on_keep(self) -> None:
        typed = self.token.text().strip()
        if typed:
            self.token.clear()
            self._ask("keep", typed + "\n")

    def _ask(self, what: str, typed: str = "") -> None:
        job = self._jobs.job("token", what, typed=typed)
        job.done.connect(self._on_place)
        job.failed.connect(self._on_failed)
        job.start()

    def _on_place(self, event: dict[str, Any]) -> None:
        self.said.setText({
            "environment": self.tr("The token of HF_TOKEN is used."),
            "keyring": self.tr("A token is kept in the system's keyring."),
            "file": self.tr("A token is kept in a file that only you can read."),
            "client": self.tr("The token that the hub's own program keeps is used."),
            "none": self.tr("There is no token; only models that ask for none can be fetched."),
        }.get(str(event["place"]), ""))  # fmt: skip

    def _on_failed(self, notice: Notice) -> None:
        self.said.setText(sentence(notice))


class _Token(QLineEdit):
    """Enter keeps the token; it does not close the dialog as well."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
