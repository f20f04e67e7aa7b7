"""The table of what can go wrong: the English sentence of each `error.` id, with what to do about it.

Marked for translation in the context of `desktop.sentences`, which fills and translates them.
"""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP

REFUSALS = {
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
