"""Templates in the public formats of ten model families, written for the tests, each with a tiny tokenizer of its kind.

``first`` and ``second`` are what a family makes of a chat: question "hi", then answer "hello" and question "bye".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tiny_tokenizers import tiny_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast


@dataclass(frozen=True, slots=True)
class Family:
    name: str
    kind: str
    template: str
    first: str
    second: str
    end: str
    system: str | None  # the first prompt with the system prompt "be kind"; None where there is no system role
    special: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    swallowing: tuple[str, ...] = ()
    bos: str | None = "<s>"
    eos: str = "</s>"
    adds_bos: bool = True

    def tokenizer(self) -> PreTrainedTokenizerFast:
        return tiny_tokenizer(
            self.kind, special=self.special, added=self.added, swallowing=self.swallowing, bos=self.bos, eos=self.eos,
            adds_bos=self.adds_bos, template=self.template,
        )  # fmt: skip


QWEN = Family(
    name="qwen",
    kind="byte",
    template="""{%- if messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- else %}
    {{- '<|im_start|>system\\nYou are helpful.<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == 'assistant' %}
        {%- set content = message.content %}
        {%- if '</think>' in content %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {{- '<|im_start|>assistant\\n' + content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}""",
    first="<|im_start|>system\nYou are helpful.<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n",
    second="<|im_start|>system\nYou are helpful.<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
    "hello<|im_end|>\n<|im_start|>user\nbye<|im_end|>\n<|im_start|>assistant\n",
    system="<|im_start|>system\nbe kind<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n",
    end="<|im_end|>",
    special=("<|im_start|>", "<|im_end|>"),
    added=("<think>", "</think>", "<tool_call>"),
    bos=None,
    eos="<|endoftext|>",
    adds_bos=False,
)

LLAMA2 = Family(
    name="llama-2",
    kind="legacy",
    template="""{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}
{%- set system_message = messages[0]['content'] %}
{%- else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}
{%- for message in loop_messages %}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{- raise_exception('Conversation roles must alternate user/assistant') }}{% endif %}
{%- if loop.index0 == 0 and system_message != false %}
{%- set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}
{%- else %}{% set content = message['content'] %}{% endif %}
{%- if message['role'] == 'user' %}{{- bos_token + '[INST] ' + content.strip() + ' [/INST]' }}
{%- elif message['role'] == 'assistant' %}{{- ' ' + content.strip() + ' ' + eos_token }}{% endif %}
{%- endfor %}""",
    first="<s>[INST] hi [/INST]",
    second="<s>[INST] hi [/INST] hello </s><s>[INST] bye [/INST]",
    system="<s>[INST] <<SYS>>\nbe kind\n<</SYS>>\n\nhi [/INST]",
    end="</s>",
)

LLAMA3 = Family(
    name="llama-3",
    kind="byte",
    template="""{{- bos_token }}{% for message in messages %}
{{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}{% if add_generation_prompt %}
{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}""",
    first="<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n",
    second="<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\nhello<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nbye<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    system="<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nbe kind<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    end="<|eot_id|>",
    special=("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
    bos="<|begin_of_text|>",
    eos="<|end_of_text|>",
)

MISTRAL = Family(
    name="mistral",
    kind="first",
    template="""{{ bos_token }}{% for message in messages %}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{- raise_exception('After the optional system message, roles must alternate user/assistant!') }}{% endif %}
{%- if message['role'] == 'user' %}{{- '[INST] ' + message['content'] + ' [/INST]' }}
{%- elif message['role'] == 'assistant' %}{{- ' ' + message['content'] + eos_token }}
{%- else %}{{- raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}""",
    first="<s>[INST] hi [/INST]",
    second="<s>[INST] hi [/INST] hello</s>[INST] bye [/INST]",
    system=None,
    end="</s>",
    added=("[INST]", "[/INST]"),
)

GEMMA = Family(
    name="gemma",
    kind="bare",
    template="""{{ bos_token }}{% if messages[0]['role'] == 'system' %}
{{- raise_exception('System role not supported') }}{% endif %}{% for message in messages %}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{- raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}
{%- set role = 'model' if message['role'] == 'assistant' else message['role'] %}
{{- '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}""",
    first="<bos><start_of_turn>user\nhi<end_of_turn>\n<start_of_turn>model\n",
    second="<bos><start_of_turn>user\nhi<end_of_turn>\n<start_of_turn>model\nhello<end_of_turn>\n"
    "<start_of_turn>user\nbye<end_of_turn>\n<start_of_turn>model\n",
    system=None,
    end="<end_of_turn>",
    special=("<start_of_turn>", "<end_of_turn>"),
    added=("\n\n", "\n\n\n", "▁▁", "<h1>"),
    bos="<bos>",
    eos="<eos>",
)

PHI3 = Family(
    name="phi-3",
    kind="legacy",
    template="""{% for message in messages %}
{%- if message['role'] == 'system' %}{{ '<|system|>\\n' + message['content'] + '<|end|>\\n' }}
{%- elif message['role'] == 'user' %}{{ '<|user|>\\n' + message['content'] + '<|end|>\\n' }}
{%- elif message['role'] == 'assistant' %}{{ '<|assistant|>\\n' + message['content'] + '<|end|>\\n' }}{% endif %}
{%- endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}""",
    first="<|user|>\nhi<|end|>\n<|assistant|>\n",
    second="<|user|>\nhi<|end|>\n<|assistant|>\nhello<|end|>\n<|user|>\nbye<|end|>\n<|assistant|>\n",
    system="<|system|>\nbe kind<|end|>\n<|user|>\nhi<|end|>\n<|assistant|>\n",
    end="<|end|>",
    special=("<|system|>", "<|user|>", "<|assistant|>", "<|end|>"),
    swallowing=("<|system|>", "<|user|>", "<|assistant|>", "<|end|>"),
    eos="<|endoftext|>",
    adds_bos=False,
)

ZEPHYR = Family(
    name="zephyr",
    kind="first",
    template="""{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>\n' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>\n' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>\n'  + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}""",
    first="<|user|>\nhi</s>\n<|assistant|>\n",
    second="<|user|>\nhi</s>\n<|assistant|>\nhello</s>\n<|user|>\nbye</s>\n<|assistant|>\n",
    system="<|system|>\nbe kind</s>\n<|user|>\nhi</s>\n<|assistant|>\n",
    end="</s>",
)

VICUNA = Family(
    name="vicuna",
    kind="legacy",
    template="""{% if messages[0]['role'] == 'system' %}{{ messages[0]['content'] + ' ' }}{% endif %}
{%- for message in messages %}{% if message['role'] == 'user' %}{{ 'USER: ' + message['content'] + ' ' }}
{%- elif message['role'] == 'assistant' %}{{ 'ASSISTANT: ' + message['content'] + eos_token }}{% endif %}
{%- endfor %}{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}""",
    first="USER: hi ASSISTANT:",
    second="USER: hi ASSISTANT: hello</s>USER: bye ASSISTANT:",
    system="be kind USER: hi ASSISTANT:",
    end="</s>",
)

R1 = Family(
    name="deepseek-r1",
    kind="byte",
    template="""{% set ns = namespace(system='') %}{% for message in messages %}{% if message['role'] == 'system' %}
{%- set ns.system = message['content'] %}{% endif %}{% endfor %}{{ bos_token }}{{ ns.system }}
{%- for message in messages %}{% if message['role'] == 'user' %}{{ '<｜User｜>' + message['content'] }}
{%- elif message['role'] == 'assistant' %}{% set content = message['content'] %}
{%- if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}
{{- '<｜Assistant｜>' + content + '<｜end▁of▁sentence｜>' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{ '<｜Assistant｜><think>\\n' }}{% endif %}""",
    first="<｜begin▁of▁sentence｜><｜User｜>hi<｜Assistant｜><think>\n",
    second="<｜begin▁of▁sentence｜><｜User｜>hi<｜Assistant｜>hello<｜end▁of▁sentence｜><｜User｜>bye<｜Assistant｜><think>\n",
    system="<｜begin▁of▁sentence｜>be kind<｜User｜>hi<｜Assistant｜><think>\n",
    end="<｜end▁of▁sentence｜>",
    added=("<｜User｜>", "<｜Assistant｜>", "<think>", "</think>"),
    bos="<｜begin▁of▁sentence｜>",
    eos="<｜end▁of▁sentence｜>",
)

SMOLLM2 = Family(
    name="smollm2",
    kind="byte",
    template="""{% for message in messages %}{% if loop.first and message['role'] != 'system' %}
{{- '<|im_start|>system\\nYou are SmolLM.<|im_end|>\\n' }}{% endif %}
{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}""",
    first="<|im_start|>system\nYou are SmolLM.<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n",
    second="<|im_start|>system\nYou are SmolLM.<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
    "hello<|im_end|>\n<|im_start|>user\nbye<|im_end|>\n<|im_start|>assistant\n",
    system="<|im_start|>system\nbe kind<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n",
    end="<|im_end|>",
    special=("<|endoftext|>", "<repo_name>"),
    bos="<|im_start|>",
    eos="<|im_end|>",
    adds_bos=False,
)

FAMILIES = (QWEN, LLAMA2, LLAMA3, MISTRAL, GEMMA, PHI3, ZEPHYR, VICUNA, R1, SMOLLM2)
