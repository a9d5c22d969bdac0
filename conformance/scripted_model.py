"""A model that says what a script tells it: a callable, and a loopback server for hosts whose client wants a URL."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, TypeAlias

from tooldialect.dialects import ParsedToolCall, ToolDialect


@dataclass(frozen=True)
class Said:
    """One reply: text, and calls behind it."""

    text: str = "Let me see."
    calls: Sequence[ParsedToolCall] = ()


Line: TypeAlias = Said | Callable[[dict[str, Any]], Said]
"""A reply, or a function of the request that gives one."""

Speaker: TypeAlias = Callable[[dict[str, Any], int], Said]


class ScriptedModel:
    """Called with a provider's request, returns that provider's reply (OpenAI Chat's or Anthropic's shape).

    `requests`: a copy of each request as it was received. When the script is at its end, the
    model says `Done.` Calls have ids that are unique in the script.
    """

    def __init__(self, dialect: ToolDialect, wire_name: str, script: Iterable[Line] | Speaker) -> None:
        self._dialect, self._wire_name = dialect, wire_name
        self._speaker = script if callable(script) else _in_order(script)
        self._lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            self.requests.append(copy.deepcopy(request))
            number = len(self.requests)
            said = self._speaker(request, number)
        return self.reply(said, number)

    def reply(self, said: Said, number: int) -> dict[str, Any]:
        """What is said, as the provider reports it."""
        calls = [(f"call_{number}_{place}", call) for place, call in enumerate(said.calls)]
        text = said.text
        if self._dialect.call_format != "native":
            text, calls = "\n".join([said.text, *map(self._dialect.render_call, said.calls)]), []
        if self._wire_name == "anthropic":
            uses = [{"type": "tool_use", "id": id, "name": call.name, "input": call.arguments} for id, call in calls]
            return {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "model": "scripted",
                "content": [{"type": "text", "text": text}, *uses],
                "stop_reason": "tool_use" if calls else "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [
                {"id": id, "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.arguments)}}
                for id, call in calls
            ]
        choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message}
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": "scripted",
            "choices": [choice],
        }


def _in_order(script: Iterable[Line]) -> Speaker:
    lines = iter(script)

    def speak(request: dict[str, Any], _number: int) -> Said:
        line = next(lines, Said("Done."))
        return line(request) if callable(line) else line

    return speak


class ModelServer:
    """A scripted model behind `http://127.0.0.1:PORT`, for `POST /v1/chat/completions` and `/v1/messages`.

    A context manager; `url` ends before `/v1`. Streaming is refused with status 400.
    """

    def __init__(self, model: ScriptedModel) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(model))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path.rstrip("/") not in {"/v1/chat/completions", "/v1/messages", "/chat/completions", "/messages"}:
                self._send(404, {"error": {"message": f"no such path: {self.path}"}})
                return
            try:
                request = json.loads(body)
            except ValueError:
                self._send(400, {"error": {"message": "the request is no JSON"}})
                return
            if request.get("stream"):
                self._send(400, {"error": {"message": "the scripted model does not stream"}})
                return
            self._send(200, model(request))

        def _send(self, status: int, document: dict[str, Any]) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Requests are kept by the model, not written to stderr."""

    return Handler
