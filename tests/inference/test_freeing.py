"""What loading does to Python's memory, and takes back."""

from __future__ import annotations

import gc
import threading
from typing import TYPE_CHECKING, Any

import pytest

from inference import freeing
from inference.session import Session
from inference.settings import ModelChoice

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_no_cycles_are_looked_for_meanwhile_and_are_again_afterwards() -> None:
    assert gc.isenabled()
    with pytest.raises(ImportError), freeing.uncollected():
        assert not gc.isenabled()
        raise ImportError
    assert gc.isenabled()


def test_a_caller_who_turned_the_search_off_keeps_it_off() -> None:
    gc.disable()
    try:
        with freeing.uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_load_itself_frees_objects_in_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only imports go without: a load makes and drops much."""
    seen: list[bool] = []

    def prepare(*_: Any) -> Iterator[Any]:
        seen.append(gc.isenabled())
        raise OSError("enough")
        yield

    monkeypatch.setattr("inference.loading.prepare", prepare)
    list(Session().load(ModelChoice("tiny"), threading.Event()))
    assert seen == [True]
