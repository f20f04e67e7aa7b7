"""A build killed at any moment, of writing texts, quantizing, measuring and keeping, leaves a whole twin or none."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

from inference.decoder import JOINED, Decoder, pack
from inference.drafters.none import NoDrafter
from inference.drafters.twin import TwinDrafter
from inference.kv_cache import KVCache
from inference.model import load_text_model
from inference.quantize import kept
from inference.text.template import ChatTemplate
from inference.twins import TwinMaker
from tests.inference.models.folders_for_tests import whole_model
from tests.inference.models_for_tests import CPU, FixedK, engine_for, write

if TYPE_CHECKING:
    from inference.drafters.base import Drafter

CHILD = Path(__file__).with_name("building_child.py")


def maker_of(folder: Path) -> TwinMaker:
    model = load_text_model(folder, "tiny", torch.float32, CPU, is_filled_later=lambda _: True)
    list(pack(model.model, model.weights))
    forward, template = Decoder(model.model), ChatTemplate(model.tokenizer, "tiny")
    return TwinMaker(model, folder, template, frozenset(), forward, Decoder, JOINED, KVCache(512, 64), "affine4")


def text(maker: TwinMaker, *, drafts: bool) -> list[int]:
    """What the model writes, with the kept twin drafting or alone."""
    engine: Any = engine_for(maker.forward)
    drafter: Drafter = NoDrafter()
    if drafts:
        assert maker.load() is not None
        assert maker.twin_forward is not None
        drafter = TwinDrafter(maker.twin_forward, engine.cache, CPU)
    planner = FixedK(3 if drafts else 0)
    written = write(engine, [5, 80, 31, 12], drafter, planner, count=24)
    assert any(outcome.tested for outcome in planner.outcomes) == drafts
    return list(written)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is of POSIX")
def test_killed_at_twenty_random_moments_of_building(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, folder = tmp_path / "model", tmp_path / "twins"
    whole_model(model, tie_word_embeddings=True)
    monkeypatch.setattr(kept, "folder", lambda: folder)
    generator = random.Random(4)
    command = [sys.executable, str(CHILD), str(model), str(folder)]
    found = killed = 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        steps = None
        for number in range(21):
            child.stdin.write("go\n")
            child.stdin.flush()
            process = int(child.stdout.readline())
            if steps is None:  # the first one is let finish, to know how many steps there are
                steps = 0
                while child.stdout.readline() != "kept\n":
                    steps += 1
            else:
                # Every second one near the end, where it is measured and kept.
                last = steps + 1 if number % 2 else generator.randrange(steps)
                for _ in range(last - generator.randrange(3) if number % 2 else last):
                    child.stdout.readline()
                killed += 1
            os.kill(process, signal.SIGKILL)
            while child.stdout.readline() != "ended\n":
                pass
            maker = maker_of(model)
            found += maker.load() is not None
            assert not list(folder.glob("*" + kept.DAMAGED)), "a file is whole or not there"
            for place, _ in kept.records():
                if number < 20:
                    place.unlink()
        child.stdin.close()
    assert killed == 20
    assert 1 <= found < 21
    for _ in maker.make(quick=True, is_cancelled=lambda: False):
        pass
    assert not list(folder.glob("*" + kept.PART)), "what was killed is cleared away"


def test_a_damaged_twin_is_made_anew_and_the_text_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, folder = tmp_path / "model", tmp_path / "twins"
    whole_model(model, tie_word_embeddings=True)
    monkeypatch.setattr(kept, "folder", lambda: folder)
    maker = maker_of(model)
    alone = text(maker, drafts=False)
    for _ in maker.make(quick=True, is_cancelled=lambda: False):
        pass
    assert text(maker, drafts=True) == alone
    ((place, record),) = kept.records()
    damaged = bytearray(place.read_bytes())
    damaged[-100] ^= 4
    place.write_bytes(damaged)
    assert maker.load() is None
    assert [path.name for path in folder.glob("*" + kept.DAMAGED)] == [place.name + kept.DAMAGED]
    for _ in maker.make(quick=True, is_cancelled=lambda: False):
        pass
    assert kept.records()[0][1].sha256 == record.sha256
    assert text(maker, drafts=True) == alone
