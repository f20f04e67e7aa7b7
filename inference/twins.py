"""From a loaded model to its twin: kept on disk, or made, measured and kept. The chat can go on meanwhile.

``make`` is a generator that gives way between layers. Without a recipe named, the one that is fastest here is taken,
by measured costs. Knows formats by name only, and nothing of replies.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psutil
import torch

from inference import freeing
from inference.drafters.offered import Offer
from inference.drafters.twin import TwinDrafter
from inference.events import Bits, Notice, Problem, TwinProgress
from inference.measure import draft_step_ms
from inference.native import products
from inference.quantize import choice, costs, kept
from inference.quantize.agreement import agreement
from inference.quantize.build import assemble, quantize_matrices
from inference.quantize.cpu_kernel import available
from inference.quantize.nf4 import RESIDENT_BITS as NF4_BITS
from inference.quantize.recipes import AUTO, RECIPES
from inference.quantize.texts import ANSWERS, PROMPTS, Text, write_texts
from inference.quantize.triton_launch import trouble
from inference.settings import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from pathlib import Path

    from inference.kv_cache import KVCache
    from inference.model import Forward, TextModel
    from inference.quantize.build import Twin
    from inference.quantize.choice import Choice
    from inference.quantize.kept import Record
    from inference.quantize.pack import Packed
    from inference.text.template import ChatTemplate

WRITING = 0.4
"""Share of a calibrated build that writing the texts takes."""

DRAWS = 2
"""Texts that the model writes to each prompt: twice the text lifts acceptance by one to three points."""

MEASURED = 8
"""One text of so many is kept back, and the finished twin is measured on it."""


@dataclass(slots=True)
class TwinMaker:
    """Of one loaded model. ``model`` may be packed already; ``joined`` names its joined matrices.

    ``recipe`` auto becomes the fastest one at the first use, and ``choice`` says what it was chosen from.
    """

    model: TextModel
    folder: Path
    template: ChatTemplate
    ends: frozenset[int]
    forward: Forward
    forward_of: Callable[[Any], Forward]
    joined: Mapping[str, tuple[str, ...]]
    cache: KVCache
    recipe: str
    texts: list[Text] = field(default_factory=list)
    record: Record | None = field(default=None, init=False)
    choice: Choice | None = field(default=None, init=False)
    twin_forward: Forward | None = field(default=None, init=False)

    @property
    def measures_first(self) -> bool:
        """Whether the next use takes a second or two: no recipe is named, and what they cost here is not known."""
        return self.recipe == AUTO and costs.load(self._costs_key(), choice.CANDIDATES) is None

    @property
    def wants_better(self) -> bool:
        """Whether a better twin could be made than the one in use: there is none, a quick one, or another recipe's."""
        return self.record is None or not self.record.calibrated or self.record.recipe != self.recipe

    def choose(self, *, quick: bool) -> None:
        """Settle on a recipe where none is named, for twins that are ``quick`` to make or not."""
        if self.recipe != AUTO:
            return
        name, source = self._costs_key(), kept.source_of(self.folder)
        found = costs.load(name, choice.CANDIDATES)
        if found is None:
            found = self._measured_costs()
            costs.save(name, found)
        records = {(one.recipe, one.calibrated): one for _, one in kept.records() if one.source == source}
        too_large = [recipe for recipe in choice.CANDIDATES if self._lack(recipe) is not None]
        self.choice = choice.choose(found, records, too_large, calibrated=not quick)
        self.recipe = self.choice.recipe
        costs.tell(name, self.model.name, self.model.device.type, source, self.choice)

    def forget(self) -> None:
        """Let go of the twin that was made or loaded last."""
        self.twin_forward = None
        self.record = None

    def load(self, *, later: bool = False) -> Offer | None:
        """The kept twin, calibrated if there is such a one; None when there is none or it does not fit the model.

        Where a better one will be made ``later``, another recipe's does until then if none was named.
        """
        self.choose(quick=not later)
        others = self.choice.candidates if later and self.choice is not None else ()
        names = dict.fromkeys([self.recipe, *(one.recipe for one in others if one.fits)])
        return next((offer for name in names if (offer := self._loaded(name)) is not None), None)

    def _loaded(self, recipe: str) -> Offer | None:
        source = kept.source_of(self.folder)
        for calibrated in (True, False):
            found = kept.load(source, recipe, calibrated=calibrated)
            if found is not None:
                matrices, record = found
                try:
                    twin = assemble(self.model.model, matrices, self.joined, keeps=False)
                except (KeyError, RuntimeError) as error:
                    if freeing.is_out_of_memory(error):
                        raise
                    continue
                self.record = record
                freeing.trim()
                return self._offer(twin)
        return None

    def make(self, *, quick: bool, is_cancelled: Callable[[], bool]) -> Generator[TwinProgress, None, Offer]:
        """Make a twin, measure and keep it; yields progress. Raises Problem; ValueError for a model without matrices.

        A quick one reads built-in answers and rounds to the nearest levels; otherwise the model writes texts, and
        errors are fed back. One that cannot be kept is used all the same, and a last notice says why it is not kept.
        """
        self.choose(quick=quick)
        begun = time.perf_counter()
        recipe = RECIPES[self.recipe]
        self._check_memory()

        def progress(id: str, fraction: float, done: int, total: int) -> TwinProgress:
            if is_cancelled():
                raise Problem("error.cancelled")
            spent = time.perf_counter() - begun
            left = spent / fraction * (1 - fraction) if fraction > 0.02 else 0.0
            return TwinProgress(Notice(id, {"done": done, "total": total, "left": left}), fraction)

        texts = self._answers()
        written = 0.0
        if not quick and self.texts:
            texts = self.texts
        elif not quick:
            written = WRITING
            prompts = [self.template.encode([Message("user", prompt)]).ids for prompt in PROMPTS] * DRAWS
            writing = write_texts(self.forward, prompts, self.ends, self.model.device)
            while True:
                try:
                    done, total = next(writing)
                except StopIteration as end:
                    texts = self.texts = end.value
                    break
                yield progress("twin.texts", WRITING * done / total, done, total)
        read: list[Text] = []
        measured: list[Text] = []
        for number, text in enumerate(texts):
            if len(text.ids) > text.begin:
                (read if number % len(PROMPTS) % MEASURED else measured).append(text)
        work = quantize_matrices(self.model.model, read or measured, self.joined, recipe, feedback=not quick)
        while True:
            try:
                step = next(work)
            except StopIteration as end:
                matrices: dict[str, Packed] = end.value
                break
            yield progress("load.twin", written + (1 - written) * step.fraction, step.done, step.total)
        twin = assemble(self.model.model, matrices, self.joined)
        yield progress("twin.measuring", 1.0, 1, 1)
        offer = self._offer(twin)
        assert self.twin_forward is not None
        agreed, tokens = agreement(self.forward, self.twin_forward, measured, self.model.device)
        record = kept.Record(
            model=self.model.name,
            source=kept.source_of(self.folder),
            recipe=self.recipe,
            calibrated=not quick,
            level_bits=twin.level_bits,
            packed_bits=twin.packed_bits,
            bytes=twin.bytes,
            build_seconds=time.perf_counter() - begun,
            acceptance=agreed / tokens if tokens else None,
            tokens=tokens,
        )
        self.record = record
        try:
            kept.save(matrices, record)
        except Problem as problem:
            yield TwinProgress(problem.notice, 1.0)
        return offer

    def of(self, recipe: str) -> TwinMaker:
        """Another recipe's maker for the same model, which reads the same texts."""
        parts = (self.model, self.folder, self.template, self.ends, self.forward, self.forward_of, self.joined)
        return TwinMaker(*parts, self.cache, recipe, self.texts)

    def needed_bytes(self) -> int:
        """About what the packed twin takes, on disk and in memory."""
        return self._bytes_of(self.recipe)

    def _bytes_of(self, recipe: str) -> int:
        return int(self.model.parameters * RECIPES[recipe].others.packed_bits / 8 * 1.1)

    def _offer(self, twin: Twin) -> Offer:
        forward = self.twin_forward = self.forward_of(twin.model)
        bits = Bits(twin.level_bits, twin.packed_bits, twin.resident_bits)
        on_card = getattr(forward, "drafter_of", None)
        if on_card is not None:
            drafter, step_ms = on_card()
            return Offer(drafter, step_ms, bits)
        drafter = TwinDrafter(forward, self.cache, self.model.device)
        return Offer(drafter, draft_step_ms(forward, self.model.device), bits)

    def _answers(self) -> list[Text]:
        """The built-in questions and answers in this model's template."""
        found = []
        for question, answer in ANSWERS:
            begin = len(self.template.encode([Message("user", question)]).ids)
            ids = self.template.encode([Message("user", question), Message("assistant", answer)]).ids
            found.append(Text(tuple(ids), min(begin, len(ids) - 1)))
        return found

    def _check_memory(self) -> None:
        """Refuse what cannot fit: the packed twin, what it becomes here, and one matrix at work."""
        lack = self._lack(self.recipe)
        if lack is not None:
            raise Problem("error.twin_memory", needed_gb=lack[0] / 1e9, free_gb=lack[1] / 1e9)

    def _lack(self, recipe: str) -> tuple[int, int] | None:
        """Needed and free bytes where they do not suffice for making a twin."""
        model = self.model
        largest = max(parameter.numel() for parameter in model.model.parameters())
        resident = 8.0 * model.dtype.itemsize
        if model.device.type == "cpu" and products.available():  # they read the packed bits
            resident = 0.0
        elif model.device.type == "cpu" and available():
            resident = 5.0
        elif model.device.type == "cuda":  # our kernel reads the packed bits, and without it there are four
            resident = 0.0 if trouble(model.device) is None else NF4_BITS
        needed = self._bytes_of(recipe) + int(model.parameters * resident / 8) + 8 * min(largest, 2**27)
        free = (
            psutil.virtual_memory().available
            if model.device.type == "cpu"
            else torch.cuda.mem_get_info(model.device)[0]
        )
        return (needed, free) if needed > free else None

    def _measured_costs(self) -> costs.Costs:
        # On a card few rows go through graphs, and these take rows that are made on the host.
        on_host = self.model.device.type == "cuda" and hasattr(self.forward, "drafter_of")
        device = torch.device("cpu") if on_host else self.model.device
        parts = (self.model.model, self.forward, self.forward_of, self.joined)
        return costs.measure(*parts, choice.CANDIDATES, device)

    def _costs_key(self) -> str:
        device = self.model.device
        place = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
        return costs.key(self.folder, str(getattr(self.forward, "kernels", "")), place, str(self.model.dtype))
