"""`python -m inference bench`: its options, and the run that they ask for.

Standard output is the report or its JSON, standard error the progress. The record holds every reply, so that it can be
run again (``--replay``) and other figures can be made of it.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import threading
import time
from contextlib import nullcontext
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inference import terminal
from inference.bench.prompts import BUILT_IN, Prompt, evenly, read_prompts
from inference.bench.record import KIND, from_json
from inference.bench.replay import lines as comparison_lines
from inference.bench.replay import replayed
from inference.bench.report import first_difference, predicted, summarise
from inference.bench.suite import DEFAULT_SEED, Contender, Ours, Run, Setting, measure
from inference.bench.tables import lines, replay_lines, sampling_lines, say
from inference.messages import Notice, Problem, sentence
from inference.settings import DRAFTERS, ModelChoice, Sampling, Speculation
from inference.statistics import LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inference.events import Loaded, LoadProgress
    from inference.ready import Ready
    from inference.session import Session

BUILT_IN_NAME = "built-in"
MADE_AT_LOAD = ("twin", "hybrid", "auto", "small-model")
"""Drafters that a model only has when it was loaded for them."""
OFF_GRID = "-degridded"
"""Behind the name of a model whose weights got noise."""
TWIN_K = 4
"""Draft length at which the twin's acceptance by depth is taken when ``--k`` names none."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of bench."""
    terminal.add_model_arguments(parser)
    terminal.add_sampling_arguments(parser)
    parser.set_defaults(temperature=0.0)
    named = f"some of {','.join(DRAFTERS)}; --k takes a list too, and ngram:10 is one with a K of its own"
    parser.add_argument("--drafters", metavar="A,B", help=named)
    parser.add_argument("--prompts", default=BUILT_IN_NAME, metavar="FILE", help="a .jsonl or .txt file, or built-in")
    parser.add_argument("--limit", type=int, metavar="N", help="this many prompts, taken evenly")
    parser.add_argument("--repeats", type=int, default=1, metavar="N")
    parser.add_argument("--max-new-tokens", type=int, default=96)
    parser.add_argument("--twin", action="store_true", help="the twin's build time, bits, acceptance by depth, and c")
    parser.add_argument("--recipes", metavar="A,B", help="with --twin: instead, compare these recipes, or all")
    parser.add_argument("--quick", action="store_true", help="with --recipes: without error feedback")
    parser.add_argument("--degrid", action="store_true", help="with --recipes: of a copy with noise on its grid")
    parser.add_argument("--peers", action="store_true", help="transformers' generate and prompt lookup too (greedy)")
    parser.add_argument("--sampling", action="store_true", help="instead of replies: what choosing a token costs")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output and nothing else")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the JSON object to this file")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run an earlier JSON again and compare the tokens")


def bench(options: argparse.Namespace) -> int:
    """Measure; returns the exit status: 1 when a replay gives other tokens. Raises Problem."""
    from inference.session import Session

    session = Session()
    if options.out is not None:
        _try_writing(options.out)
    if options.replay is not None:
        record = _read(options.replay)
        if record["kind"] == KIND:
            record = replayed(session, from_json(record), lambda choice: load(session, choice, {}), _runs)
            show(record, comparison_lines(record), options)
        else:
            record = _replay(session, record)
            show(record, replay_lines(record), options)
        return 0 if record["identical"] == record["replies"] else 1
    if options.recipes:
        from inference.bench.recipes import recipe_lines

        record = _recipes(session, options)
        show(record, recipe_lines(record), options)
        return 0
    if options.sampling:
        record = _sampling(session, options)
        show(record, sampling_lines(record), options)
        return 0
    plan(options)  # what is wrong is refused before the load
    prompts_of(options)
    seconds: dict[str, float] = {}
    load(session, choice_of(options), seconds)
    record = measured(session, options, seconds)
    show(record, lines(record), options)
    return 0


def plan(options: argparse.Namespace) -> list[tuple[str, Speculation]]:
    """The drafters that the options name, each with every draft length, or with that of its own. Raises Problem."""
    names = [name.strip() for name in (options.drafters or options.drafter).split(",")]
    if options.twin and "twin" not in names:
        names.append("twin")
    texts = [text.strip() for text in options.k.split(",")]
    if options.twin and not any(text.isdecimal() and text != "0" for text in texts):
        texts.append(str(TWIN_K))
    common = {"rule": options.rule, "other_chats": options.other_chats}
    found = []
    for name in names:
        drafter, _, own = name.partition(":")
        ModelChoice(drafter=drafter)
        for text in [own] if own else texts:
            length = terminal.speculation(argparse.Namespace(k=text, **common))
            if drafter != "none":
                found.append((drafter, replace(length, drafter=drafter)))
    how = terminal.sampling(options)
    if options.peers and how.temperature > 0:
        raise Problem("error.setting", field="temperature", value=how.temperature, allowed="0 with --peers")
    for field in ("limit", "repeats", "max_new_tokens"):
        value = getattr(options, field)
        if value is not None and value < 1:
            raise Problem("error.setting", field=field, value=value, allowed="a whole number of at least 1")
    return list(dict.fromkeys(found))


