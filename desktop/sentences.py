"""The sentences of the window: one translated template for each message id, with numbers written as the language does.

Knows nothing of the engine; the ids are those of its notices.
"""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QLocale

from desktop.refusals import REFUSALS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inference.events import Notice

_MARKED = {
    "load.libraries": QT_TRANSLATE_NOOP("sentences", "Starting the numerical libraries"),
    "load.starter": QT_TRANSLATE_NOOP("sentences", "Preparing the starter model, once"),
    "load.reading": QT_TRANSLATE_NOOP("sentences", "Reading {model}"),
    "load.twin": QT_TRANSLATE_NOOP(
        "sentences",
        "Making the low-bit copy: {done} of {total} layers, about {left:.0f} s left",
    ),
    "twin.texts": QT_TRANSLATE_NOOP(
        "sentences",
        "Making the low-bit copy: the model writes texts to learn from, about {left:.0f} s left",
    ),
    "twin.chosen": QT_TRANSLATE_NOOP(
        "sentences",
        "The low-bit copy is {recipe}: a drafted token costs {cost:.2f} of a plain step, {accepted:.0f} % of first "
        "ones are right, so about {speed:.2f} times as fast as without",
    ),
    "twin.candidate": QT_TRANSLATE_NOOP("sentences", "{recipe}: {cost:.2f}, {accepted:.0f} %, {speed:.2f} times"),
    "twin.measuring": QT_TRANSLATE_NOOP("sentences", "Measuring the low-bit copy"),
    "load.measuring": QT_TRANSLATE_NOOP("sentences", "Measuring this machine"),
    "load.graphs": QT_TRANSLATE_NOOP("sentences", "Preparing the card: {done} of {total} kinds of passes"),
    "load.no_graphs": QT_TRANSLATE_NOOP(
        "sentences", "This card runs without graphs and low-bit kernels, so steps are slower: {reason}"
    ),
    "load.compiling": QT_TRANSLATE_NOOP("sentences", "Compiling the products for this processor, once"),
    "load.exact": QT_TRANSLATE_NOOP("sentences", "Testing that several rows give the same bits as one"),
    "load.ready": QT_TRANSLATE_NOOP("sentences", "{model} is ready on {device}"),
    "starter.waiting": QT_TRANSLATE_NOOP(
        "sentences",
        "Waiting for another Borrador to finish preparing the starter model",
    ),
    "starter.unpacking": QT_TRANSLATE_NOOP("sentences", "Unpacking the starter model"),
    "starter.converting": QT_TRANSLATE_NOOP("sentences", "Converting the starter model, once (about 20 seconds)"),
    "fit.gpu": QT_TRANSLATE_NOOP(
        "sentences",
        "Takes about {needed_gb:.1f} of the {free_gb:.1f} GB that are free on the GPU",
    ),
    "fit.gpu_lacks": QT_TRANSLATE_NOOP(
        "sentences",
        "Needs about {needed_gb:.1f} GB; the GPU has {free_gb:.1f} GB free",
    ),
    "fit.ram": QT_TRANSLATE_NOOP(
        "sentences",
        "Takes about {needed_gb:.1f} of the {free_gb:.1f} GB of memory that are free",
    ),
    "fit.ram_lacks": QT_TRANSLATE_NOOP(
        "sentences",
        "Needs about {needed_gb:.1f} GB of memory; {free_gb:.1f} GB are free",
    ),
    "fit.try_recipe": QT_TRANSLATE_NOOP("sentences", "With the smaller copy {recipe} it would fit."),
    "fit.try_no_twin": QT_TRANSLATE_NOOP("sentences", "Without the low-bit copy it would fit."),
    "fit.try_context": QT_TRANSLATE_NOOP(
        "sentences",
        "With a context of {context} tokens and no low-bit copy it would fit.",
    ),
    "fit.try_half": QT_TRANSLATE_NOOP("sentences", "In bfloat16 it would fit."),
    "fit.try_int8": QT_TRANSLATE_NOOP("sentences", "With 8 bits for each weight it would fit."),
    "fit.try_nf4": QT_TRANSLATE_NOOP(
        "sentences",
        "With 4 bits for each weight it would fit; repeats of the chat (n-gram) would draft, as a low-bit copy does "
        "not pay beside 4 bits.",
    ),
    "fit.card_pays": QT_TRANSLATE_NOOP(
        "sentences",
        "{card} GB card: {dtype}, about {speed:.1f}x with K {k} (forecast, at {percent:.0f} % accepted)",
    ),
    "fit.card_plain": QT_TRANSLATE_NOOP(
        "sentences",
        "{card} GB card: {dtype}; a draft would hardly gain anything (forecast {speed:.1f}x with K {k} at "
        "{percent:.0f} % accepted)",
    ),
    "fit.card_four_bits": QT_TRANSLATE_NOOP(
        "sentences",
        "{card} GB card: 4 bits for each weight; repeats of the chat (n-gram) would draft, as a low-bit copy does not "
        "pay beside 4 bits",
    ),
    "fit.card_too_small": QT_TRANSLATE_NOOP("sentences", "{card} GB card: too small for this model"),
    "fit.then_recipe": QT_TRANSLATE_NOOP("sentences", "a smaller copy to draft with would fit"),
    "fit.then_no_twin": QT_TRANSLATE_NOOP("sentences", "without the low-bit copy it would fit"),
    "fit.then_context": QT_TRANSLATE_NOOP("sentences", "with a smaller context it would fit"),
    "fit.then_half": QT_TRANSLATE_NOOP("sentences", "in bfloat16 it would fit"),
    "fit.then_int8": QT_TRANSLATE_NOOP("sentences", "with 8 bits for each weight it would fit"),
    "fit.then_nf4": QT_TRANSLATE_NOOP("sentences", "with 4 bits for each weight it would fit"),
    "fit.then_nothing": QT_TRANSLATE_NOOP("sentences", "choose a smaller model, or close other programs"),
    "download.searching": QT_TRANSLATE_NOOP("sentences", "Searching the hub for {words}"),
    "download.listing": QT_TRANSLATE_NOOP("sentences", "Asking for the files of {model}"),
    "download.progress": QT_TRANSLATE_NOOP(
        "sentences",
        "Downloading {model}: {done_mb:.0f} of {total_mb:.0f} MB, {speed_mb:.1f} MB/s",
    ),
    "download.elsewhere": QT_TRANSLATE_NOOP("sentences", "Waiting for another program that is fetching {model}"),
    "download.asked_to_wait": QT_TRANSLATE_NOOP("sentences", "The hub is busy; going on in {seconds} s"),
    "download.checking": QT_TRANSLATE_NOOP("sentences", "Checking {file}"),
    "convert.reading": QT_TRANSLATE_NOOP("sentences", "Reading {model}"),
    "convert.reading_part": QT_TRANSLATE_NOOP("sentences", "Converting: {done_m:.0f} of {total_m:.0f} million weights"),
    "convert.writing": QT_TRANSLATE_NOOP("sentences", "Writing {model} as safetensors"),
    "convert.checking": QT_TRANSLATE_NOOP("sentences", "Checking the weights of {model}"),
    "convert.elsewhere": QT_TRANSLATE_NOOP("sentences", "Waiting for another Borrador that is importing {model}"),
    "convert.moving": QT_TRANSLATE_NOOP("sentences", "Moving {file}"),
    "convert.tokenizer_unsure": QT_TRANSLATE_NOOP(
        "sentences",
        "The file names a way of splitting text ({rule}) that is not known here, so its tokens may differ from the "
        "original's; where you can, use a copy with safetensors.",
    ),
    "download.retrying": QT_TRANSLATE_NOOP("sentences", "The line broke; trying again in {seconds} s"),
    "download.stalled": QT_TRANSLATE_NOOP("sentences", "The line stood still; connecting anew"),
    "speculation.on": QT_TRANSLATE_NOOP("sentences", "On: K {k}, {speedup:.1f}x"),
    "speculation.measuring": QT_TRANSLATE_NOOP("sentences", "On: K {k}, measuring"),
    "speculation.auto": QT_TRANSLATE_NOOP(
        "sentences", "Auto: {reason}, K {k}; {rate:.0f} tokens/s so, {plain:.0f} without"
    ),
    "speculation.hybrid": QT_TRANSLATE_NOOP("sentences", "Hybrid: {reason}, K {k}, {speedup:.1f}x"),
    "speculation.resting": QT_TRANSLATE_NOOP("sentences", "Resting: drafting costs more than it saves here"),
    "speculation.off": QT_TRANSLATE_NOOP("sentences", "Off: every word comes from a step of its own"),
    "speculation.zero": QT_TRANSLATE_NOOP("sentences", "Off: K is set to 0"),
    "speculation.none": QT_TRANSLATE_NOOP("sentences", "Off: {reason}"),
    "drafter.none": QT_TRANSLATE_NOOP("sentences", "no drafter is chosen"),
    "drafter.low_bit_target": QT_TRANSLATE_NOOP(
        "sentences", "the model itself is in few bits, so a copy in fewer saves too little to pay"
    ),
    "drafter.recurrent": QT_TRANSLATE_NOOP("sentences", "this model keeps a running state that cannot be rolled back"),
    "drafter.no_linear": QT_TRANSLATE_NOOP("sentences", "this model has no matrices a low-bit copy could be made of"),
    "drafter.name.none": QT_TRANSLATE_NOOP("sentences", "plain steps"),
    "drafter.name.twin": QT_TRANSLATE_NOOP("sentences", "self-draft"),
    "drafter.name.ngram": QT_TRANSLATE_NOOP("sentences", "repeats"),
    "drafter.name.small-model": QT_TRANSLATE_NOOP("sentences", "a smaller model"),
    "drafter.no_draft_model": QT_TRANSLATE_NOOP("sentences", "no smaller model was chosen to draft"),
    "drafter.no_partner": QT_TRANSLATE_NOOP(
        "sentences", "it joins repeats in the chat with a model that drafts, and there is none yet"
    ),
    "drafter.nothing": QT_TRANSLATE_NOOP("sentences", "this model has no drafter"),
    "drafter.later": QT_TRANSLATE_NOOP("sentences", "the low-bit copy is still being made"),
    "drafter.no_memory": QT_TRANSLATE_NOOP("sentences", "there is not enough memory for a low-bit copy"),
    "drafter.not_made": QT_TRANSLATE_NOOP("sentences", "it was not made when the model was loaded"),
    "drafter.twin_failed": QT_TRANSLATE_NOOP("sentences", "the low-bit copy could not be made: {detail}"),
    "exact.on": QT_TRANSLATE_NOOP("sentences", "Exact: speculation changes no bit of the answer"),
    "exact.off_chosen": QT_TRANSLATE_NOOP(
        "sentences",
        "Fast: chosen by you; near ties may fall differently with speculation on and off",
    ),
    "exact.off_cost": QT_TRANSLATE_NOOP("sentences", "Fast: exact mode would cost {percent:.0f} % on this machine"),
    "exact.off_weights": QT_TRANSLATE_NOOP(
        "sentences", "Fast: the kernels of these weights give other bits for other row counts"
    ),
    "exact.off_recurrent": QT_TRANSLATE_NOOP(
        "sentences", "Fast: nothing is drafted for this model, so there is nothing to keep equal"
    ),
    "exact.off_rows": QT_TRANSLATE_NOOP(
        "sentences",
        "Fast: this machine's kernels give other bits for other row counts",
    ),
    "finish.end": QT_TRANSLATE_NOOP("sentences", "finished"),
    "finish.stop": QT_TRANSLATE_NOOP("sentences", "ended at the stop text"),
    "finish.length": QT_TRANSLATE_NOOP("sentences", "ended at the limit of {limit} tokens"),
    "finish.context": QT_TRANSLATE_NOOP("sentences", "ended at the end of the context of {limit} tokens"),
    "finish.cancelled": QT_TRANSLATE_NOOP("sentences", "stopped"),
    "finish.failed": QT_TRANSLATE_NOOP("sentences", "interrupted by an error"),
    "context.begins_at": QT_TRANSLATE_NOOP(
        "sentences",
        "{turns} older turns no longer fit into the context of {limit} tokens and are left out; the model read from"
        " “{first}” on",
    ),
    "context.left_out": QT_TRANSLATE_NOOP(
        "sentences",
        "{turns} older turns no longer fit into the context of {limit} tokens and are left out",
    ),
    "template.missing": QT_TRANSLATE_NOOP("sentences", "This model brings no chat template; a plain one is used"),
    "template.system_merged": QT_TRANSLATE_NOOP(
        "sentences",
        "This model knows no system role; the system prompt is put before the first question",
    ),
    "compare.describing": QT_TRANSLATE_NOOP("sentences", "Noting model and machine for the record"),
    "compare.recipe": QT_TRANSLATE_NOOP("sentences", "Getting the self-draft copy {recipe}"),
    "compare.warming": QT_TRANSLATE_NOOP("sentences", "Warming up: {setting}"),
    "compare.looking": QT_TRANSLATE_NOOP("sentences", "Looking into the first difference: {setting}"),
    "compare.settings": QT_TRANSLATE_NOOP("sentences", "A comparison has {fewest} to {most} settings."),
    "compare.twice": QT_TRANSLATE_NOOP(
        "sentences",
        "The setting {setting} is there twice; change one of the two.",
    ),
    "compare.no_mode": QT_TRANSLATE_NOOP(
        "sentences",
        "This model cannot write in {mode} mode here; choose the other mode.",
    ),
    "compare.foreign": QT_TRANSLATE_NOOP(
        "sentences",
        "This file is no record of a comparison ({detail}); choose a JSON file that Compare saved.",
    ),
    "explain.gone": QT_TRANSLATE_NOOP(
        "sentences",
        "This round can no longer be laid open: its reply was not written by the model as it is loaded now. "
        "Ask again to see its rounds.",
    ),
    "explain.running": QT_TRANSLATE_NOOP(
        "sentences",
        "This model keeps a running state, which cannot be set back to an earlier round.",
    ),
    "explain.greedy_hit": QT_TRANSLATE_NOOP(
        "sentences",
        "The target's best token is “{token}” ({percent:.1f} %), and the draft carries it: accepted.",
    ),
    "explain.greedy_miss": QT_TRANSLATE_NOOP(
        "sentences",
        "The target's best token is “{token}” ({percent:.1f} %); the draft said “{drafted}”: corrected.",
    ),
    "explain.noise_hit": QT_TRANSLATE_NOOP(
        "sentences",
        "With the noise of this place “{token}” ({percent:.1f} %) has the target's highest score, and the "
        "draft carries it: accepted.",
    ),
    "explain.noise_miss": QT_TRANSLATE_NOOP(
        "sentences",
        "With the noise of this place “{token}” ({percent:.1f} %) has the target's highest score; the draft "
        "said “{drafted}”: corrected.",
    ),
    "explain.bonus": QT_TRANSLATE_NOOP(
        "sentences",
        "The whole draft survived; the target adds “{token}” from the same pass.",
    ),
    "explain.plain": QT_TRANSLATE_NOOP("sentences", "Nothing was drafted; the target writes “{token}”."),
    "explain.coin_hit": QT_TRANSLATE_NOOP(
        "sentences",
        "The target gives “{token}” {target:.1f} %, the drafter {drafter:.1f} %: accepted with a chance of "
        "{chance:.1f} %. The coin fell at {coin:.1f} %: accepted.",
    ),
    "explain.coin_miss": QT_TRANSLATE_NOOP(
        "sentences",
        "The target gives “{token}” {target:.1f} %, the drafter {drafter:.1f} %: accepted with a chance of "
        "{chance:.1f} %. The coin fell at {coin:.1f} %: refused, and what the target has beyond the drafter "
        "gives “{own}”.",
    ),
    "explain.looked_hit": QT_TRANSLATE_NOOP(
        "sentences",
        "“{token}” is a fixed candidate, so the target's own {target:.1f} % decide. The coin fell at "
        "{coin:.1f} %: accepted.",
    ),
    "explain.looked_miss": QT_TRANSLATE_NOOP(
        "sentences",
        "“{drafted}” was refused (the coin fell at {coin:.1f} %); what is left to the target gives “{own}”.",
    ),
    "memory.order": QT_TRANSLATE_NOOP(
        "sentences",
        "When memory runs out, this is given up, in this order: the card's graphs, bits of the low-bit copy, the "
        "low-bit copy, half of the context. The model itself is never changed.",
    ),
    "memory.no_graphs": QT_TRANSLATE_NOOP(
        "sentences", "Memory ran out: steps run without graphs from now on, which is slower."
    ),
    "memory.fewer_bits": QT_TRANSLATE_NOOP(
        "sentences", "Memory ran out: the low-bit copy is made with fewer bits ({recipe})."
    ),
    "memory.no_twin": QT_TRANSLATE_NOOP("sentences", "Memory ran out: the low-bit copy was let go."),
    "memory.less_context": QT_TRANSLATE_NOOP(
        "sentences", "Memory ran out: the context holds {context} tokens from now on."
    ),
    "memory.choose_int8": QT_TRANSLATE_NOOP("sentences", "choose 8 bits for each weight, or a smaller model"),
    "memory.choose_smaller": QT_TRANSLATE_NOOP("sentences", "choose a smaller model, or close other programs"),
}
TERMINAL_ONLY = ("bench.", "demo.", "doctor.", "run.", "terminal.")
"""What the ids begin with that the window never shows."""
TEMPLATES = cast("dict[str, str]", {**_MARKED, **REFUSALS})
"""The English template of each message id; `sentence` translates it."""


