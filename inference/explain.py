"""Lays a past round open: the round is run again where it stood, and what both models saw is read off.

The cache is set back and put right again, so the chat goes on as if nothing had been; a reply whose cache is gone is
read anew, round by round as it was written. Nothing is drawn: noise and coins are keyed (design D2, D3).
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from inference.bench.comparison import Side
from inference.drafters.base import Draft
from inference.drafters.offered import LOOK_UPS
from inference.engine import as_row
from inference.explained import ROOT, SHOWN, Candidate, Decision, Explained, Kind, Place
from inference.messages import Notice, Problem
from inference.noise import keyed_uniform
from inference.sampling import Sampler, draw, largest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from inference.ready import Ready
    from inference.sampling import Row
    from inference.trails import Played, Trail

CONTEXT = 12
"""Tokens before the round that are shown with it."""
SPARE = 80
"""Slots past a round's own that a drafter may write to."""
ROUNDING = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11, torch.float32: 2.0**-24}
TIE = 8
"""Logits that lie closer than so many roundings may fall either way."""


def explain(ready: Ready, trail: Trail, turn: int, index: int) -> Explained:
    """Round ``index`` of the reply behind ``trail``. Raises Problem when there is no such round."""
    if not 0 <= index < len(trail.rounds):
        raise Problem("explain.gone")
    played = trail.rounds[index]
    before = [*trail.prompt, *trail.written(index)]
    with _stand(ready, trail, index):
        drafted = _draft_rows(ready, trail, played, before, index)
        rows = _target_rows(ready, played, before[-1])
    view = _View(ready, trail, played, before, rows, drafted, index)
    walks = {rule: view.walk(rule) for rule in ("coupled", "textbook")}
    came = [step.token for step in walks[trail.rule]][: len(played.tokens)]
    tokenizer = ready.model.tokenizer
    return Explained(
        turn=turn,
        round=index,
        rounds=len(trail.rounds),
        rule=trail.rule,
        drafter=played.drafter,
        mode=trail.mode,
        k=played.k,
        temperature=trail.sampling.temperature,
        position=len(before) - len(trail.prompt),
        context=tokenizer.decode(before[-CONTEXT:]),
        places=view.places(walks),
        walks=walks,
        emitted=tuple(token_text(tokenizer, token) for token in played.tokens),
        is_same=tuple(came) == played.tokens,
    )


def part(ready: Ready, trail: Trail, position: int, mine: int | None, theirs: int | None) -> Side:
    """What the target saw where the reply behind ``trail`` has its token at ``position``, of two candidates."""
    index, place = trail.round_of(position)
    played = trail.rounds[index]
    before = [*trail.prompt, *trail.written(index)]
    path = list(played.tokens[:place])
    with _stand(ready, trail, index):
        rows = _target_rows(ready, played, before[-1])
    row = rows[([ROOT, *_path(played, path)])[-1] + 1]
    text = token_text(ready.model.tokenizer, played.tokens[place])
    if mine is None or theirs is None:
        return Side(played.tokens[place], text)
    logits = (float(row[mine]), float(row[theirs]))
    sampler = _sampler(ready, trail, index, "coupled")
    scores = _scores(sampler, row, len(before) + place, path)
    both = None if trail.rule == "textbook" and not sampler.greedy else (float(scores[mine]), float(scores[theirs]))
    return Side(played.tokens[place], text, logits, both)


def tie(ready: Ready, trail: Trail, sides: Sequence[Side]) -> float:
    """How far scores may lie apart for rounding alone to tip them, at the precision in use."""
    sizes = [abs(logit) for side in sides if side.logits is not None for logit in side.logits]
    rounding = ROUNDING.get(ready.model.dtype, 2.0**-8)
    return (TIE * rounding * max(sizes, default=0.0) + 1e-3) / (trail.sampling.temperature or 1.0)


def token_text(tokenizer: Any, token: int) -> str:
    """A token as text; one that is only part of a character as the tokenizer names it."""
    text = str(tokenizer.decode([token]))
    return str(tokenizer.convert_ids_to_tokens(token)) if not text or "\ufffd" in text else text


# The round, run again


@contextmanager
def _stand(ready: Ready, trail: Trail, index: int) -> Iterator[None]:
    """The cache as it was before round ``index``; afterwards as it was found, where it held the reply already."""
    engine, cache = ready.engine, ready.engine.cache
    if engine.width.largest == 1:
        raise Problem("explain.running")
    before = (*trail.prompt, *trail.written(index))
    if engine.ids[: len(before) - 1] != before[:-1]:
        for _ in engine.prefill(trail.prompt, lambda: False):
            pass
        ids = list(trail.prompt)
        for played in trail.rounds[:index]:
            engine.again(ids, Draft(played.draft, played.parents), _path(played, played.tokens[:-1]), played.tokens)
    with cache.set_back(len(before) - 1, len(trail.rounds[index].draft) + SPARE):
        yield


