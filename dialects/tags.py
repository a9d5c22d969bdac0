"""Every protocol delimiter, once: envelope, neutraliser and parser read this table.

Two copies of a tag table drift, and a tag the parser obeys but the neutraliser does not
know is a forged call.
"""

from __future__ import annotations

RESULT_TAGS = ("tool_result",)
CALL_TAGS = ("tool_call",)
# Delimits reasoning: readers, and templates, take what stands in it for no part of the answer.
THINK_TAGS = ("think",)
PROTOCOL_TAGS = RESULT_TAGS + CALL_TAGS + THINK_TAGS
# The block of the tools in a prompt. No reader obeys it, so results keep it; a prompt's examples do not.
CATALOGUE_TAG = "tools"

# The tokens with which chat templates open, close and label turns; tokenizers read them in
# any text, and templates do not escape them. Exact strings, each beginning with `<`.
#
# Not here: `<s>` and `</s>` (Llama 2, Mistral) are HTML's strike-through, and neither opens
# a turn: the templates that use them label turns with `[INST]`, `<|user|>` or `<<SYS>>`.
# A host that serves such a model adds them: `control_tokens=(*CONTROL_TOKENS, "<s>", "</s>")`.
# Nor fill-in-the-middle tokens: no turn can be forged with them.
CONTROL_TOKENS = (
    # ChatML (Qwen, Yi, InternLM, Hermes, …), Phi-4's separator, Kimi's roles
    "<|im_start|>",
    "<|im_end|>",
    "<|im_sep|>",
    "<|im_middle|>",
    "<|im_system|>",
    "<|im_user|>",
    "<|im_assistant|>",
    # GPT and its successors; gpt-oss (harmony)
    "<|endoftext|>",
    "<|endofprompt|>",
    "<|startoftext|>",
    "<|start|>",
    "<|end|>",
    "<|message|>",
    "<|channel|>",
    "<|constrain|>",
    "<|return|>",
    "<|call|>",
    # Llama 2, 3 and 4
    "<<SYS>>",
    "<</SYS>>",
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|header_start|>",
    "<|header_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|python_tag|>",
    "<|python_start|>",
    "<|python_end|>",
    # Gemma
    "<start_of_turn>",
    "<end_of_turn>",
    "<|turn>",
    # Phi-3, Zephyr, OLMo, GLM
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
    "<|tool|>",
    "<|observation|>",
    # Granite
    "<|start_of_role|>",
    "<|end_of_role|>",
    # Command R
    "<|START_OF_TURN_TOKEN|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|SYSTEM_TOKEN|>",
    "<|USER_TOKEN|>",
    "<|CHATBOT_TOKEN|>",
    "<|START_ACTION|>",
    "<|END_ACTION|>",
    "<|START_TOOL_RESULT|>",
    "<|END_TOOL_RESULT|>",
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
    # Kimi K2
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
    # DeepSeek: full-width bars and U+2581 for the space
    "<\uff5cbegin\u2581of\u2581sentence\uff5c>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
    "<\uff5cUser\uff5c>",
    "<\uff5cAssistant\uff5c>",
    "<\uff5ctool\u2581calls\u2581begin\uff5c>",
    "<\uff5ctool\u2581calls\u2581end\uff5c>",
    "<\uff5ctool\u2581call\u2581begin\uff5c>",
    "<\uff5ctool\u2581call\u2581end\uff5c>",
    "<\uff5ctool\u2581sep\uff5c>",
    "<\uff5ctool\u2581outputs\u2581begin\uff5c>",
    "<\uff5ctool\u2581outputs\u2581end\uff5c>",
    "<\uff5ctool\u2581output\u2581begin\uff5c>",
    "<\uff5ctool\u2581output\u2581end\uff5c>",
)
