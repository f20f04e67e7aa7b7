"""The terminal chat, one reply for a prompt, and the demonstration of speculation off and on.

Prints text as it comes; notes and figures go to standard error, so that standard output is the answer alone.
"""

from __future__ import annotations

import json
import sys
import threading
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inference.bench.prompts import BUILT_IN
from inference.events import Failed, Finished, Loaded, LoadFailed, LoadProgress, Round, Started
from inference.messages import Notice, Problem, sentence
from inference.settings import (
    DRAFTERS,
    RECIPES,
    RULES,
    THINKING,
    WEIGHTS,
    Control,
    Message,
    ModelChoice,
    Request,
    Sampling,
    Speculation,
)
from inference.text.clean import clean

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from inference.session import Session


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """What to load; shared by chat, demo and bench."""
    parser.add_argument("--model", default="starter", help="starter, a folder, or owner/name[@revision]")
    parser.add_argument("--drafter", default="auto", help=f"one of {', '.join(DRAFTERS)}")
    parser.add_argument("--draft-model", default="", help="a smaller model of the same tokenizer, for small-model")
    parser.add_argument("--dtype", default="auto", choices=("auto", "bfloat16", "float16", "float32"))
    parser.add_argument("--weights", default="full", choices=WEIGHTS, help="of the model: full, or in few bits")
    parser.add_argument("--recipe", default="auto", choices=RECIPES, help="of the twin")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, or cuda:N for card N")
    parser.add_argument("--context", type=int, default=8192, help="tokens the chat may have")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--exact", dest="exact", action="store_true", default=None, help="the same bits on and off")
    mode.add_argument("--fast", dest="exact", action="store_false", help="no padding; near ties may fall otherwise")