def _target_rows(ready: Ready, played: Played, root: int) -> list[Row]:
    """The target's logits behind the root and every node of the draft, in the pass of the round."""
    engine = ready.engine
    chain = played.parents == tuple(range(-1, len(played.parents) - 1))
    parents = None if chain else [-1, *(parent + 1 for parent in played.parents)]
    rows = engine.width.rows([root, *played.draft], parents, engine.cache, engine.device)
    logits = engine.forward(rows, engine.cache)
    return [as_row(logits[row]).copy() for row in range(len(played.draft) + 1)]


class _Listening(Sampler):
    """Hears the rows that a drafter draws from, by the path they stand behind."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.heard: dict[tuple[int, ...], Row] = {}

    def probabilities(self, row: Row, path: Sequence[int]) -> Row:
        self.heard[tuple(path)] = row.copy()
        return super().probabilities(row, path)

    def choose(self, row: Row, position: int, path: Sequence[int] = ()) -> int:
        self.heard[tuple(path)] = row.copy()
        return super().choose(row, position, path)


def _draft_rows(
    ready: Ready, trail: Trail, played: Played, before: list[int], index: int
) -> Mapping[tuple[int, ...], Row]:
    """The drafter's own logits, by the path of drafted tokens that they stand behind; none of one that looks up."""
    offer = ready.offered.find(played.drafter)
    if offer is None or not played.draft or played.drafter in LOOK_UPS:
        return {}
    sampler = _Listening(trail.sampling, trail.seed, trail.prompt, rule=trail.rule, bias=trail.bias, ends=ready.ends)
    _commit(sampler, trail, index)
    offer.drafter.propose(before, played.k, sampler)
    return sampler.heard


def _sampler(ready: Ready, trail: Trail, index: int, rule: str) -> Sampler:
    sampler = Sampler(trail.sampling, trail.seed, trail.prompt, rule=rule, bias=trail.bias, ends=ready.ends)
    _commit(sampler, trail, index)
    return sampler


def _commit(sampler: Sampler, trail: Trail, index: int) -> None:
    for at, token in enumerate(trail.written(index)):
        sampler.commit(token, len(trail.prompt) + at)


def _path(played: Played, tokens: Sequence[int]) -> list[int]:
    """The nodes of the draft that these tokens lead through."""
    path: list[int] = []
    for token in tokens:
        here = path[-1] if path else ROOT
        behind = (node for node, parent in enumerate(played.parents) if parent == here)
        path.append(next(node for node in behind if played.draft[node] == token))
    return path


# What was seen and decided


def _probabilities(sampler: Sampler, row: Row, path: Sequence[int]) -> Row:
    """What tokens are drawn from; when greedy, the model's own probabilities, penalties included."""
    if not sampler.greedy:
        return sampler.probabilities(row, path)
    lens = replace(sampler.sampling, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0)
    greedy, sampler.sampling = sampler.sampling, lens
    try:
        return sampler.probabilities(row, path)
    finally:
        sampler.sampling = greedy


def _scores(sampler: Sampler, row: Row, position: int, path: Sequence[int]) -> Row:
    """What the coupled rule compares, up to a constant of the row: log probability plus noise."""
    with np.errstate(divide="ignore"):
        logs: Row = np.log(_probabilities(sampler, row, path))
    return logs if sampler.greedy else logs + sampler.noise(position, row.size)


