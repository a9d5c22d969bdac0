"""What the benchmarks make of a user's own files. Of what these say nothing may be printed."""

import contextlib
import gzip
import io
import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import benchmark_package  # noqa: F401
from benchmarks import yours
from benchmarks.__main__ import main
from benchmarks.case import Unusable
from benchmarks.transcript import MOST_CHARACTERS, read
from gate_world import GUESS, MAIL, PROXY, call, world
from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ToolCall,
    ToolOutcome,
    available_wires,
    dump_transcript,
    get_dialect,
    wire_for,
)
from tooldialect.gate import SignedLedger

PRIVATE = "PRIVATE words"


def history(output=PRIVATE, calls=True):
    entries = [ChatMessage(role="system", content="S"), ChatMessage(role="user", content=PRIVATE)]
    if calls:
        entries.append(AssistantTurn(text=None, tool_calls=(ToolCall(id="c1", name="f", arguments='{"a":1}'),)))
        outcome = output if isinstance(output, ToolOutcome) else ToolOutcome.ok("f", output, tool_call_id="c1")
        entries += get_dialect("native").format_results([outcome])
    return entries


def request_of(name, **options):
    return wire_for(name).encode(history(**options))


def texts_of(transcript):
    return [list(one.texts()) for one in transcript.calls]


def read_json(value, wire=None):
    return read("file", json.dumps(value).encode(), wire)


def lines(values):
    return "".join(json.dumps(value) + "\n" for value in values).encode()


# Wires whose requests no other wire would read otherwise: Chat's are read alike by these.
ALIKE = {"mistral": "openai-chat", "plain-chat": "openai-chat"}


@pytest.mark.parametrize("name", available_wires())
@pytest.mark.parametrize("form", ["request", "list", "lines", "log", "wrapped", "quoted", "array", "batch"])
def test_a_file_of_any_wire_is_told_by_its_shape(name, form):
    wire, request = wire_for(name), request_of(name)
    messages = wire.messages(request)
    content = {
        "request": json.dumps(request, indent=1).encode(),
        "list": json.dumps(messages).encode(),
        "lines": lines(messages),
        "log": lines([request, request]),
        "wrapped": lines([{"id": 7, "body": request}, {"id": 8, "body": request}]),
        "quoted": lines([{"body": json.dumps(request)}] * 2),
        "array": json.dumps([request, request]).encode(),
        "batch": json.dumps({"requests": [{"custom_id": "7", "params": request}] * 2}).encode(),
    }[form]
    transcript = read("file", content)
    assert transcript.form.endswith(f" of {ALIKE.get(name, name)}")
    texts = [PRIVATE, PRIVATE]
    assert texts_of(transcript) == [texts] * (1 if form in ("request", "list", "lines") else 2)
    assert transcript.calls[0].rows == len(messages)
    assert len(transcript.calls) == transcript.of


@pytest.mark.parametrize("name", available_wires())
def test_a_wire_that_is_named_is_taken_at_its_word(name):
    assert texts_of(read_json(request_of(name), name)) == [[PRIVATE, PRIVATE]]


@pytest.mark.parametrize("name", [name for name in available_wires() if name not in ("gemini", "openai-responses")])
def test_without_any_sign_of_a_provider_all_read_alike(name):
    request = {"messages": [{"role": "user", "content": PRIVATE}, {"role": "assistant", "content": "a"}]}
    assert texts_of(read_json(request)) == [[PRIVATE]]


@pytest.mark.parametrize(("field", "name"), [("input", "openai-responses"), ("contents", "gemini")])
def test_a_request_of_one_text_is_one_row(field, name):
    transcript = read_json({field: PRIVATE})
    assert texts_of(transcript) == [[PRIVATE]]
    assert transcript.form == f"a request of {name}"


@pytest.mark.parametrize("form", ["lines", "array", "one"])
def test_a_saved_transcript_is_read_as_its_entries(form):
    saved = dump_transcript(history())
    values = [json.loads(line) for line in saved.splitlines()]
    content = {"lines": saved.encode(), "array": json.dumps(values).encode(), "one": json.dumps(values[1]).encode()}[
        form
    ]
    transcript = read("file", content)
    assert transcript.form == "a saved transcript"
    assert texts_of(transcript) == [[PRIVATE] if form == "one" else [PRIVATE, PRIVATE]]
    assert "messages" in transcript.calls[0].request


def test_blank_lines_a_byte_order_mark_and_separators_in_strings_do_no_harm():
    content = "\ufeff\n" + json.dumps({"role": "user", "content": "a\u2028b"}, ensure_ascii=False) + "\r\n\n"
    content += json.dumps({"role": "tool", "content": "c"}) + "\n"
    assert texts_of(read("file", content.encode())) == [["a\u2028b", "c"]]