def add_sampling_arguments(parser: argparse.ArgumentParser) -> None:
    """How to write; shared by chat, demo and bench."""
    defaults = Sampling()
    parser.add_argument("--k", default="auto", help="draft length: auto, or a number (0 is plain decoding)")
    parser.add_argument(
        "--other-chats", action="store_true", help="repeats may be found in the chats before this one too"
    )
    parser.add_argument("--rule", default="coupled", help=f"one of {', '.join(RULES)}")
    parser.add_argument("--temperature", type=float, default=defaults.temperature, help="0 is greedy")
    parser.add_argument("--top-k", type=int, default=defaults.top_k)
    parser.add_argument("--top-p", type=float, default=defaults.top_p)
    parser.add_argument("--min-p", type=float, default=defaults.min_p)
    parser.add_argument("--repetition-penalty", type=float, default=defaults.repetition_penalty)
    parser.add_argument("--presence-penalty", type=float, default=defaults.presence_penalty)
    parser.add_argument("--frequency-penalty", type=float, default=defaults.frequency_penalty)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--min-new-tokens", type=int, default=defaults.min_new_tokens, help="no end before so many")
    parser.add_argument(
        "--logit-bias",
        action="append",
        default=[],
        metavar="TEXT=VALUE",
        help="added to its logit; may be repeated",
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of chat and demo."""
    add_model_arguments(parser)
    add_sampling_arguments(parser)
    parser.add_argument("--prompt", help="write one reply to this text and end")
    parser.add_argument("--system", help="a system prompt")
    parser.add_argument("--max-new-tokens", type=int, default=1024)
    parser.add_argument("--stop", nargs="+", default=[], metavar="TEXT", help="end before any of these texts")
    words = [word for word in THINKING if word]
    parser.add_argument("--thinking", default="", choices=words, help="how to think, where the template knows")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output and nothing else")
    parser.add_argument("--out", type=Path, help="write the JSON object to this file")


def model_choice(options: argparse.Namespace) -> ModelChoice:
    """The model the options name. Raises Problem for a bad value."""
    return ModelChoice(
        model=options.model,
        drafter=options.drafter,
        draft_model=options.draft_model,
        dtype=options.dtype,
        device=options.device,
        context=options.context,
        exact=options.exact,
        recipe=options.recipe,
        weights=options.weights,
    )


def sampling(options: argparse.Namespace) -> Sampling:
    """How the options want tokens chosen. Raises Problem for a bad value."""
    return Sampling(
        temperature=options.temperature,
        top_k=options.top_k,
        top_p=options.top_p,
        min_p=options.min_p,
        repetition_penalty=options.repetition_penalty,
        presence_penalty=options.presence_penalty,
        frequency_penalty=options.frequency_penalty,
        seed=options.seed,
        min_new_tokens=options.min_new_tokens,
        logit_bias=tuple(map(_bias, options.logit_bias)),
    )


def _bias(given: str) -> tuple[str, float]:
    """The text and the value of ``text=value``; the text may hold equals signs itself. Raises Problem."""
    text, _, value = given.rpartition("=")
    try:
        return clean(text), float(value)
    except ValueError:
        raise Problem("error.setting", field="logit_bias", value=repr(given), allowed="written as TEXT=VALUE") from None


def speculation(options: argparse.Namespace) -> Speculation:
    """Draft length, rule and sources. Raises Problem for a bad value."""
    if options.k == "auto":
        return Speculation(rule=options.rule, other_chats=options.other_chats)
    try:
        k = int(options.k)
    except ValueError:
        raise Problem("error.setting", field="k", value=repr(options.k), allowed="auto or a whole number") from None
    return Speculation(k=k, rule=options.rule, other_chats=options.other_chats)


def load(
    session: Session, choice: ModelChoice, heard: Callable[[LoadProgress], None] = lambda progress: None
) -> Loaded:
    """Load and tell the steps on standard error; ``heard`` hears all of them. Raises Problem."""
    step = ""
    for event in session.load(choice, threading.Event()):
        if isinstance(event, LoadProgress):
            heard(event)
            if event.notice.id != step or event.fraction is None or event.fraction == 1:
                _say(event.notice)
            step = event.notice.id
        elif isinstance(event, LoadFailed):
            raise Problem(event.notice.id, **event.notice.values)
        elif isinstance(event, Loaded):
            return event
    raise Problem("error.cancelled")


def write(session: Session, request: Request, control: Control, *, show: bool) -> Finished:
    """Write one reply; ``show`` streams it to standard output. Ctrl+C stops it. Raises Problem."""
    try:
        for event in session.reply(request, control):
            if isinstance(event, Started):
                for note in event.notes:
                    _say(note)
            elif isinstance(event, Round | Finished) and show:
                print("".join(piece.text for piece in event.pieces), end="", flush=True)
            if isinstance(event, Failed):
                raise Problem(event.notice.id, **event.notice.values)
            if isinstance(event, Finished):
                return event
    except KeyboardInterrupt:
        # The generator is gone with the interrupt; the cache is whole up to the last round.
        raise Problem("error.interrupted") from None
    raise Problem("error.unexpected", detail="the reply ended without an end")


def as_json(finished: Finished) -> dict[str, Any]:
    """A reply as the object that ``--json`` prints (design section 6)."""
    figures = asdict(finished.statistics)
    return {
        "text": finished.text,
        "token_ids": list(finished.token_ids),
        "finish_reason": finished.reason.id.removeprefix("finish."),
        **figures,
    }


def chat(options: argparse.Namespace) -> int:
    """One reply, or a chat until the input ends; returns the exit status."""
    from inference.session import Session

    choice, how, plan = model_choice(options), sampling(options), speculation(options)
    system = [Message("system", clean(options.system))] if options.system else []
    session = Session()
    if options.prompt is not None:
        request = Request(
            1,
            (*system, Message("user", clean(options.prompt))),
            how,
            options.max_new_tokens,
            tuple(options.stop),
            options.thinking,
        )
        load(session, choice)
        finished = write(session, request, Control(plan), show=not (options.json or options.out))
        if options.json or options.out:
            output(as_json(finished), options.out)
        else:
            print()
            print(figures(finished), file=sys.stderr)
        return 0
    if options.json or options.out:
        raise Problem("error.setting", field="json", value="given", allowed="used with --prompt")
    Request(0, (), how, options.max_new_tokens, tuple(options.stop))  # refuse bad settings before the load
    load(session, choice)
    _converse(session, system, how, plan, options)
    return 0


def _converse(
    session: Session, system: list[Message], how: Sampling, plan: Speculation, options: argparse.Namespace
) -> None:
    """The terminal chat: /off, /on and /drafter switch, /new begins anew, /quit or the end of input leaves."""
    print(sentence_of("terminal.help"), file=sys.stderr)
    history = list(system)
    turn = 0
    while True:
        try:
            line = clean(input("> " if sys.stdin.isatty() else "")).strip()
        except (EOFError, KeyboardInterrupt):
            return
        if not line:
            continue
        if line in ("/quit", "/exit"):
            return
        if line == "/new":
            history = list(system)
            continue
        if line in ("/on", "/off"):
            plan = replace(plan, on=line == "/on")
            continue
        if line.split()[0] == "/drafter":
            plan = _with_drafter(session, plan, line.removeprefix("/drafter").strip())
            continue
        turn += 1
        asked = [*history, Message("user", line)]
        request = Request(turn, tuple(asked), how, options.max_new_tokens, tuple(options.stop), options.thinking)
        try:
            finished = write(session, request, Control(plan), show=True)
        except Problem as problem:
            print(f"\n{problem}", file=sys.stderr)
            continue
        print()
        print(figures(finished), file=sys.stderr)
        history = [*asked, Message("assistant", finished.text, finished.token_ids)]


def _with_drafter(session: Session, plan: Speculation, name: str) -> Speculation:
    """The plan with another drafter, if the model can have it; else the old one, and the reason is told."""
    try:
        session.require_drafter(name)
        return replace(plan, drafter=name)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return plan


def demo(options: argparse.Namespace) -> int:
    """One built-in prompt with speculation off and on: both texts, whether they are identical, and both figures."""
    from inference.session import Session

    session = Session()
    load(session, model_choice(options))
    how = sampling(options)
    how = Sampling(**{**asdict(how), "seed": how.seed if how.seed is not None else 1})
    prompt = BUILT_IN[0].turns[0]
    print(prompt)
    texts = []
    for on in (False, True):
        request = Request(1, (Message("user", prompt),), how, min(options.max_new_tokens, 160))
        print(f"\n--- {sentence_of('demo.on' if on else 'demo.off')}\n")
        finished = write(session, request, Control(Speculation(on=on)), show=True)
        print(f"\n\n{figures(finished)}")
        texts.append(finished.text)
    print("\n" + sentence_of("demo.identical" if texts[0] == texts[1] else "demo.different"))
    return 0


def figures(finished: Finished) -> str:
    """The quiet line under a reply."""
    numbers = finished.statistics
    parts = [
        f"{numbers.tokens_per_second:.1f} tokens/s",
        f"first after {numbers.ttft:.2f} s",
        f"{numbers.tokens} tokens, {sentence(finished.reason)}",
    ]
    if numbers.acceptance is not None:
        parts.append(f"{100 * numbers.acceptance:.0f} % accepted, {numbers.tokens_per_round:.2f} tokens a round")
    parts += [f"about {numbers.plain_tokens_per_second:.1f} without speculation", f"seed {numbers.seed}"]
    return " · ".join(parts)


def output(value: object, file: Path | None) -> None:
    """Print an object as JSON, or write it to a file. Raises Problem when the file cannot be written."""
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    if file is None:
        print(text, end="")
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Problem("error.write", file=str(file), detail=error.strerror or str(error)) from None


def sentence_of(id: str) -> str:
    """The sentence of a message without values."""
    return sentence(Notice(id))


def _say(notice: Notice) -> None:
    print(sentence(notice), file=sys.stderr)