class _Localised(Formatter):
    """Fills a template; a number with decimals gets the language's own decimal sign."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, int | float) and format_spec.startswith(".") and format_spec.endswith("f"):
            return number(float(value), int(format_spec[1:-1]))
        return str(super().format_field(value, format_spec))


def number(value: float, decimals: int = 0) -> str:
    """``value`` as the language writes it."""
    locale = QLocale()
    locale.setNumberOptions(QLocale.NumberOption.OmitGroupSeparator)
    return locale.toString(value, "f", decimals)


def filled(template: str, **values: object) -> str:
    """``template`` with ``values`` put in by name, numbers as the language writes them."""
    return _Localised().vformat(template, (), values)


def sentence(notice: Notice) -> str:
    """The translated sentence for ``notice``; an id this window does not know is shown as it is, with its values."""
    template = TEMPLATES.get(notice.id)
    if template is None:
        return " ".join((notice.id, *map(str, notice.values.values())))
    try:
        return filled(QCoreApplication.translate("sentences", template), **_values(notice.values))
    except (KeyError, ValueError):
        return QCoreApplication.translate("sentences", template)


def _values(values: Mapping[str, str | int | float]) -> dict[str, object]:
    """Values whose text is itself a message id (a reason) as the sentence they stand for."""
    return {
        name: QCoreApplication.translate("sentences", TEMPLATES[value])
        if name == "reason" and isinstance(value, str) and value in TEMPLATES
        else value
        for name, value in values.items()
    }
