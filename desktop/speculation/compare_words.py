"""What a comparison is called on screen: settings, kinds of prompts, and the verdict on equal texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication

from desktop.sentences import filled, sentence
from inference.events import Notice

if TYPE_CHECKING:
    from inference.bench.comparison import Comparison, Difference, Setting
    from inference.bench.figures import Figures

Tone = Literal["good", "plain", "bad"]
translate = QCoreApplication.translate


def setting_label(setting: Setting) -> str:
    """A setting in words."""
    mode = mode_label(setting.mode)
    if not setting.on:
        return filled(translate("compare", "Off, {mode}"), mode=mode)
    k = translate("compare", "K auto") if setting.k is None else f"K {setting.k}"
    parts = [drafter_label(setting.drafter), k, mode]
    if setting.recipe is not None:
        parts.insert(1, setting.recipe)
    if setting.rule != "coupled":
        parts.append(translate("compare", "textbook rule"))
    words = ", ".join(parts)
    return words[0].upper() + words[1:]


def mode_label(name: str) -> str:
    """A mode as it is called on screen."""
    return {"exact": translate("compare", "exact"), "fast": translate("compare", "fast")}.get(name, name)


def rule_label(name: str) -> str:
    """A rule as it is called on screen."""
    return {"coupled": translate("compare", "coupled"), "textbook": translate("compare", "textbook")}.get(name, name)


def drafter_label(name: str) -> str:
    """A drafter as it is called on screen."""
    joined = {"hybrid": translate("compare", "repeats and self-draft"), "auto": translate("compare", "automatic")}
    words = joined.get(name) or sentence(Notice(f"drafter.name.{name}"))
    return name if words.startswith("drafter.name.") else words


def kind_label(kind: str) -> str:
    """A kind of prompt; one that is not known is shown as it is."""
    return {
        "poem": translate("compare", "poem"),
        "story": translate("compare", "story"),
        "letter": translate("compare", "letter"),
        "code": translate("compare", "code"),
        "translation": translate("compare", "translation"),
        "summary": translate("compare", "summary"),
        "rewriting": translate("compare", "rewriting"),
        "extraction": translate("compare", "extraction"),
        "question": translate("compare", "question"),
        "arithmetic": translate("compare", "arithmetic"),
        "list": translate("compare", "list"),
        "text": translate("compare", "from a text"),
    }.get(kind, kind)


def verdicts(comparison: Comparison, figures: tuple[Figures, ...]) -> list[tuple[Tone, str]]:
    """For every setting that is held to another's text: whether it is identical, or where it parts first."""
    found: list[tuple[Tone, str]] = []
    plan = comparison.plan
    for at, setting in enumerate(plan.settings):
        same = figures[at].sameness
        if not same.prompts:
            continue
        name = setting_label(setting)
        theirs = at if same.reference < 0 else same.reference
        values: dict[str, object] = {
            "setting": name,
            "reference": setting_label(plan.settings[theirs]),
            "identical": same.identical,
            "prompts": same.prompts,
        }
        if same.identical == same.prompts:
            if same.reference >= 0:
                template = translate("compare", "{setting}: identical to “{reference}” in {identical} of {prompts}")
                found.append(("good", filled(template, **values)))
            continue
        if same.reference < 0:
            template = translate("compare", "{setting}: not the same in every repeat, {identical} of {prompts}")
        else:
            template = translate("compare", "{setting}: identical to “{reference}” in {identical} of {prompts} only")
        is_fault = setting.mode == "exact" and setting.is_bound and plan.settings[theirs].mode == "exact"
        found.append(("bad" if is_fault else "plain", filled(template, **values)))
        first = next((one for one in comparison.differences if one.setting == at), None)
        if first is not None:
            found.append(difference_words(comparison, first, is_fault=is_fault))
    return found


def difference_words(comparison: Comparison, one: Difference, *, is_fault: bool) -> tuple[Tone, str]:
    """The first token that differs, both candidates, the logit gap between them, and what that means."""
    plan = comparison.plan
    template = translate("compare", "First difference in prompt {prompt}, token {token}: {mine} instead of {theirs}")
    if len(plan.prompts[one.prompt].turns) > 1:
        template = translate(
            "compare", "First difference in prompt {prompt}, turn {turn}, token {token}: {mine} instead of {theirs}"
        )
    words = filled(
        template,
        prompt=one.prompt + 1,
        turn=one.step + 1,
        token=one.position + 1,
        mine=_quoted(one.mine.text, one.mine.token),
        theirs=_quoted(one.theirs.text, one.theirs.token),
    )
    if one.gap is not None and one.own_gap is not None:
        gaps = translate("compare", "logit gap {gap:.3f}, in its own pass {own:.3f}")
        words += "; " + filled(gaps, gap=one.gap, own=one.own_gap)
    setting = plan.settings[one.setting]
    if not setting.is_bound:
        return "plain", words + ". " + translate("compare", "The textbook rule keeps the odds, not the text.")
    if one.is_near_tie is None:
        return "bad" if is_fault else "plain", words + "."
    if one.is_near_tie and not is_fault:
        return "plain", words + ". " + translate("compare", "A near tie: rounding tips it.")
    if one.is_near_tie:
        return "bad", words + ". " + translate("compare", "A near tie, but exact mode should leave none to chance.")
    return "bad", words + ". " + translate("compare", "No near tie: something else than rounding chose this token.")


def _quoted(text: str, token: int | None) -> str:
    if token is None:
        return translate("compare", "the end")
    shown = text.replace("\n", "⏎").replace("\t", "⇥")
    return f"“{shown}”" if shown else f"#{token}"
