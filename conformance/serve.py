"""Any Python dialect as a program that speaks the protocol: `python -m tooldialect.conformance.serve module:factory`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from tooldialect.dialects import ModelResponse, ParsedToolCall, PlainChatWire, ToolOutcome, ToolSpec, TranscriptEntry
from tooldialect.dialects.transcript import DiscriminatedEntry

from .faults import ProgramFault, Refused, Unsayable
from .process import RENDER_ERROR
from .target import Subject, Target, load_target
from .wires import every_wire

_TOOLS: TypeAdapter[list[ToolSpec]] = TypeAdapter(list[ToolSpec])
_OUTCOMES: TypeAdapter[list[ToolOutcome]] = TypeAdapter(list[ToolOutcome])
_ENTRIES: TypeAdapter[list[TranscriptEntry]] = TypeAdapter(list[DiscriminatedEntry])


class Server:
    """Answers requests about one target; a subject per set of tools, made once."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._subjects: dict[str, Subject] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The JSON-RPC response."""
        response: dict[str, Any] = {"jsonrpc": "2.0", "id": request.get("id")}
        params = request.get("params") or {}
        subject = self._subject(params.get("made_for", params.get("tools")) or [])
        subject.changed_inputs.clear()
        try:
            response["result"] = _plain(self._method(request["method"], subject, params))
        except Unsayable as refusal:
            response["error"] = {"code": RENDER_ERROR, "message": refusal.message}
        except Refused as refusal:
            response["error"] = {"code": -32000, "message": f"{refusal.kind}: {refusal.message}"}
        except ProgramFault as fault:
            response["error"] = {"code": -32000, "message": str(fault)}
        except KeyError as unknown:
            response["error"] = {"code": -32601, "message": f"no such method or parameter: {unknown}"}
        if subject.changed_inputs:
            response["input_changed"] = True
        return response

    def _method(self, method: str, subject: Subject, params: dict[str, Any]) -> Any:
        methods: dict[str, Callable[[], Any]] = {
            "describe": self._target.describe,
            "format_results": lambda: subject.format_results(_OUTCOMES.validate_python(params["outcomes"])),
            "parse_response": lambda: subject.parse_response(ModelResponse.model_validate(params["response"])),
            "render_call": lambda: subject.render_call(ParsedToolCall.model_validate(params["call"])),
            "prompt_instructions": lambda: subject.prompt_instructions(_TOOLS.validate_python(params["tools"])),
            "replay": lambda: subject.replay(_ENTRIES.validate_python(params["history"])),
            "to_provider_messages": lambda: subject.provider_messages(
                _ENTRIES.validate_python(params["history"]), _wire(params["wire"], strict=params["strict_alternation"])
            ),
            "read_results": lambda: subject.read_results(_ENTRIES.validate_python(params["entries"])),
        }
        return methods[method]()

    def _subject(self, tools: Sequence[dict[str, Any]]) -> Subject:
        key = json.dumps(tools, sort_keys=True)
        if key not in self._subjects:
            self._subjects[key] = self._target.make(_TOOLS.validate_python(tools))
        return self._subjects[key]


def _wire(name: str, *, strict: bool) -> Any:
    if strict:
        return PlainChatWire(strict_alternation=True)
    return {wire.name: wire for _, wire in reversed(list(every_wire()))}[name]


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def main() -> None:
    sys.path.insert(0, str(Path.cwd()))
    server = Server(load_target(sys.argv[1]))
    for line in sys.stdin:
        sys.stdout.write(json.dumps(server.answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
