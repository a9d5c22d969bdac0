"""The scripted model behind a URL, met by the providers' own clients."""

from __future__ import annotations

import http.client
import json
import threading

import anthropic
import openai
import pytest

from tooldialect.conformance import ModelServer, Said, ScriptedModel
from tooldialect.conformance.loopback import MOST_BYTES
from tooldialect.conformance.scripted_model import MOST_REQUESTS
from tooldialect.dialects import NativeDialect, ParsedToolCall

CALL = ParsedToolCall(name="clock", arguments={"zone": "UTC"})
SCRIPT = [Said("Let me see.", [CALL]), Said("It is noon.")]


def scripted(wire="openai-chat", script=SCRIPT):
    return ScriptedModel(NativeDialect(), wire, script)


def test_the_openai_client_is_served():
    model = scripted()
    with ModelServer(model) as server, openai.OpenAI(base_url=f"{server.url}/v1", api_key="x", max_retries=0) as client:
        first, second = (
            client.chat.completions.create(model="any", messages=[{"role": "user", "content": text}]) for text in "ab"
        )
    [call] = first.choices[0].message.tool_calls
    assert (call.function.name, json.loads(call.function.arguments)) == ("clock", {"zone": "UTC"})
    assert first.choices[0].finish_reason == "tool_calls"
    assert second.choices[0].message.content == "It is noon."
    assert [request["messages"][0]["content"] for request in model.requests] == ["a", "b"]


def test_the_anthropic_client_is_served():
    model = scripted("anthropic")
    with ModelServer(model) as server, anthropic.Anthropic(base_url=server.url, api_key="x", max_retries=0) as client:
        reply = client.messages.create(model="any", max_tokens=9, messages=[{"role": "user", "content": "a"}])
    text, use = reply.content
    assert (text.text, use.name, use.input, reply.stop_reason) == ("Let me see.", "clock", {"zone": "UTC"}, "tool_use")


def post(server, path="/v1/chat/completions", body=b"{}", **headers):
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=10)
    try:
        connection.request("POST", path, body, headers)
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        ({"path": "/v1/responses"}, 404, "/v1/responses"),
        ({"body": b"nonsense"}, 400, "no JSON object"),
        ({"body": b"[]"}, 400, "no JSON object"),
        ({"body": b"\xff"}, 400, "no JSON object"),
        ({"body": b'{"stream": true}'}, 400, "does not stream"),
        ({"body": b"", "Content-Length": str(MOST_BYTES + 1)}, 413, "bytes"),
        ({"body": b"", "Content-Length": "many"}, 413, "bytes"),
        ({"body": b"", "Content-Length": "-1"}, 413, "bytes"),
    ],
)
def test_what_it_does_not_serve_it_refuses_in_words(options, status, words):
    model = scripted()
    with ModelServer(model) as server:
        told, document = post(server, **options)
    assert told == status
    assert words in document["error"]["message"]
    assert model.requests == []


def test_it_listens_on_the_loopback_alone_and_stops_with_its_block():
    before = threading.active_count()
    with ModelServer(scripted()) as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert post(server)[0] == 200
    with pytest.raises(OSError, match=r".*"):
        post(server)
    assert threading.active_count() <= before + 1  # the connection's own thread may be about to end


def test_a_host_that_never_ends_is_refused_and_not_served_for_ever():
    model = scripted(script=[])
    with ModelServer(model) as server:
        for _ in range(MOST_REQUESTS):
            model({})
        status, document = post(server)
    assert (status, document["error"]["message"]) == (
        400,
        f"the host asked the model {MOST_REQUESTS + 1} times in one turn",
    )
