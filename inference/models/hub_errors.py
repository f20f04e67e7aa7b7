"""What the hub's refusals and failures mean, as Problems: one sentence each, told apart by cause.

Never repeats a token, a URL's query or a library's text at length.
"""

from __future__ import annotations

import errno
from typing import cast

import huggingface_hub
from huggingface_hub import constants, errors

from inference.messages import Problem
from inference.models.folders import hub_cache, nearest_existing

TRANSPORT = cast("type[Exception]", errors.HfHubHTTPError.__mro__[1])
"""Base of the transport's own errors (no answer at all), whichever HTTP library this client is built on."""


def as_problem(error: BaseException, repository: str, revision: str | None) -> Problem:
    """The Problem for whatever the hub's client raised; the first cause that is understood counts."""
    cause: BaseException | None = error
    while cause is not None:
        found = _understood(cause, repository, revision)
        if found is not None:
            return found
        cause = cause.__cause__
    return Problem("error.hub", detail=_short(error))


def seconds_to_wait(error: errors.HfHubHTTPError) -> int | None:
    """How long a busy hub (429) asks to wait: its own word, else 30 seconds; None for any other answer."""
    if error.response.status_code != 429:
        return None
    word = error.response.headers.get("Retry-After", "")
    return int(word) if word.isdigit() else 30


def _understood(error: BaseException, repository: str, revision: str | None) -> Problem | None:
    if isinstance(error, errors.OfflineModeIsEnabled):
        return Problem("error.offline", model=repository)
    if isinstance(error, errors.HFValidationError):
        return Problem("error.model_not_found", model=repository)
    if isinstance(error, errors.HfHubHTTPError):
        return _refusal(error, repository, revision)
    if isinstance(error, TRANSPORT):
        return Problem("error.network", detail=_short(error))
    if isinstance(error, OSError):
        if error.errno in (errno.ENOSPC, errno.EDQUOT if hasattr(errno, "EDQUOT") else errno.ENOSPC):
            return Problem("error.disk_full", folder=str(hub_cache()))
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            folder = error.filename or nearest_existing(hub_cache())
            return Problem("error.permission", folder=str(folder), detail=error.strerror or "refused")
    return None


def _refusal(error: errors.HfHubHTTPError, repository: str, revision: str | None) -> Problem:
    status = error.response.status_code
    page = f"{constants.ENDPOINT}/{repository}"
    signed_in = huggingface_hub.get_token() is not None
    if isinstance(error, errors.GatedRepoError):
        return Problem("error.gated" if signed_in else "error.sign_in", model=repository, page=page)
    if isinstance(error, errors.RevisionNotFoundError):
        return Problem("error.revision_not_found", model=repository, revision=revision or constants.DEFAULT_REVISION)
    if status == 401 and signed_in and not isinstance(error, errors.RepositoryNotFoundError):
        return Problem("error.token")
    if status in (401, 404) or isinstance(error, errors.RepositoryNotFoundError):
        return Problem("error.repo_not_found", model=repository)
    if status == 403:
        return Problem("error.forbidden", model=repository)
    if status == 429:
        return Problem("error.rate_limit")
    return Problem("error.hub", detail=f"{status} {error.response.reason_phrase}".strip())


def _short(error: BaseException) -> str:
    first = (str(error).strip().splitlines() or [""])[0].split("?")[0]
    return first[:120].rstrip(".") or type(error).__name__
