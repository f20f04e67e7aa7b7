"""From a choice to a model that is ready to write: found, read, tested and measured; its twin comes from disk or later.

Each step says what it does; between steps and matrices it looks whether the caller gave up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import psutil
import torch

from inference import freeing, kept_steps
from inference.card import Card, takes_graphs
from inference.decoder import FAMILIES, JOINED, Decoder, pack, refusal
from inference.device import chosen
from inference.drafters.ngram import NgramDrafter
from inference.drafters.offered import Offer, Offered
from inference.drafters.small_model import SmallModelDrafter
from inference.engine import Engine
from inference.events import Loaded, LoadProgress, Notice, Problem, TwinProgress
from inference.exact import Width, fast_width, find_width, identity
from inference.kv_cache import KVCache
from inference.linears import packs
from inference.measure import StepTimes, draft_step_ms, step_times
from inference.memory import taken
from inference.model import ReferenceForward, TextModel, is_recurrent, load_text_model
from inference.models import contents, fitting, interrupted
from inference.models.fit import Plan
from inference.models.source import Located, locate
from inference.native import library, products
from inference.quantize import eight_bit, targets
from inference.ready import Mode, Ready, recipes_of
from inference.rotary import settle
from inference.rows import tree_rows
from inference.running import WIDTH, RunningCache, RunningForward, running_times
from inference.settings import DRAFTERS, LARGEST_K, ModelChoice
from inference.shortage import Relief, is_lack, notice_of
from inference.text.same_tokens import shared_ids
from inference.text.template import ChatTemplate, end_token_ids
from inference.tuning import tune
from inference.twins import TwinMaker

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Generator, Iterator, Mapping


EXACT_COST = 0.05
"""Exact mode is the default where it adds less than this to a plain step."""

LARGEST_FAST_K = 64

WITH_TWIN = ("twin", "hybrid", "auto")
"""Drafters that are the twin, or choose among others and it."""


def prepare(choice: ModelChoice, cancel: threading.Event) -> Generator[LoadProgress, None, Ready]:
    """Load what is chosen; yields progress, returns the model. Raises Problem, ``error.cancelled`` included."""

    def checked(notice: Notice, fraction: float | None = None) -> LoadProgress:
        if cancel.is_set():
            raise Problem("error.cancelled")
        return LoadProgress(notice, fraction)

    found = yield from _located(choice.model, cancel, choice.fetch)
    yield checked(Notice("load.reading", {"model": found.name}))
    device = chosen(choice.device)
    if not library.is_made():
        yield checked(Notice("load.compiling"))
        library.load()
    config = contents.read(found.folder / contents.CONFIG, found.name)
    config = config.get("text_config", config)
    is_ours = products.available() and not FAMILIES.isdisjoint(config.get("architectures") or ())
    dtypes = _dtypes(choice.dtype, config, device, is_ours=is_ours)
    dtype = dtypes[0]
    if device.type == "cpu":
        tuning = tune(found.name, config.get("hidden_size", 1024), dtypes, _stored(config) if is_ours else None)
        dtype = tuning.dtype
        torch.set_num_threads(tuning.threads)
    twin = fitting.recipe(choice.recipe, device.type, found.name) if choice.drafter == "twin" else None
    needed, free = _require_memory(found, Plan(_plan(choice.weights) or _name(dtype), twin, choice.context), device)
    interrupted.begin(choice.model, needed, free)
    model, is_running, is_fast = yield from _weights(found, choice, dtype, device, checked)
    template = ChatTemplate(model.tokenizer, found.name)
    ends = end_token_ids(model.tokenizer, model.model.config, model.model.generation_config, template)
    limit = getattr(model.config, "max_position_embeddings", None) or choice.context
    context = min(choice.context, limit)
    settle(model.model, context)
    cache = RunningCache(context) if is_running else KVCache(context, 2 * (LARGEST_FAST_K + 1))
    offered = Offered()
    if is_running:
        for drafter in DRAFTERS[1:]:
            offered.refuse(drafter, Notice("drafter.recurrent"))
    else:
        offered.add(Offer(NgramDrafter(ends)))
    is_foreign = choice.weights in targets.OTHERS
    kind: Any = Decoder if is_fast else RunningForward if is_running else ReferenceForward
    forward: Any = kind(model.model)
    # On a card few rows go through graphs; their rows are made on the host.
    card: Card | None = None
    rows_device = device
    if is_fast and takes_graphs(device):
        try:
            card = Card(model.model, forward, cache, device)
        except ValueError as reason:
            yield checked(Notice("load.no_graphs", {"reason": str(reason)}))
        else:
            forward, kind, rows_device = card.forward, card.forward_of, torch.device("cpu")
    relief = Relief(cache, offered, dtype.itemsize, cuts_context=not is_running)
    relief.card = card
    if is_foreign:
        offered.refuse("twin", Notice("drafter.low_bit_target"))
    elif not is_running and (choice.drafter in WITH_TWIN or choice.twin_later):
        joined = JOINED if is_fast else {}
        relief.maker = TwinMaker(model, found.folder, template, ends, forward, kind, joined, cache, choice.recipe)

    def measured() -> Generator[LoadProgress, None, tuple[Width | None, StepTimes, StepTimes]]:
        """All that takes memory behind the model itself, and what steps cost then."""
        _reserve(forward, cache, rows_device)
        if relief.maker is not None and offered.find("twin") is None:
            yield from _twin(relief.maker, offered, choice, cancel)
        may_be_exact = choice.exact is not False and not is_running and not is_foreign
        steps = kept_name = None
        if device.type == "cpu" and not is_running:
            bits = identity(found.name, device.type, _name(dtype), forward.kernels, fast_width(LARGEST_FAST_K))
            kept_name = kept_steps.key(found.folder, bits, may_be_exact)
            steps = kept_steps.load(kept_name)
        if steps is None:
            exact: Width | None = None
            if may_be_exact:
                yield checked(Notice("load.exact"))
                exact = find_width(forward, model.vocabulary, LARGEST_K, rows_device)
            yield checked(Notice("load.measuring"))
            if isinstance(forward, RunningForward):
                times = (running_times(forward, device),) * 2
            else:
                times = step_times(forward, exact, LARGEST_K, rows_device)
            steps = kept_steps.Steps(exact, *times)
            if kept_name is not None:
                kept_steps.save(kept_name, steps)
        if card is not None:
            card.forward.forget_others(cache)  # those of the measurements
            for done, total in card.prepare(range(1, LARGEST_K + 2)):
                yield checked(Notice("load.graphs", {"done": done, "total": total}), done / total)
        if choice.draft_model and not is_running:
            offered.add((yield from _small_model(choice.draft_model, model, context, cancel)))
        elif not is_running:
            offered.refuse("small-model", Notice("drafter.no_draft_model"))
        return steps.exact, steps.fast_times, steps.exact_times

    if choice.drafter == "small-model" and not choice.draft_model:
        raise Problem("error.no_draft_model")
    exact, fast_times, exact_times = yield from relief.until_it_fits(measured, LoadProgress)
    fast, width, mode_notice = WIDTH, WIDTH, Notice("exact.off_recurrent")
    if not is_running:
        fast = fast_width(LARGEST_FAST_K)
        width, mode_notice = _mode(choice, exact, exact_times)
    threads = torch.get_num_threads()
    name = _name(dtype) if choice.weights == "full" else f"{_name(dtype)}, {choice.weights}"

    def mode(width: Width, times: StepTimes) -> Mode:
        return Mode(width, times, identity(found.name, device.type, name, forward.kernels, width))

    modes: dict[Literal["exact", "fast"], Mode] = {"fast": mode(fast, fast_times)}
    if exact is not None:
        modes["exact"] = mode(exact, exact_times)
    in_force = modes["exact" if width.exact else "fast"]
    loaded = Loaded(
        model=choice.model,
        name=found.name,
        parameters=model.parameters,
        context=cache.context,
        device=device.type,
        device_name=torch.cuda.get_device_name() if device.type == "cuda" else "CPU",
        dtype=name,
        threads=threads,
        drafter=choice.drafter,
        drafters=offered.names,
        no_drafter=None if offered.can(choice.drafter) else offered.reason(choice.drafter),
        mode="exact" if width.exact else "fast",
        mode_notice=mode_notice,
        width=width.plain,
        largest_k=width.largest - 1,
        identity=in_force.identity,
        memory_bytes=_memory_bytes(device),
        thinking=template.thinking,
        refused=offered.refused,
        taken=taken(model.model, forward, cache, offered, card),
        given_up=tuple(relief.given_up),
        draft_model=choice.draft_model,
        recipes=recipes_of(relief),
    )
    engine = Engine(forward, cache, width, rows_device)
    engine.rounds = card.rounds if card is not None else None
    freeing.trim()
    checked(Notice("load.measuring"))
    return Ready(model, template, ends, engine, offered, in_force.times, modes, loaded, relief)


def _weights(
    found: Located, choice: ModelChoice, dtype: torch.dtype, device: torch.device, checked: Callable[..., LoadProgress]
) -> Generator[LoadProgress, None, tuple[TextModel, bool, bool]]:
    """The model, whether it keeps a running state, and whether the decoder runs it: it is taken apart then."""
    try:
        model = load_text_model(found.folder, found.name, dtype, device, choice.weights, _is_fast)
        is_running = is_recurrent(model.model)
        is_fast = not is_running and _is_fast(model.model)
        if choice.weights == targets.OURS:
            if not is_fast:
                raise Problem(
                    "error.setting", field="weights", value=repr(choice.weights), allowed="full for this model"
                )
            for done, total in eight_bit.take_apart(model.model, device):
                yield checked(Notice("load.reading", {"model": found.name}), done / total)
        elif is_fast and choice.weights not in targets.OTHERS:
            for _ in pack(model.model, model.weights):
                checked(Notice("load.reading"))
    except Exception as error:
        if not is_lack(error):
            raise
        # Nothing else is loaded yet that could be given up, and other weights are the user's to choose.
        smaller = device.type == "cuda" and choice.weights == "full"
        reason = "memory.choose_int8" if smaller else "memory.choose_smaller"
        raise Problem("error.memory_weights", model=found.name, reason=reason, **notice_of(error).values) from None
    return model, is_running, is_fast


def _reserve(forward: Any, cache: KVCache, device: torch.device) -> None:
    """Make the cache's buffers now, so that a lack of memory shows before the first reply."""
    if isinstance(forward, ReferenceForward):  # only transformers knows what a layer keeps
        forward(tree_rows([0], None, 0, cache.slots, device=device), cache, last_only=True)
    elif not isinstance(forward, RunningForward):
        forward.reserve(cache)