def prompts_of(options: argparse.Namespace) -> tuple[Prompt, ...]:
    """The prompts that the options name. Raises Problem."""
    prompts = BUILT_IN if options.prompts == BUILT_IN_NAME else read_prompts(Path(options.prompts))
    return evenly(prompts, options.limit or len(prompts))


def choice_of(options: argparse.Namespace) -> ModelChoice:
    """What to load: with ``--fast`` too exact mode is tried, for plain decoding is measured in both."""
    drafters = [drafter for drafter, _ in plan(options)]
    choice = terminal.model_choice(options)
    made = next((name for name in drafters if name in MADE_AT_LOAD), drafters[0] if drafters else "none")
    return replace(choice, drafter=made, exact=None if choice.exact is False else choice.exact)


def load(session: Session, choice: ModelChoice, seconds: dict[str, float]) -> Loaded:
    """Load, and add up the seconds of each kind of step, by message id. Raises Problem."""
    step, begun = "", 0.0

    def heard(progress: LoadProgress | None) -> None:
        nonlocal step, begun
        now = time.perf_counter()
        if step:
            seconds[step] = seconds.get(step, 0.0) + now - begun
        step, begun = progress.notice.id if progress else "", now

    loaded = terminal.load(session, choice, heard)
    heard(None)
    return loaded


def measured(session: Session, options: argparse.Namespace, load_seconds: dict[str, float]) -> dict[str, Any]:
    """The record of a benchmark with a loaded session. Raises Problem."""
    ready = _ready(session)
    planned = plan(options)
    for drafter, _ in planned:
        session.require_drafter(drafter)
    mode = "fast" if options.exact is False else ready.loaded.mode
    settings = [Setting(f"off {name}", name, "none", Speculation(on=False)) for name in ready.modes]
    settings += [
        Setting(f"{drafter} K {'auto' if length.k is None else length.k}", mode, drafter, length)
        for drafter, length in planned
    ]
    contenders: list[Contender] = [Ours(session, setting) for setting in settings]
    if options.peers:
        from inference.bench.peers import peers

        contenders.extend(peers(ready))
    prompts = prompts_of(options)
    how = terminal.sampling(options)
    how = replace(how, seed=DEFAULT_SEED if how.seed is None else how.seed)
    runs = list(measure(contenders, prompts, how, options.max_new_tokens, options.repeats, _progress))
    record = {
        "kind": "bench",
        **_machine(ready),
        "mode_notice": asdict(Notice("exact.off_chosen") if options.exact is False else ready.loaded.mode_notice),
        "choice": asdict(choice_of(options)),
        "sampling": asdict(how),
        "max_new_tokens": options.max_new_tokens,
        "repeats": options.repeats,
        "load_seconds": load_seconds,
        "step_ms": {name: asdict(found.times) for name, found in ready.modes.items()},
        "settings": [asdict(setting) for setting in settings],
        "report": _report(ready, settings, runs, options.peers),
        "prompts": [asdict(prompt) for prompt in prompts],
        "runs": [asdict(run) for run in runs],
    }
    if options.twin:
        record["twin"] = _twin(ready, settings, record)
    return record


def _report(ready: Ready, settings: Sequence[Setting], runs: Sequence[Run], peers: bool) -> dict[str, Any]:
    baselines = {name: f"off {name}" for name in ("fast", "exact") if name in ready.modes}
    plain_of = {setting.name: f"off {setting.mode}" for setting in settings}
    if peers:
        from inference.bench.peers import LOOKUP_NAME, NAME

        baselines[NAME] = NAME
        plain_of |= {NAME: "off fast", LOOKUP_NAME: NAME}
    report = summarise(runs, baselines, plain_of)
    for setting in settings:
        figures, plain, k = report[setting.name], report.get(plain_of[setting.name]), setting.speculation.k
        if k and plain is not None and figures["drafted"]:
            figures["predicted"] = predicted(figures, plain, k)
    for setting in settings:
        alike = (one for one in settings if (one.drafter, one.mode) == (setting.drafter, setting.mode))
        best = max((report[one.name].get("predicted", 0.0) for one in alike), default=0.0)
        if setting.speculation.on and setting.speculation.k is None and best:
            report[setting.name]["of_best"] = report[setting.name]["against"][setting.mode]["speed_up"] / best
    return report


def _twin(ready: Ready, settings: Sequence[Setting], record: dict[str, Any]) -> dict[str, Any]:
    """The twin's own figures; acceptance is that of the longest fixed draft measured."""
    longest = max((s for s in settings if s.drafter == "twin" and s.speculation.k), key=lambda s: s.speculation.k or 0)
    figures, plain = record["report"][longest.name], ready.times.plain_at[0]
    offer = ready.offered.find("twin")
    draft = offer.step_ms if offer else 0.0
    return {
        "build_seconds": ready.maker.record.build_seconds if ready.maker and ready.maker.record else None,
        "bits": asdict(ready.bits) if ready.bits else None,
        "k": longest.speculation.k,
        "acceptance": figures["acceptance"],
        "acceptance_by_depth": figures["acceptance_by_depth"],
        "draft_ms": draft,
        "plain_ms": plain,
        "c": draft / plain,
    }


