"""An independent judge of what still reads as a tag or a token: literal lists, nothing imported.

Written out by hand, case by case, so that it can disagree with the code under test.
"""

import re

SPACE = "[ \\t\\n\\r\\x0b\\x0c]"
LEAD = "[|/ \\t\\n\\r\\x0b\\x0c]*"
END = "(?:[ \\t\\n\\r\\x0b\\x0c>/|]|$(?![\\s\\S]))"


def _spelling(name: str) -> str:
    return "".join(f"[{letter.lower()}{letter.upper()}]" if letter.isalpha() else letter for letter in name)


RESULT_TAG = re.compile("<" + LEAD + _spelling("tool_result") + END)
CALL_TAG = re.compile("<" + LEAD + _spelling("tool_call") + END)

TOKENS = (
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<|start|>",
    "<|end|>",
    "<|message|>",
    "<|channel|>",
    "<|call|>",
    "<|return|>",
    "<<SYS>>",
    "<</SYS>>",
    "<|begin_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
    "<|observation|>",
    "<\uff5cUser\uff5c>",
    "<\uff5cAssistant\uff5c>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
    "<\uff5ctool\u2581outputs\u2581begin\uff5c>",
)


def result_tags(text: str) -> int:
    return len(RESULT_TAG.findall(text))


def call_tags(text: str) -> int:
    return len(CALL_TAG.findall(text))


def tokens(text: str) -> int:
    return sum(text.count(token) for token in TOKENS)
