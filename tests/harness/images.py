"""The image-aware trimmer: the one middleware here that works on the provider's messages.

A user's text names its images as `[IMAGE:URI]`; here they become parts of their own, as the
wire's provider has them (chat templates take a string, there the marker stays), and the
oldest images, then the oldest texts, give way until the request fits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tooldialect.dialects import Wire

from .middleware import Middleware, Spare, spare_nothing

_MARKER = re.compile(r"\[IMAGE:([^\]\s]+)\]")
_OMITTED = "[image omitted]"
_TRIMMED = "… [trimmed]"
_HEAD = 80

_PARTS: dict[str, Callable[[str], dict[str, Any]]] = {
    "openai-chat": lambda uri: {"type": "image_url", "image_url": {"url": uri}},
    "anthropic": lambda uri: {"type": "image", "source": {"type": "url", "url": uri}},
}


class ImageTrimmer(Middleware):
    """Keeps the host's part of the conversation under `budget` characters, an image counting `image_cost`."""

    def __init__(self, budget: int = 40_000, image_cost: int = 4_000, spare: Spare = spare_nothing) -> None:
        self._budget, self._image_cost, self._spare = budget, image_cost, spare

    def on_request(self, request: dict[str, Any], wire: Wire) -> dict[str, Any]:
        messages = [self._attach(message, _PARTS.get(wire.name)) for message in wire.messages(request)]
        over = sum(map(self._weight, _slots(messages))) - self._budget
        for cut in (self._omit_image, self._trim_text):
            for slot in _slots(messages):
                if over <= 0:
                    break
                before = self._weight(slot)
                cut(slot)
                over -= before - self._weight(slot)
        return {**request, "messages": messages}

    def _attach(self, message: dict[str, Any], part: Callable[[str], dict[str, Any]] | None) -> dict[str, Any]:
        content = message.get("content")
        if message["role"] != "user" or part is None:
            return _copied(message)
        if isinstance(content, str):
            parts = self._split(content, part)
            return _copied(message) if parts is None else {**message, "content": parts}
        blocks: list[dict[str, Any]] = []
        for block in content or ():
            parts = self._split(block["text"], part) if block["type"] == "text" else None
            blocks += [dict(block)] if parts is None else parts
        return {**message, "content": blocks}

    def _split(self, text: str, part: Callable[[str], dict[str, Any]]) -> list[dict[str, Any]] | None:
        if self._spare(text) or not _MARKER.search(text):
            return None
        words = _MARKER.sub("", text).strip()
        images = [part(uri) for uri in _MARKER.findall(text)]
        return [*([{"type": "text", "text": words}] if words else []), *images]

    def _weight(self, slot: _Slot) -> int:
        text = slot.text
        if text is None:
            return self._image_cost
        return len(_MARKER.sub("", text)) + self._image_cost * len(_MARKER.findall(text))

    def _omit_image(self, slot: _Slot) -> None:
        if slot.text is None:
            slot.replace_part({"type": "text", "text": _OMITTED})
        elif not self._spare(slot.text) and _MARKER.search(slot.text):
            slot.text = _MARKER.sub(_OMITTED, slot.text)

    def _trim_text(self, slot: _Slot) -> None:
        if slot.text is not None and not self._spare(slot.text) and len(slot.text) > _HEAD + len(_TRIMMED):
            slot.text = slot.text[:_HEAD] + _TRIMMED


class _Slot:
    """One place of a message that holds a text or an image."""

    def __init__(self, holder: Any, key: Any, part: bool) -> None:
        self._holder, self._key, self._part = holder, key, part

    @property
    def text(self) -> str | None:
        held = self._holder[self._key]
        if not self._part:
            return str(held)
        if held["type"] == "text":
            return str(held["text"])
        return str(held["content"]) if held["type"] == "tool_result" else None

    @text.setter
    def text(self, text: str) -> None:
        if self._part:
            field = "text" if self._holder[self._key]["type"] == "text" else "content"
            self._holder[self._key] = {**self._holder[self._key], field: text}
        else:
            self._holder[self._key] = text

    def replace_part(self, part: dict[str, Any]) -> None:
        self._holder[self._key] = part


def _slots(messages: list[dict[str, Any]]) -> Iterator[_Slot]:
    for message in messages:
        if message["role"] in ("user", "tool"):
            if isinstance(message["content"], str):
                yield _Slot(message, "content", part=False)
            else:
                for index in range(len(message["content"])):
                    yield _Slot(message["content"], index, part=True)


def _copied(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    return {**message, "content": list(content) if isinstance(content, list) else content}