def _is_fast(module: Any) -> bool:
    """Whether the fast forward takes this module; it packs the matrices one by one, so that they can be read so."""
    return refusal(module) is None


def _memory_bytes(device: torch.device) -> int:
    """What the loaded model takes where it computes: target, twin, cache and graphs."""
    if device.type == "cuda":
        return torch.cuda.memory_reserved(device)
    return int(psutil.Process().memory_info().rss)


def _twin(maker: TwinMaker, offered: Offered, choice: ModelChoice, cancel: threading.Event) -> Iterator[LoadProgress]:
    """Offer the kept twin, or a quick one made now; or say that it comes later."""
    if maker.measures_first:
        yield LoadProgress(Notice("load.measuring"))
    offer = maker.load(later=choice.twin_later)
    if offer is not None:
        offered.add(offer)
    elif choice.twin_later:
        offered.refuse("twin", Notice("drafter.later"))
    else:
        try:
            made = yield from _loading(maker.make(quick=True, is_cancelled=cancel.is_set))
        except ValueError:
            offered.refuse("twin", Notice("drafter.no_linear"))
        else:
            offered.add(made)


def _loading(making: Generator[TwinProgress, None, Offer]) -> Generator[LoadProgress, None, Offer]:
    """The making of a twin as a step of loading."""
    while True:
        try:
            step = next(making)
        except StopIteration as end:
            offer: Offer = end.value
            return offer
        yield LoadProgress(step.notice, step.fraction)


