"""A benchmark's record as lines for people. Reads the record only, so a stored one prints the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inference.messages import Notice, sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTHING = "-"


def lines(record: dict[str, Any]) -> list[str]:
    """The whole report: what was measured, figures by contender, speeds by group, differences, the twin."""
    model, report = record["model"], record["report"]
    found = [
        say(
            "bench.heading",
            model=model["name"],
            device=model["device_name"],
            dtype=model["dtype"],
            prompts=len(record["prompts"]),
            limit=record["max_new_tokens"],
            temperature=f"{record['sampling']['temperature']:g}",
        ),
        sentence(Notice(**record["mode_notice"])),
        "",
        *table(_overall(report)),
        "",
        *table(_groups(report)),
        "",
        *_histograms(report),
    ]
    for name, figures in report.items():
        for at in figures["text"]["different"]:
            place = {"prompt": at["prompt"] + 1, "turn": at["turn"] + 1, "position": at["position"] + 1}
            found.append(say("bench.different", contender=name, **place))
    found += _identities(report)
    if "twin" in record:
        found += ["", *_twin(record["twin"])]
    return found


def say(id: str, **values: str | int | float) -> str:
    """The sentence of a message."""
    return sentence(Notice(id, values))


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows with columns of one width; the first column stands left, the others right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _overall(report: dict[str, Any]) -> list[list[str]]:
    modes = list(dict.fromkeys(mode for figures in report.values() for mode in figures["against"]))
    heads = ["", "tokens/s", *(f"x {mode}" for mode in modes), "model's x", "accepted", "tokens/round", "same text"]
    found = [heads]
    for name, figures in report.items():
        text = figures["text"]
        found.append([
            name,
            number(figures["tokens_per_second"], 1),
            *(with_error(figures["against"][mode]["speed_up"], figures["against"][mode]["standard_error"])
              for mode in modes),
            number(figures.get("predicted")),
            _share(figures["acceptance"]),
            number(figures["tokens_per_round"]),
            f"{text['identical']} of {text['prompts']}",
        ])
    return found


def _histograms(report: dict[str, Any]) -> list[str]:
    """Shares of rounds at each K, of contenders that planned more than one."""
    found = []
    for name, figures in report.items():
        counts = figures["k_histogram"]
        if sum(count > 0 for count in counts) > 1:
            shares = [f"{k} in {100 * count / sum(counts):.0f} %" for k, count in enumerate(counts) if count]
            found.append(say("bench.k", contender=name, shares=", ".join(shares)))
        if "of_best" in figures:
            found.append(say("bench.of_best", contender=name, share=figures["of_best"]))
    return found


def _groups(report: dict[str, Any]) -> list[list[str]]:
    groups = list(dict.fromkeys(group for figures in report.values() for group in figures["groups"]))
    return [
        ["tokens/s", *groups],
        *([name, *(number(figures["groups"].get(group), 1) for group in groups)] for name, figures in report.items()),
    ]


def _identities(report: dict[str, Any]) -> list[str]:
    found: dict[str, list[str]] = {}
    for name, figures in report.items():
        for identity in figures["identities"]:
            found.setdefault(identity, []).append(name)
    return [say("bench.identity", identity=identity, contenders=", ".join(names)) for identity, names in found.items()]


def _twin(twin: dict[str, Any]) -> list[str]:
    bits = twin["bits"]
    found = [
        say("bench.twin", seconds=twin["build_seconds"], **bits),
        say("bench.draft", draft=twin["draft_ms"], plain=twin["plain_ms"], c=twin["c"]),
    ]
    if twin["acceptance"]:
        found.append(say("bench.acceptance", k=twin["k"], share=_share(twin["acceptance"])))
        depths = [_share(at) for at in twin["acceptance_by_depth"]]
        found.append(say("bench.depths", shares=", ".join(depths)))
    return found


def sampling_lines(record: dict[str, Any]) -> list[str]:
    """The cost of choosing a token."""
    rows = [["sampling", "row", "vocabulary", "ms", "step ms", "of a step"]]
    for cost in record["sampling_cost"]:
        rows.append([
            cost["sampling"],
            cost["row"],
            f"{cost['vocabulary']:,}",
            number(cost["ms"], 3),
            number(cost["step_ms"], 1),
            f"{100 * cost['share']:.1f} %",
        ])
    return [say("bench.sampling", model=record["model"]["name"], plain=record["plain_ms"]), "", *table(rows)]


def replay_lines(record: dict[str, Any]) -> list[str]:
    """Whether an earlier benchmark's replies came again."""
    found = [say("bench.replay", identical=record["identical"], replies=record["replies"])]
    for change in record["identities"]:
        if change["before"] != change["now"]:
            found.append(say("bench.other_identity", **change))
    for at in record["different"]:
        place = {"prompt": at["prompt"] + 1, "turn": at["turn"] + 1, "position": at["position"] + 1}
        found.append(say("bench.different_then", contender=at["contender"], **place))
    return [*found, "", *table(_then_and_now(record["before"], record["report"]))]


def _then_and_now(before: dict[str, Any], report: dict[str, Any]) -> list[list[str]]:
    rows = [["then / now", "tokens/s", "accepted", "tokens/round"]]
    for name, now in report.items():
        then = before.get(name, {})
        accepted = [number((one.get("acceptance") or {}).get("value"), 3) for one in (then, now)]
        pairs = [
            " / ".join(number(one.get(figure), digits) for one in (then, now))
            for figure, digits in (("tokens_per_second", 1), ("tokens_per_round", 2))
        ]
        rows.append([name, pairs[0], " / ".join(accepted), pairs[1]])
    return rows


def number(value: float | None, digits: int = 2) -> str:
    """A figure, or a dash for none."""
    return NOTHING if value is None else f"{value:.{digits}f}"


def with_error(value: float | None, error: float | None) -> str:
    """A figure with its standard error where there is one."""
    return number(value) if value is None or error is None else f"{value:.2f} ± {error:.2f}"


def _share(found: dict[str, Any] | None) -> str:
    if found is None:
        return NOTHING
    error = found["standard_error"]
    return f"{found['value']:.3f}" + (f" ± {error:.3f}" if error is not None else "")