class _View:
    """One round: its draft, the rows of both sides, and the samplers of both rules."""

    def __init__(
        self,
        ready: Ready,
        trail: Trail,
        played: Played,
        before: Sequence[int],
        rows: Sequence[Row],
        drafted: Mapping[tuple[int, ...], Row],
        index: int,
    ) -> None:
        self._tokenizer = ready.model.tokenizer
        self._played = played
        self._rows = rows
        self._drafted = drafted
        self._position = len(before)
        self._root = before[-1]
        self._samplers = {rule: _sampler(ready, trail, index, rule) for rule in ("coupled", "textbook")}
        self._children: dict[int, list[int]] = {}
        for node, parent in enumerate(played.parents):
            self._children.setdefault(parent, []).append(node)

    def _text(self, token: int) -> str:
        return token_text(self._tokenizer, token)

    def _path(self, node: int) -> list[int]:
        path: list[int] = []
        while node != ROOT:
            path.append(self._played.draft[node])
            node = self._played.parents[node]
        return path[::-1]

    def places(self, walks: Mapping[str, Sequence[Decision]]) -> tuple[Place, ...]:
        """The root and every node with its candidates."""
        found = []
        for node in range(ROOT, len(self._played.draft)):
            path = self._path(node)
            named = [self._played.draft[child] for child in self._children.get(node, ())]
            named += [step.token for walk in walks.values() for step in walk if step.node == node]
            row = self._drafted.get(tuple(path)) if node in self._children else None
            found.append(
                Place(
                    node=node,
                    parent=self._played.parents[node] if node != ROOT else ROOT,
                    depth=len(path),
                    token=self._played.draft[node] if node != ROOT else self._root,
                    text=self._text(self._played.draft[node] if node != ROOT else self._root),
                    target=self._candidates(self._rows[node + 1], path, named),
                    drafter=self._candidates(row, path, named) if row is not None else (),
                )
            )
        return tuple(found)

    def _candidates(self, row: Row, path: Sequence[int], named: Sequence[int]) -> tuple[Candidate, ...]:
        sampler = self._samplers["coupled"]
        position = self._position + len(path)
        probabilities = _probabilities(sampler, row, path)
        best = [int(token) for token in largest(probabilities, SHOWN) if probabilities[token] > 0]
        tokens = dict.fromkeys([*best, *(token for token in named if token < row.size)])
        noise = None if sampler.greedy else sampler.noise(position, row.size)
        found = []
        for token in tokens:
            chance = float(probabilities[token])
            log = float(np.log(chance)) if chance > 0 else None
            added = None if noise is None else float(noise[token])
            score = None if log is None else log + (added or 0.0)
            found.append(Candidate(token, self._text(token), chance, added, score))
        return tuple(found)

    def walk(self, rule: str) -> tuple[Decision, ...]:
        """What a rule decides on this draft, from the root on."""
        steps: list[Decision] = []
        here = ROOT
        while True:
            offered = self._children.get(here, [])
            path = self._path(here)
            sampler = self._samplers[rule]
            decide = self._coupled if sampler.coupled else self._textbook
            hit, token, why = decide(sampler, offered, here, path)
            kind: Kind = "accepted"
            if hit is None:
                kind = "correction" if offered else "bonus" if self._played.draft else "plain"
            steps.append(Decision(here, tuple(offered), hit, token, self._text(token), kind, why))
            if hit is None:
                return tuple(steps)
            here = hit

    def _coupled(
        self, sampler: Sampler, offered: Sequence[int], here: int, path: Sequence[int]
    ) -> tuple[int | None, int, Notice]:
        row = self._rows[here + 1]
        token = sampler.choose(row, self._position + len(path), path)
        hit = next((node for node in offered if self._played.draft[node] == token), None)
        values: dict[str, str | int | float] = {"token": self._text(token)}
        if not offered:
            return None, token, Notice("explain.bonus" if self._played.draft else "explain.plain", values)
        values["percent"] = 100 * float(_probabilities(sampler, row, path)[token])
        way = "greedy" if sampler.greedy else "noise"
        if hit is None:
            values["drafted"] = self._texts(offered)
            return None, token, Notice(f"explain.{way}_miss", values)
        return hit, token, Notice(f"explain.{way}_hit", values)

    def _textbook(
        self, sampler: Sampler, offered: Sequence[int], here: int, path: Sequence[int]
    ) -> tuple[int | None, int, Notice]:
        position = self._position + len(path)
        target_probs = sampler.probabilities(self._rows[here + 1], path)
        coin = coins = keyed_uniform(sampler.seed, position, "accept")
        drawn = self._drafted.get(tuple(path))
        draft_probs = sampler.probabilities(drawn, path) if drawn is not None and len(offered) == 1 else None
        chance = 0.0
        for node in offered:
            token = self._played.draft[node]
            chance = float(target_probs[token]) if token < target_probs.size else 0.0
            values: dict[str, str | int | float] = {
                "token": self._text(token),
                "target": 100 * chance,
                "coin": 100 * coin,
            }
            if draft_probs is None:
                if coins < chance:
                    return node, token, Notice("explain.looked_hit", values)
                if token < target_probs.size:
                    target_probs[token] = 0.0
                coins -= chance
                continue
            q = float(draft_probs[token]) if token < draft_probs.size else 0.0
            values |= {"drafter": 100 * q, "chance": 100 * min(1.0, chance / q if q else 1.0)}
            if coins * q < chance:
                return node, token, Notice("explain.coin_hit", values)
            residual = np.maximum(target_probs - _resized(draft_probs, target_probs.size), 0)
            target_probs = residual if residual.sum() > 0 else target_probs
            own = draw(target_probs, keyed_uniform(sampler.seed, position, "own"))
            return None, own, Notice("explain.coin_miss", values | {"own": self._text(own)})
        own = draw(target_probs, keyed_uniform(sampler.seed, position, "own"))
        if not offered:
            name = "explain.bonus" if self._played.draft else "explain.plain"
            return None, own, Notice(name, {"token": self._text(own)})
        refused: dict[str, str | int | float] = {
            "drafted": self._texts(offered),
            "coin": 100 * coin,
            "own": self._text(own),
        }
        return None, own, Notice("explain.looked_miss", refused)

    def _texts(self, nodes: Sequence[int]) -> str:
        return ", ".join(self._text(self._played.draft[node]) for node in nodes)


def _resized(probabilities: Row, size: int) -> Row:
    return probabilities[:size] if probabilities.size >= size else np.pad(probabilities, (0, size - probabilities.size))