def _located(name: str, cancel: threading.Event, fetch: bool = True) -> Generator[LoadProgress, None, Located]:
    """Find a model, fetching it where it is not here and that is wanted; yields progress."""
    search = locate(name, cancel, fetch)
    while True:
        try:
            notice, fraction = next(search)
        except StopIteration as end:
            found: Located = end.value
            return found
        yield LoadProgress(notice, fraction)


def _small_model(
    name: str, target: TextModel, context: int, cancel: threading.Event
) -> Generator[LoadProgress, None, Offer]:
    """Load a smaller model as a drafter. Problem when it does not write the target's tokens."""
    found = yield from _located(name, cancel)
    yield LoadProgress(Notice("load.reading", {"model": found.name}))
    _require_memory(found, Plan(_name(target.dtype), None, context), target.device)
    small = load_text_model(found.folder, found.name, target.dtype, target.device, is_filled_later=_is_fast)
    if is_recurrent(small.model):
        raise Problem("error.draft_model_running", draft=small.name, target=target.name)
    if not shared_ids(target.tokenizer, small.tokenizer):
        raise Problem("error.other_tokenizer", draft=small.name, target=target.name)
    is_fast = _is_fast(small.model)
    if is_fast:
        for _ in pack(small.model, small.weights):
            if cancel.is_set():
                raise Problem("error.cancelled")
    forward = (Decoder if is_fast else ReferenceForward)(small.model)
    limit = getattr(small.config, "max_position_embeddings", None) or context
    vocabulary = min(target.vocabulary, small.vocabulary)
    settle(small.model, min(context, limit))
    cache = KVCache(min(context, limit), 2)
    drafter = SmallModelDrafter(forward, cache, target.device, vocabulary, small.vocabulary)
    return Offer(drafter, draft_step_ms(forward, target.device))


