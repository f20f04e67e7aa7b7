"""The sentences of the window: one translated template for each message id, with numbers written as the language does.

Knows nothing of the engine; the ids are those of its notices.
"""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QLocale

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
    "twin.measuring": QT_TRANSLATE_NOOP("sentences", "Measuring the low-bit copy"),
    "load.measuring": QT_TRANSLATE_NOOP("sentences", "Measuring this machine"),
    "load.graphs": QT_TRANSLATE_NOOP("sentences", "Preparing the card: {done} of {total} kinds of passes"),
    "load.no_graphs": QT_TRANSLATE_NOOP(
        "sentences", "This card runs without graphs and low-bit kernels, so steps are slower: {reason}"
    ),
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
    "fit.try_nf4": QT_TRANSLATE_NOOP("sentences", "With 4 bits for each weight it would fit."),
    "fit.card_pays": QT_TRANSLATE_NOOP(
        "sentences",
        "{card} GB card: {dtype}, about {speed:.1f}x with K {k} (forecast, at {percent:.0f} % accepted)",
    ),
    "fit.card_plain": QT_TRANSLATE_NOOP(
        "sentences",
        "{card} GB card: {dtype}; a draft would hardly gain anything (forecast {speed:.1f}x with K {k} at "
        "{percent:.0f} % accepted)",
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
    "error.setting": QT_TRANSLATE_NOOP("sentences", "{field} is {value}; it must be {allowed}."),
    "error.busy": QT_TRANSLATE_NOOP("sentences", "A reply is still being written; press Stop first."),
    "error.no_model": QT_TRANSLATE_NOOP("sentences", "No model is loaded; choose one first."),
    "error.model_not_found": QT_TRANSLATE_NOOP(
        "sentences",
        "There is no model at {model}; give a folder, owner/name, or starter.",
    ),
    "error.not_installed": QT_TRANSLATE_NOOP("sentences", "{model} is not installed; choose one of the list."),
    "error.shared": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} is also used by others, in {folder}; confirm to remove it from there as well ({size_mb:.0f} MB).",
    ),
    "error.ambiguous": QT_TRANSLATE_NOOP("sentences", "{model} means several models; choose one of {choices}."),
    "error.not_a_model": QT_TRANSLATE_NOOP("sentences", "{model} holds no language model: {detail}."),
    "error.model_incomplete": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} is not complete ({files} is missing or damaged); download it again.",
    ),
    "error.model_damaged": QT_TRANSLATE_NOOP("sentences", "{model} cannot be read: {detail}; download it again."),
    "error.model_unsafe": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} holds pickle weights only ({files}); choose a copy with safetensors.",
    ),
    "error.remote_code": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} needs program code of its own, from {repository} at revision {revision}; allow it on the models "
        "page, or choose another model.",
    ),
    "error.foreign_code": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} takes program code from another repository ({repository}), which Borrador never runs; choose another "
        "model.",
    ),
    "error.quantized": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} is quantized with {method}, which cannot be read here; choose a copy that is not quantized.",
    ),
    "error.architecture": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} is of the kind {architecture}, which transformers {version} does not know.",
    ),
    "error.recurrent": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} keeps a running state between tokens in a way that cannot be run here; choose another model.",
    ),
    "error.no_draft_model": QT_TRANSLATE_NOOP(
        "sentences",
        "The small-model drafter needs a smaller model of the same tokenizer; name it with --draft-model.",
    ),
    "error.other_tokenizer": QT_TRANSLATE_NOOP(
        "sentences",
        "{draft} cannot draft for {target}: their tokenizers differ, so the same number would mean another text; "
        "choose a smaller model of the same family.",
    ),
    "error.draft_model_running": QT_TRANSLATE_NOOP(
        "sentences",
        "{draft} cannot draft for {target}: it keeps a running state that cannot be rolled back; choose another "
        "smaller model.",
    ),
    "error.missing_weights": QT_TRANSLATE_NOOP("sentences", "{model} lacks the weights {names}; download it again."),
    "error.surplus_weights": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} holds weights that its config.json has no place for ({names}); fetch it again.",
    ),
    "error.weights_shape": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} and its config.json do not fit together: {detail}; fetch it again.",
    ),
    "error.rope": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} has rotary settings that transformers {version} does not support ({detail}); choose another model.",
    ),
    "error.missing_library": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} needs a library that is not installed ({detail}); choose another model.",
    ),
    "error.network": QT_TRANSLATE_NOOP(
        "sentences",
        "The model hub cannot be reached ({detail}); check the network, or choose a model that is here.",
    ),
    "error.repo_not_found": QT_TRANSLATE_NOOP(
        "sentences",
        "The hub knows no {model}; check the name, or sign in if it is private.",
    ),
    "error.revision_not_found": QT_TRANSLATE_NOOP("sentences", "{model} has no revision {revision}."),
    "error.gated": QT_TRANSLATE_NOOP("sentences", "{model} asks you to accept its licence first, at {page}."),
    "error.sign_in": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} wants you signed in and its licence accepted at {page}; then put your token into the settings, or "
        "set HF_TOKEN.",
    ),
    "error.token": QT_TRANSLATE_NOOP(
        "sentences",
        "The hub refuses your token; make a new one and put it into the settings, or set HF_TOKEN.",
    ),
    "error.token_form": QT_TRANSLATE_NOOP(
        "sentences",
        "That is no token of the hub; copy it whole, it begins with hf_.",
    ),
    "error.proxy": QT_TRANSLATE_NOOP(
        "sentences",
        "The proxy {proxy} cannot be used ({detail}); check it in the settings, or empty it there.",
    ),
    "error.certificate": QT_TRANSLATE_NOOP(
        "sentences",
        "The hub's certificate cannot be trusted ({detail}); check this machine's clock, and the proxy or virus "
        "scanner in between.",
    ),
    "error.changed": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} changed on the hub meanwhile; start the download again, and what still fits is kept.",
    ),
    "error.choose_file": QT_TRANSLATE_NOOP("sentences", "{model} holds GGUF files; choose one of them: {files}."),
    "error.offline_search": QT_TRANSLATE_NOOP(
        "sentences",
        "The offline switch is on; turn it off in the settings to search the hub.",
    ),
    "error.forbidden": QT_TRANSLATE_NOOP(
        "sentences",
        "Your token may not read {model}; give it that right, or choose another model.",
    ),
    "error.rate_limit": QT_TRANSLATE_NOOP(
        "sentences",
        "The hub asks to wait; try again in some minutes, and what is here is kept.",
    ),
    "error.offline": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} is not here and the offline switch (HF_HUB_OFFLINE) is on; turn it off to fetch it.",
    ),
    "error.download_damaged": QT_TRANSLATE_NOOP(
        "sentences",
        "{file} of {model} arrived damaged twice; try again later.",
    ),
    "error.weights_disagree": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} holds two sets of weights that disagree ({one}, {other}); remove one of them.",
    ),
    "error.weights_mixed": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} mixes files of different copies ({one} and {other} disagree); download it again.",
    ),
    "error.repo_incomplete": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} lacks {files} on the hub itself; choose another copy.",
    ),
    "error.gguf": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} holds GGUF files only; import one of them, or choose a copy with safetensors.",
    ),
    "error.gguf_damaged": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} is not a whole GGUF file ({detail}); fetch it again.",
    ),
    "error.gguf_kind": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} uses the quantization {kinds}, which cannot be read; try {instead}.",
    ),
    "error.gguf_architecture": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} is a GGUF file of the kind {architecture}, which transformers {version} cannot convert; choose a "
        "copy with safetensors.",
    ),
    "error.gguf_parts": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} is one part of a set, and {files} is missing; put all parts into one folder.",
    ),
    "error.not_converted": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} cannot be imported: {detail}; choose a copy with safetensors.",
    ),
    "error.pickle": QT_TRANSLATE_NOOP(
        "sentences",
        "{file} of {model} holds more than weights, or is damaged, so it was not opened; choose a copy with "
        "safetensors.",
    ),
    "error.not_numbers": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} is damaged: {tensor} holds values that are no numbers; fetch it again.",
    ),
    "error.convert_memory": QT_TRANSLATE_NOOP(
        "sentences",
        "Importing {model} needs about {needed_gb:.1f} GB of memory, and {free_gb:.1f} GB are free; close other "
        "programs, or choose a smaller model.",
    ),
    "error.cancelled": QT_TRANSLATE_NOOP("sentences", "Loading was stopped; what has been fetched is kept."),
    "error.disk_full": QT_TRANSLATE_NOOP(
        "sentences",
        "The disk with {folder} is full; free some space and try again, and what is here is kept.",
    ),
    "error.hub": QT_TRANSLATE_NOOP("sentences", "The hub answered with an error ({detail}); try again later."),
    "error.disk": QT_TRANSLATE_NOOP(
        "sentences",
        "{folder} needs {needed_mb:.0f} MB of free space and has {free_mb:.0f} MB; free some and try again.",
    ),
    "error.twin_memory": QT_TRANSLATE_NOOP(
        "sentences",
        "The low-bit copy needs about {needed_gb:.1f} GB of memory; {free_gb:.1f} GB are free.",
    ),
    "error.memory": QT_TRANSLATE_NOOP(
        "sentences",
        "The model needs about {needed_gb:.1f} GB of memory; {free_gb:.1f} GB are free.",
    ),
    "error.does_not_fit": QT_TRANSLATE_NOOP(
        "sentences",
        "{model} needs about {needed_gb:.1f} GB of memory, and {free_gb:.1f} GB are free; {reason}.",
    ),
    "error.out_of_memory": QT_TRANSLATE_NOOP(
        "sentences",
        "The memory is used up; choose a smaller context or a smaller model.",
    ),
    "error.memory_used_up": QT_TRANSLATE_NOOP(
        "sentences",
        "The memory is used up; {free_gb:.1f} of {total_gb:.1f} GB are free again, so choose a smaller context, a "
        "smaller model, or no low-bit copy.",
    ),
    "error.memory_asked": QT_TRANSLATE_NOOP(
        "sentences",
        "The memory is used up: {asked_gb:.1f} GB more were needed, and {free_gb:.1f} of {total_gb:.1f} GB are free "
        "again; choose a smaller context, a smaller model, or no low-bit copy.",
    ),
    "error.memory_weights": QT_TRANSLATE_NOOP(
        "sentences",
        "The memory is used up by {model} itself; {free_gb:.1f} of {total_gb:.1f} GB are free again, so {reason}.",
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
    "error.died_loading": QT_TRANSLATE_NOOP(
        "sentences",
        "Borrador ended while it was loading {model}, which needs about {needed_gb:.1f} GB of the {free_gb:.1f} GB "
        "that were free; load it again, or choose a smaller one.",
    ),
    "error.starter_missing": QT_TRANSLATE_NOOP(
        "sentences",
        "The starter model is not here; run the program once with a network: {command}",
    ),
    "error.starter_damaged": QT_TRANSLATE_NOOP(
        "sentences",
        "The starter file does not have the right hash; it has been set aside. Start again to fetch it anew.",
    ),
    "error.starter_network": QT_TRANSLATE_NOOP(
        "sentences",
        "The starter model could not be fetched ({detail}); check the network and start again.",
    ),
    "error.no_pip": QT_TRANSLATE_NOOP(
        "sentences",
        "This Python has no pip, which fetches the starter model; run: {command}",
    ),
    "error.permission": QT_TRANSLATE_NOOP(
        "sentences",
        "{folder} cannot be written ({detail}); change its permissions or choose another folder.",
    ),
    "error.no_models_folder": QT_TRANSLATE_NOOP(
        "sentences",
        "The models folder {folder} is not there; connect its disk, or choose another folder for models.",
    ),
    "error.device": QT_TRANSLATE_NOOP("sentences", "{device} cannot be used: {detail}"),
    "error.drafter": QT_TRANSLATE_NOOP("sentences", "{drafter} is not a drafter; choose one of {allowed}."),
    "error.drafter_unavailable": QT_TRANSLATE_NOOP("sentences", "{drafter} cannot draft for {model}: {reason}"),
    "error.prompt_too_long": QT_TRANSLATE_NOOP(
        "sentences",
        "This message has {size} tokens; the context holds {limit}. Shorten it or enlarge the context.",
    ),
    "error.empty_prompt": QT_TRANSLATE_NOOP("sentences", "There is nothing to answer; write a message first."),
    "error.template": QT_TRANSLATE_NOOP("sentences", "The chat template of {model} failed: {detail}"),
    "error.template_endless": QT_TRANSLATE_NOOP(
        "sentences",
        "The chat template of {model} ran over {seconds:.0f} seconds; choose another model.",
    ),
    "error.interrupted": QT_TRANSLATE_NOOP("sentences", "Stopped."),
    "error.write": QT_TRANSLATE_NOOP("sentences", "{file} cannot be written: {detail}."),
    "error.k_too_large": QT_TRANSLATE_NOOP("sentences", "K is {k}; in this mode it can be at most {largest}."),
    "error.not_a_token": QT_TRANSLATE_NOOP(
        "sentences",
        "The text {text} is {count} tokens of this model; logit bias needs a text of one token.",
    ),
    "error.file": QT_TRANSLATE_NOOP("sentences", "{file} cannot be read: {detail}"),
    "error.unexpected": QT_TRANSLATE_NOOP("sentences", "Something went wrong ({detail}); the chat can go on."),
}
TERMINAL_ONLY = ("bench.", "demo.", "doctor.", "run.", "terminal.")
"""What the ids begin with that the window never shows."""
TEMPLATES = cast("dict[str, str]", _MARKED)
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
