"""The hub's token: kept in the system's keyring, where there is none in a file that only the user can read.

``lend`` puts it where the hub's client looks, inside the job that needs it, so that it is on no command line and in no
environment that was handed on. It is never printed; ``hidden`` takes it out of whatever is.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from inference.messages import Problem
from inference.models.folders import data_folder, writable

if TYPE_CHECKING:
    from pathlib import Path

SERVICE = "borrador"
USER = "hub"
VARIABLE = "HF_TOKEN"


def file() -> Path:
    """Where the token lies when there is no keyring."""
    return data_folder() / "hub-token"


def read() -> str | None:
    """The stored token, None without one."""
    found = _from_keyring()
    if found is None:
        try:
            found = file().read_text(encoding="ascii").strip() or None
        except (OSError, ValueError):
            return None
    return found


def write(token: str) -> str:
    """Keep the token; ``keyring`` or ``file``, wherever that is. Problems: not a token, no permission."""
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise Problem("error.token_form")
    remove()
    import keyring
    from keyring.errors import KeyringError

    if keyring.get_keyring().priority > 0:
        try:
            keyring.set_password(SERVICE, USER, token)
            return "keyring"
        except KeyringError:  # locked, or the desktop's service is gone: the file will do
            pass
    path = writable(data_folder()) / file().name
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as stream:
        stream.write(token)
    part.replace(path)
    return "file"


def remove() -> None:
    """Forget the token, wherever it is."""
    import keyring
    from keyring.errors import KeyringError

    if _from_keyring() is not None:
        try:
            keyring.delete_password(SERVICE, USER)
        except KeyringError as error:
            raise Problem("error.permission", folder="the keyring", detail=type(error).__name__) from error
    file().unlink(missing_ok=True)


def place() -> str:
    """Where the token the client would use comes from: environment, keyring, file, client (its own file), or none."""
    if os.environ.get(VARIABLE):
        return "environment"
    if _from_keyring() is not None:
        return "keyring"
    if read() is not None:
        return "file"
    import huggingface_hub

    return "client" if huggingface_hub.get_token() else "none"


def lend() -> None:
    """Let the hub's client of this process find the stored token; one in the environment goes before."""
    if not os.environ.get(VARIABLE) and (token := read()):
        os.environ[VARIABLE] = token


def hidden(text: str) -> str:
    """``text`` without the token that this process uses."""
    token = os.environ.get(VARIABLE)
    return text.replace(token, "…") if token else text


def _from_keyring() -> str | None:
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(SERVICE, USER) if keyring.get_keyring().priority > 0 else None
    except KeyringError:
        return None