def test_of_a_large_log_some_requests_are_measured_and_all_are_counted():
    row = {"role": "user", "content": "x" * (MOST_CHARACTERS // 20)}
    transcript = read("file", lines([{"messages": [row]}] * 50))
    assert transcript.of == 50
    assert 10 <= len(transcript.calls) < 25


NO_FILE = {
    "nothing": (b" \n\n", "file: nothing in it"),
    "an empty list": (b"[]", "file: an empty list"),
    "a number": (b"7", "file: neither a request nor a message"),
    "no message": (b'{"PRIVATE": 1}', "file: neither"),
    "not utf-8": (b'{"messages":\n"PRIVATE \xe9"}', "file, line 2: not UTF-8: save the file as UTF-8"),
    "utf-16": ('{"messages": []}'.encode("utf-16"), "file, line 1: not UTF-8"),
    "no json": (b'{"messages": [\n{"role": "user" "PRIVATE"}]}', "file, line 2: not JSON"),
    "a line cut short": (
        lines([{"role": "user", "content": PRIVATE}]) + b'{"role": "user", "con',
        "file, line 2: not JSON",
    ),
    "a line of another kind": (lines([{"role": "user", "content": PRIVATE}, {"PRIVATE": 1}]), "file, line 2: neither"),
    "a line that is no request": (
        lines([{"messages": [{"role": "user", "content": "x"}]}, {"role": "user"}]),
        "line 2: no request",
    ),
    "a line that is no entry": (
        lines([{"kind": "chat", "role": "user", "content": "x"}, {"role": "user"}]),
        "line 2: no entry",
    ),
    "an entry of another type": (
        b'\n{"kind":"chat","role":"user","content":"x"}\n{"kind":"chat","PRIVATE":1}',
        "line 3: no entry",
    ),
    "a request whose messages are none": (b'{"messages": {"PRIVATE": 1}}', '"messages" holds no list of messages'),
    "another field for messages": (
        b'{"messages": [{"role": "user", "content": "PRIVATE"}], "contents": 5}',
        'no request of gemini: "contents" holds no list of messages',
    ),
    "an object for messages": (
        b'{"messages": [{"role": "user", "content": "PRIVATE"}], "contents": {"PRIVATE": 1}}',
        'no request of gemini: "contents" holds no list of messages',
    ),
    "a truth for a text": (b'{"input": true}', '"input" holds no list of messages'),
    "a response before the requests": (
        lines([{"choices": [PRIVATE]}, {"messages": [{"role": "user", "content": "x"}]}]),
        "line 1: neither a request nor a message: leave only requests in it",
    ),
    "a response that is a message": (
        lines([{"role": "assistant", "content": PRIVATE}, {"messages": [{"role": "user", "content": "x"}]}]),
        "line 2: a request, where the first one is none: leave only requests in it",
    ),
    "a wrapper too many": (
        b'{"body": {"body": {"messages": [{"role": "user", "content": "PRIVATE"}]}}}',
        'no request in "body": take it out of what is around it',
    ),
    "a wrapped text that is no JSON": (b'{"body": "PRIVATE"}', 'no request in "body"'),
    "a batch of nothing": (b'{"requests": []}', "an empty list"),
    "messages of no kind": (b'{"messages": ["PRIVATE", 7]}', 'in "messages" is what is no message'),
    "no messages": (b'{"messages": []}', "without a message"),
    "too deep": (b"[" * 100_000, "too many levels"),
    "no number": (b'[{"role": "user", "content": NaN}]', "NaN"),
    "two providers": (
        json.dumps(
            {
                "messages": [
                    {"role": "tool", "content": PRIVATE},
                    {"role": "user", "content": [{"type": "tool_result", "content": "PRIVATE too"}]},
                ]
            }
        ).encode(),
        "may be of openai-chat or of anthropic: say which with --wire",
    ),
}


@pytest.mark.parametrize(("content", "said"), NO_FILE.values(), ids=NO_FILE.keys())
def test_what_is_no_transcript_is_refused_with_its_place_and_a_way_out(content, said, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    assert main(["--transcript", "file"]) == 2
    output, error = capsys.readouterr()
    assert output == ""
    assert said in error
    assert error.count("\n") == 1
    assert "PRIVATE" not in error


def test_a_named_wire_whose_request_it_is_not_is_refused():
    with pytest.raises(Unusable, match='no request of gemini: it has no "contents"'):
        read_json(request_of("openai-chat"), "gemini")


def test_a_named_wire_whose_messages_are_none_is_refused():
    with pytest.raises(Unusable, match='no request of gemini: "contents" holds no list'):
        read_json({"messages": [], "contents": 5}, "gemini")


@pytest.mark.parametrize(
    ("name", "said"), [("", "is a folder: name the files in it"), ("none", "No such file"), ("a\0b", "no such file")]
)
def test_what_cannot_be_opened_is_refused_in_words(name, said, tmp_path, capsys):
    assert main(["--transcript", str(tmp_path / name)]) == 2
    assert said in capsys.readouterr().err


@settings(max_examples=200)
@given(
    st.binary(max_size=60)
    | st.recursive(
        st.none() | st.integers() | st.text(max_size=3) | st.sampled_from(["user", "tool", "chat"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "messages",
                        "contents",
                        "input",
                        "role",
                        "content",
                        "type",
                        "kind",
                        "parts",
                        "body",
                        "tool_calls",
                        "system",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ).map(lambda value: json.dumps(value).encode())
)
def test_any_file_is_read_or_refused(content):
    with contextlib.suppress(Unusable):
        for one in read("file", content).calls:
            assert all(isinstance(text, str) for text in one.texts())


# --- the answer ---------------------------------------------------------------------------------------------------------

NUMBERS = {"model calls": [1, 0], "rows": [800, 0], "texts": [500, 0], "marked": [0, 0], "us a call": [123.4, 0.1]}
NUMBERS |= {"of json.dumps": [0.0412, 0], "of orjson.dumps": [0.5, 0], "us in warm caches": [41.2, 0.1]}


def test_the_question_is_answered_in_a_sentence_and_for_both_states_of_the_caches():
    assert yours.answer("log.json", NUMBERS, "a request of gemini", 1) == (
        "log.json (a request of gemini; 800 rows, 500 texts of the host's, 0 marked): the gate's rescan adds 123 µs to "
        "each model call, 4.12 % of serialising its request (json.dumps), 50 % of orjson.dumps. That is with caches that "
        "were full of other things; where what it reads is still in them, it adds 41.2 µs."
    )


def test_one_of_a_kind_is_one_and_few_microseconds_stay_microseconds():
    told = yours.answer("x", NUMBERS | {"rows": [1, 0], "texts": [1, 0], "model calls": [5, 0]}, "messages", 5)
    assert "1 row, 1 text of the host's" in told
    assert "(617 µs to 5 of them)" in told


def test_a_request_without_a_text_is_answered_with_a_doubt():
    assert "No text of a user or a tool was found" in yours.answer("x", NUMBERS | {"texts": [0, 0]}, "messages", 1)
    assert "No text of" not in yours.answer("x", NUMBERS, "messages", 1)


def test_of_a_log_the_sum_over_its_calls_is_told_and_how_many_were_measured():
    told = yours.answer("log", NUMBERS | {"model calls": [20, 0]}, "99 requests of gemini", 99)
    assert "99 requests of gemini; 20 of them measured" in told
    assert "adds 123 µs to each model call (2.47 ms to 20 of them)" in told


def test_of_saved_entries_what_a_later_rescan_costs_is_told_too():
    assert "then it adds 9.5 µs." in yours.answer("x", NUMBERS | {"us once known": [9.5, 0]}, "a saved transcript", 1)


def test_several_files_are_weighed_by_their_calls():
    other = NUMBERS | {"model calls": [3, 0], "us a call": [23.4, 0], "of json.dumps": [0.1, 0]}
    [told] = yours.answer_for_all([NUMBERS, other])
    assert "All 2 files: the gate's rescan adds 48.4 µs to each of 4 model calls on average, 5.24 %" in told
    assert yours.answer_for_all([NUMBERS]) == []


def test_a_delivery_by_an_unknown_ledger_is_counted_as_marked_and_nothing_is_quoted(monkeypatch, capsys):
    gate, _ = world({"send": MAIL}, ledger=SignedLedger("a secret of theirs"))
    outcome = gate.run().consult(call("send", GUESS)).outcome(PROXY, "c1")
    content = dump_transcript(history(output=outcome)).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert main(["--transcript", "-", "--json"]) == 0
    output, error = capsys.readouterr()
    report = json.loads(output)
    [(case, numbers)] = report["results"].items()
    assert case == "yours/standard input"
    assert (numbers["rows"][0], numbers["texts"][0], numbers["marked"][0]) == (4, 2, 1)
    # Read as by the ledger that issued it: once verified, it is compared.
    assert {"us in warm caches", "us once known"} <= numbers.keys()
    assert "PRIVATE" not in output + error
    assert report["answers"][0].startswith("standard input (a saved transcript; 4 rows")


def test_what_is_compressed_is_to_be_unpacked_first():
    with pytest.raises(Unusable, match="zcat"):
        read("log.gz", gzip.compress(b"{}"))
