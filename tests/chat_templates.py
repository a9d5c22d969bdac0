"""Chat templates as packages ship them, rendered as `transformers` does.

`trl` holds those of many vendors. Only its data is used, so it is installed without what it depends on.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment
from llm_templates.formats import llama2

END = ""
_CHATML = ("<|im_start|>user\n", ["<|im_end|>"])
# How each frames a user turn: what stands before its text, and what may stand behind.
FRAMES = {
    "cohere": ("<|USER_TOKEN|>", ["<|END_OF_TURN_TOKEN|>"]),
    "cohere2": ("<|USER_TOKEN|>", ["<|END_OF_TURN_TOKEN|>"]),
    "deepseek_r1_distill": ("<\uff5cUser\uff5c>", ["<\uff5cAssistant\uff5c>", "<\uff5cUser\uff5c>", END]),
    "deepseekv3": ("<\uff5cUser\uff5c>", ["<\uff5cAssistant\uff5c>", "<\uff5cUser\uff5c>", END]),
    "gemma": ("<start_of_turn>user\n", ["<end_of_turn>"]),
    "gemma3": ("<start_of_turn>user\n", ["<end_of_turn>"]),
    "gemma4": ("<|turn>user\n", ["<turn|>"]),
    "gemma4_v5": ("<|turn>user\n", ["<turn|>"]),
    "glm4moe": ("<|user|>\n", ["<|assistant|>", "<|user|>", "<|system|>", END]),
    "gptoss": ("<|start|>user<|message|>", ["<|end|>"]),
    "lfm2": _CHATML,
    "lfm2_2_5": _CHATML,
    "llama2": ("[INST] ", [" [/INST]"]),
    "llama3": ("<|start_header_id|>user<|end_header_id|>\n\n", ["<|eot_id|>"]),
    "llama3_1": ("<|start_header_id|>user<|end_header_id|>\n\n", ["<|eot_id|>"]),
    "llama3_2": ("<|start_header_id|>user<|end_header_id|>\n\n", ["<|eot_id|>"]),
    "nemotron_3_nano": _CHATML,
    "nemotron_3_super": _CHATML,
    "phi3": ("<|user|>\n", ["<|end|>"]),
    "phi3_5": ("<|user|>\n", ["<|end|>"]),
    "qwen2_5": _CHATML,
    "qwen3": _CHATML,
    "qwen3_5_think": _CHATML,
    "qwen3_6": _CHATML,
    "qwen3_8": _CHATML,
    "qwen3_instruct_2507": _CHATML,
}
# They refuse two turns of one role in a row.
STRICT = {"cohere", "cohere2", "gemma", "gemma3", "llama2"}
WITHOUT_SYSTEM = {"gemma"}
# `transformers` marks the assistant's tokens by this tag of its own; it renders nothing.
_GENERATION = re.compile(r"{%-?\s*(?:end)?generation\s*-?%}")


def _refuse(message):
    raise ValueError(message)


@cache
def _compiled(name):
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    env.globals.update(raise_exception=_refuse, strftime_now=lambda _: "2026-11-30")
    return env.from_string(_GENERATION.sub("", _source(name)))


def _source(name):
    if name == "llama2":
        return llama2.jinja_tpl
    try:
        shipped = distribution("trl")
    except PackageNotFoundError:
        pytest.skip("trl is not installed: `pip install --no-deps trl`, as `make test` does")
    return shipped.locate_file(f"trl/chat_templates/{name}.jinja").read_text(encoding="utf-8")


def render(name, messages):
    """The prompt; ValueError for what the template refuses."""
    return _compiled(name).render(messages=messages, bos_token="<s>", eos_token="</s>", add_generation_prompt=True)


def stands_alone(name, prompt, text):
    """Whether the text is the whole of a user turn of the prompt."""
    before, closes = FRAMES[name]
    framed = before + text
    return any(framed + close in prompt if close else prompt.endswith(framed) for close in closes)