def _mode(choice: ModelChoice, exact: Width | None, times: StepTimes) -> tuple[Width, Notice]:
    """The width in force and why."""
    fast = fast_width(LARGEST_FAST_K)
    if choice.exact is False:
        return fast, Notice("exact.off_chosen")
    if choice.weights in targets.OTHERS:
        return fast, Notice("exact.off_weights")
    if exact is None:
        return fast, Notice("exact.off_rows")
    if choice.exact is None and times.exact_cost >= EXACT_COST:
        return fast, Notice("exact.off_cost", {"percent": 100 * times.exact_cost})
    return exact, Notice("exact.on")


def _dtypes(wanted: str, config: Mapping[str, Any], device: torch.device, *, is_ours: bool) -> tuple[torch.dtype, ...]:
    """The precisions to choose from, the preferred first; auto keeps the checkpoint's where it is fast.

    A model that ``is_ours`` goes through the compiled pass in float32, its weights as they are stored. That pass saves
    more between the products than a somewhat quicker product would.
    """
    if wanted != "auto":
        return ({"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}[wanted],)
    stored = config.get("dtype") or config.get("torch_dtype") or "float32"
    if device.type == "cuda":
        return (torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16,)
    if stored == "float32":
        return (torch.float32,)
    # The range of float16 holds only what was stored in it.
    half = (torch.bfloat16, torch.float16) if stored == "float16" else (torch.bfloat16,)
    packed = tuple(dtype for dtype in half if packs(dtype))
    return (torch.float32, *packed) if is_ours else (*packed, torch.float32)


def _stored(config: Mapping[str, Any]) -> torch.dtype | None:
    """The precision of the weights in their files, as far as it is one of 16 bits."""
    stored = str(config.get("dtype") or config.get("torch_dtype"))
    return {"bfloat16": torch.bfloat16, "float16": torch.float16}.get(stored)


def _require_memory(found: Located, plan: Plan, device: torch.device) -> tuple[int, int]:
    """Refuse with figures what cannot fit; bytes needed and free."""
    kind = "gpu" if device.type == "cuda" else "ram"
    return fitting.require(found.folder, found.name, plan, kind, device.index or 0)


def _plan(weights: str) -> str | None:
    """What the forecast of memory calls these weights; None where the precision says it."""
    return {"int8": "int8", "llm-int8": "int8", "nf4": "nf4"}.get(weights)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
