"""`langchain_core` as judge: its loading of plain dicts, which must lose and change nothing."""

from __future__ import annotations

import json

from langchain_core.messages import convert_to_messages

_TYPES = {"system": "system", "user": "human", "assistant": "ai", "tool": "tool"}


def as_objects(request):
    return convert_to_messages(json.loads(json.dumps(request["messages"])))


def check_langchain(request):
    for sent, loaded in zip(request["messages"], as_objects(request), strict=True):
        assert loaded.type == _TYPES[sent["role"]]
        assert loaded.content == sent["content"]
        assert loaded.additional_kwargs == sent.get("additional_kwargs", {})
        assert loaded.response_metadata == sent.get("response_metadata", {})
        assert getattr(loaded, "tool_calls", []) == sent.get("tool_calls", [])
        assert not getattr(loaded, "invalid_tool_calls", [])
        for key in ("tool_call_id", "status", "name"):
            assert getattr(loaded, key, None) == sent.get(key)
