"""A scripted model behind a URL, for hosts whose client wants one."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from .scripted_model import ScriptedModel, TurnNeverEnds

MOST_BYTES = 64 * 1024 * 1024
_PATIENCE = 30
_PATHS = frozenset({"/v1/chat/completions", "/v1/messages", "/chat/completions", "/messages"})


class ModelServer:
    """`http://127.0.0.1:PORT`, which speaks OpenAI Chat (`POST /v1/chat/completions`) or Anthropic
    (`POST /v1/messages`), as the model does. Standard library alone, for tests alone.

    A context manager; `url` ends before `/v1`. Bounded: requests of up to 64 MiB, connections that
    are silent for 30 seconds are closed, and its threads end with the process at the latest.
    Streaming is refused with status 400.
    """

    def __init__(self, model: ScriptedModel) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(model))
        self._server.daemon_threads = True
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
        timeout = _PATIENCE

        def do_POST(self) -> None:
            try:
                length = int(self.headers.get("Content-Length") or 0)
            except ValueError:
                length = -1
            if not 0 <= length <= MOST_BYTES:
                self._refuse(413, f"a request may have {MOST_BYTES} bytes, and says how many in Content-Length")
                return
            body = self.rfile.read(length)
            if self.path.partition("?")[0].rstrip("/") not in _PATHS:
                self._refuse(404, f"no such path: {self.path}; there are {', '.join(sorted(_PATHS))}")
                return
            try:
                request = json.loads(body)
            except ValueError:
                request = None
            if not isinstance(request, dict):
                self._refuse(400, "the request is no JSON object")
            elif request.get("stream"):
                self._refuse(400, "the scripted model does not stream")
            else:
                try:
                    self._send(200, model(request))
                except TurnNeverEnds as ended:
                    self._refuse(400, str(ended))

        def _refuse(self, status: int, message: str) -> None:
            self._send(status, {"type": "error", "error": {"type": "invalid_request_error", "message": message}})

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