def _machine(ready: Ready) -> dict[str, Any]:
    """What was measured on what."""
    return {
        "model": asdict(ready.loaded),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        "machine": {"system": platform.platform(), "processor": platform.machine(), "threads": ready.loaded.threads},
    }


def _recipes(session: Session, options: argparse.Namespace) -> dict[str, Any]:
    from inference.bench.recipes import names_of, recipes_record

    names, prompts = names_of(options.recipes), prompts_of(options)
    choice = replace(terminal.model_choice(options), drafter="twin", recipe=names[0], twin_later=True)
    with tempfile.TemporaryDirectory() if options.degrid else nullcontext() as folder:
        if folder is not None:
            choice = replace(choice, model=_degridded(choice.model, Path(folder)))
        load(session, choice, {})
        return recipes_record(session, names, prompts, options.max_new_tokens, _heard, quick=options.quick)


def _degridded(model: str, folder: Path) -> str:
    """A copy in the folder that is not on its grid."""
    from inference.bench.degrid import degridded
    from inference.models.source import locate

    search = locate(model, threading.Event())
    while True:
        try:
            notice, _ = next(search)
        except StopIteration as end:
            source: Path = end.value.folder
            break
        _heard(notice)
    copy = folder / f"{source.name}{OFF_GRID}"
    degridded(source, copy)
    return str(copy)


def _sampling(session: Session, options: argparse.Namespace) -> dict[str, Any]:
    from inference.bench.sampling_cost import sampling_cost

    load(session, replace(terminal.model_choice(options), drafter="none"), {})
    ready = _ready(session)
    plain = ready.modes["fast"].times.plain_at[0]
    return {"kind": "sampling", **_machine(ready), "plain_ms": plain, "sampling_cost": sampling_cost(ready)}


def _replay(session: Session, record: dict[str, Any]) -> dict[str, Any]:
    """Run an earlier record's settings, prompts and seeds again, and compare the tokens."""
    try:
        choice = ModelChoice(**record["choice"])
        settings = [
            Setting(**{**setting, "speculation": Speculation(**setting["speculation"])})
            for setting in record["settings"]
        ]
        prompts = [Prompt(prompt["group"], tuple(prompt["turns"])) for prompt in record["prompts"]]
        how, limit = Sampling(**record["sampling"]), int(record["max_new_tokens"])
        before = {(run["contender"], run["prompt"], run["turn"]): run["reply"] for run in reversed(record["runs"])}
    except (KeyError, TypeError) as error:
        raise Problem("error.setting", field="replay", value=repr(error), allowed="a record of bench --json") from None
    load(session, choice, {})
    runs = list(measure([Ours(session, setting) for setting in settings], prompts, how, limit, 1, _progress))
    different, identities = [], {}
    for run in runs:
        then = before[run.contender, run.prompt, run.turn]
        identities[run.contender] = {"before": then["identity"], "now": run.reply.identity, "contender": run.contender}
        position = first_difference(then["token_ids"], run.reply.token_ids)
        if position is not None:
            place = {"prompt": run.prompt, "turn": run.turn, "position": position}
            different.append({"contender": run.contender, **place})
    return {
        "kind": "replay",
        **_machine(_ready(session)),
        "replies": len(runs),
        "identical": len(runs) - len(different),
        "identities": list(identities.values()),
        "different": different,
        "report": _report(_ready(session), settings, runs, peers=False),
        "before": record.get("report", {}),
        "runs": [asdict(run) for run in runs],
    }


def _ready(session: Session) -> Ready:
    if session.ready is None:
        raise Problem("error.no_model")
    return session.ready


def _read(file: Path) -> dict[str, Any]:
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        detail = (error.strerror if isinstance(error, OSError) else None) or "it is not JSON"
        raise Problem("error.file", file=str(file), detail=detail) from None
    if not isinstance(record, dict) or record.get("kind") not in ("bench", KIND):
        raise Problem("error.file", file=str(file), detail="it is no record of bench --json")
    return record


def _try_writing(file: Path) -> None:
    """A file that cannot be written is better known before the run than behind it."""
    try:
        file.open("a").close()
    except OSError as error:
        raise Problem("error.write", file=str(file), detail=error.strerror or str(error)) from None


def show(record: dict[str, Any], report: Sequence[str], options: argparse.Namespace) -> None:
    """Write the record to the file that is wanted, and print it or the report. Raises Problem."""
    if options.out is not None:
        terminal.output(record, options.out)
    if options.json:
        terminal.output(record, None)
    else:
        print("\n".join(report))


def _runs(done: int, total: int) -> None:
    print(say("bench.runs", done=done, total=total), file=sys.stderr)


def _heard(notice: Notice) -> None:
    print(sentence(notice), file=sys.stderr)


def _progress(done: int, total: int) -> None:
    print(say("bench.progress", done=done, total=total), file=sys.stderr)
