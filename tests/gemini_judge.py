"""The types of `google-genai`, which refuse keys they do not know, as judges of a request."""

from __future__ import annotations

from google.genai import types


def check_gemini(request):
    """Raises for a request that is none; the SDK's contents otherwise."""
    fields = dict(request)
    contents = [types.Content.model_validate(content) for content in fields.pop("contents")]
    config = types.GenerateContentConfig.model_validate(fields)
    for tool in config.tools or ():
        assert isinstance(tool, types.Tool), f"not a tool of a request: {tool!r}"
    return contents


def reply(*parts, finish="STOP", **fields):
    """A reply as the API gives it."""
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": finish}], **fields}


def as_sdk(data):
    return types.GenerateContentResponse.model_validate(data)
