"""`mistral_common` as judge: its closed models, its validator, its normalizer and its tokenizers."""

from __future__ import annotations

from functools import cache

from mistral_common.protocol.instruct.messages import ChatMessage
from mistral_common.protocol.instruct.normalize import get_normalizer
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy, TokenizerVersion
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer
from mistral_common.tokens.tokenizers.model_settings_builder import ModelSettingsBuilder

BEFORE_V7 = ("v2", "v3")
SINCE_V7 = ("v7", "v11", "v13", "v15")


def as_request(request):
    """The request as the library's own model, closed against unknown keys."""
    return ChatCompletionRequest[ChatMessage].model_validate({**request, "model": "m"})


def check_mistral(request, version):
    get_validator(TokenizerVersion(version), ValidationMode.serving).validate_request(as_request(request))


def normalized(request, version):
    """The messages (system text of old versions left out) as the tokenizer of that version gets them."""
    settings = ModelSettingsBuilder.none() if version == "v15" else None
    made = get_normalizer(TokenizerVersion(version), settings).from_chat_completion_request(as_request(request))
    return made.messages


@cache
def _tokenizer(version):
    return {"v2": MistralTokenizer.v2, "v3": MistralTokenizer.v3, "v7": MistralTokenizer.v7}[version]()


def rendered(request, version):
    """What the model of that version reads, as text; white space of the tokens' own is approximate."""
    tokenizer = _tokenizer(version)
    tokens = tokenizer.encode_chat_completion(as_request(request)).tokens
    return tokenizer.decode(tokens, SpecialTokenPolicy.KEEP)
