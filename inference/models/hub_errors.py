"""What the hub's refusals and failures mean, as Problems: one sentence each, told apart by cause.

Never repeats a token, a URL's query or a library's text at length.
"""

from __future__ import annotations

import errno
import re
import ssl
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import huggingface_hub
from huggingface_hub import constants, errors

from inference.messages import Problem
from inference.models.folders import hub_cache, nearest_existing
from inference.models.hub_token import hidden

if TYPE_CHECKING:
    from collections.abc import Iterator

TRANSPORT = cast("type[Exception]", errors.HfHubHTTPError.__mro__[1])
"""Base of the transport's own errors (no answer at all), whichever HTTP library this client is built on."""


def as_problem(error: BaseException, repository: str, revision: str | None) -> Problem:
    """The Problem for whatever the hub's client raised; the first cause that is understood counts."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Problem("error.certificate", detail=cause.verify_message or "it does not verify")
    for cause in causes:
        found = _understood(cause, repository, revision)
        if found is not None:
            return found
    return Problem("error.hub", detail=_short(error))


def seconds_to_wait(error: errors.HfHubHTTPError) -> int | None:
    """How long a busy hub (429) asks to wait: its own word, else 30 seconds; None for any other answer.

    Its word is Retry-After, in seconds or as a date (RFC 9110, 10.2.3), or the t of RateLimit (the IETF's draft).
    """
    if error.response.status_code != 429:
        return None
    word = error.response.headers.get("Retry-After", "")
    if word.isdigit():
        return int(word)
    if match := re.search(r"\bt=(\d+)", error.response.headers.get("RateLimit", "")):
        return int(match[1])
    try:
        return max(1, round(parsedate_to_datetime(word).timestamp() - time.time()))
    except ValueError:
        return 30


def proxy() -> str:
    """The proxy that requests to the hub go through, without the password in it; empty for none."""
    address = urlsplit(constants.ENDPOINT)
    if proxy_bypass(address.hostname or ""):
        return ""
    proxies = getproxies()
    found = urlsplit(proxies.get(address.scheme) or proxies.get("all") or "")
    return f"{found.hostname}:{found.port}" if found.port else found.hostname or ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came from, each once."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _understood(error: BaseException, repository: str, revision: str | None) -> Problem | None:
    if isinstance(error, errors.OfflineModeIsEnabled):
        return Problem("error.offline", model=repository)
    if isinstance(error, errors.HFValidationError):
        return Problem("error.model_not_found", model=repository)
    if isinstance(error, errors.HfHubHTTPError):
        return _refusal(error, repository, revision)
    if isinstance(error, TRANSPORT):
        between = proxy()
        if between and type(error).__name__ in ("ProxyError", "ConnectError", "ConnectTimeout"):
            return Problem("error.proxy", proxy=between, detail=_short(error))
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
    if status == 407:
        return Problem("error.proxy", proxy=proxy(), detail="it wants a name and a password")
    if status == 429:
        return Problem("error.rate_limit")
    return Problem("error.hub", detail=f"{status} {error.response.reason_phrase}".strip())


def _short(error: BaseException) -> str:
    first = (str(error).strip().splitlines() or [""])[0].split("?")[0]
    return hidden(first)[:120].rstrip(".") or type(error).__name__
