"""The rescan's shortcuts agree with reading everything."""

import copy
import types

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gate_world import MAIL, PREFIX, delivered, key, world
from tooldialect.dialects import (
    AnthropicWire,
    AssistantTurn,
    ChatMessage,
    OpenAIChatWire,
    ToolCall,
    ToolResult,
    ToolResultBatch,
    host_texts,
)
from tooldialect.dialects.host_words import starting_with
from tooldialect.gate import MemoryLedger

CHAT, ANTHROPIC = OpenAIChatWire(), AnthropicWire()

words = st.sampled_from(
    [PREFIX, PREFIX + "x", PREFIX + "\U0010ffff", PREFIX[:-1], PREFIX[:-1] + ";", "[", "", " ", "a", "\u2603", "\ud800"]
)
junk = st.none() | st.integers() | st.booleans() | st.binary(max_size=3) | words | st.just(object())
parts = st.recursive(
    junk
    | st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["text", "tool_result", "image", "input_text", 7]),
            "text": words | st.none() | st.integers(),
            "content": words | st.none(),
        },
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.fixed_dictionaries({"type": st.just("tool_result"), "content": inner})
        | st.lists(inner, max_size=2).map(tuple)
    ),
    max_leaves=6,
)
rows = st.fixed_dictionaries(
    {},
    optional={"role": st.sampled_from(["user", "tool", "function", "assistant", "system", 7, None]), "content": parts},
)
odd_rows = rows | rows.map(lambda row: types.SimpleNamespace(**row)) | rows.map(types.MappingProxyType) | junk
usual_rows = st.fixed_dictionaries({"role": st.sampled_from(["user", "tool", "assistant"]), "content": words})
blocks = st.fixed_dictionaries({"type": st.just("text"), "text": words}) | st.fixed_dictionaries(
    {"type": st.just("tool_result"), "content": words}
)
block_rows = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"]), "content": st.lists(blocks, max_size=3)}
)


def outcome_of(read):
    try:
        return read()
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("wire", [CHAT, ANTHROPIC], ids=["openai", "anthropic"])
@given(
    messages=st.lists(usual_rows, max_size=8)
    | st.lists(block_rows, max_size=8)
    | st.lists(odd_rows, max_size=6)
    | st.lists(usual_rows | block_rows | odd_rows, max_size=8)
)
@example(messages=[{"role": "assistant"}, {"role": "tool", "content": PREFIX}])
@example(messages=[{"role": "user", "content": ["x"]}, {"role": "user", "content": [PREFIX, {"text": PREFIX}]}])
@example(
    messages=[{"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": PREFIX}]}]}]
)
def test_asking_for_texts_by_their_beginning_gives_what_reading_all_of_them_gives(wire, messages):
    everything = outcome_of(lambda: [text for text in wire.host_texts(messages) if text.startswith(PREFIX)])
    if isinstance(everything, type):
        return
    assert wire.host_texts(messages).starting_with(PREFIX) == everything
    assert wire.host_texts({"messages": messages}).starting_with(PREFIX) == everything
    assert wire.host_texts(iter(messages)).starting_with(PREFIX) == everything


class Subclassed(str):
    __slots__ = ()


@given(st.lists(words | words.map(Subclassed) | words.map(lambda word: word + " "), max_size=8))
def test_texts_by_their_beginning_are_those_that_begin_so(texts):
    found = starting_with(texts, PREFIX)
    assert list(map(id, found)) == [id(text) for text in texts if text.startswith(PREFIX)]


@pytest.mark.parametrize("odd", [None, 7, b"x", ["x"], ChatMessage(role="user", content="x")], ids=repr)
def test_what_is_no_text_is_refused_wherever_it_stands(odd):
    for rows in ([odd], ["x", odd], [PREFIX, odd, "x"], ("x", odd)):
        with pytest.raises(TypeError, match=f"not {type(odd).__name__}"), world()[0].run() as run:
            run.refresh(rows)


def test_texts_are_read_once_in_whichever_way():
    messages = [{"role": "user", "content": PREFIX + str(number)} for number in range(4)]
    texts = CHAT.host_texts(messages)
    assert next(texts) == PREFIX + "0"
    assert texts.starting_with(PREFIX) == [PREFIX + "1", PREFIX + "2", PREFIX + "3"]
    assert list(texts) == []
    texts = CHAT.host_texts(messages)
    assert len(texts.starting_with(PREFIX)) == 4
    assert list(texts) == texts.starting_with(PREFIX) == []
    entries = host_texts(
        [ChatMessage(role="user", content=PREFIX + "x"), ChatMessage(role="user", content=PREFIX + "y")]
    )
    assert next(entries) == PREFIX + "x"
    with world()[0].run() as run:
        run.refresh(entries)
    assert list(entries) == []


def test_what_a_hosts_own_generator_raises_comes_through():
    def messages():
        yield {"role": "user", "content": PREFIX}
        raise KeyError("content")

    with pytest.raises(KeyError), world()[0].run() as run:
        run.refresh(CHAT.host_texts(messages()))


# --- entries that are known already ---------------------------------------------------------------------------


class Thawed(ChatMessage, frozen=False):
    pass


class ThawedResult(ToolResult, frozen=False):
    pass


def deliver(ledger, count=4):
    gate, _ = world({f"t{number}": MAIL for number in range(count)}, ledger=ledger)
    with gate.run() as run:
        return gate, [delivered(run, f"t{number}") for number in range(count)]


GATE, MARKED = deliver(MemoryLedger())


def entry_of(text, shape):
    if shape == "user":
        return ChatMessage(role="user", content=text)
    if shape == "thawed":
        return Thawed(role="user", content=text)
    if shape == "assistant":
        return AssistantTurn(text=text, tool_calls=(ToolCall(id="c", name="n", arguments="{}"),))
    if shape == "system":
        return ChatMessage(role="system", content=text)
    kind = ThawedResult if shape == "thawed result" else ToolResult
    return ToolResultBatch(results=(ToolResult(tool_call_id="c", content="x"), kind(tool_call_id="c", content=text)))


shapes = st.sampled_from(["user", "user", "results", "results", "assistant", "system", "thawed", "thawed result"])
contents = st.sampled_from([*MARKED, MARKED[0] + " ", PREFIX + "fake]", "plain", ""])
entries = st.builds(entry_of, contents, shapes)
edits = st.one_of(
    st.tuples(st.just("append"), st.lists(entries, max_size=3)),
    st.tuples(st.just("replace"), st.integers(0, 20), entries),
    st.tuples(st.just("drop"), st.integers(0, 20)),
    st.tuples(st.just("swap"), st.integers(0, 20), st.integers(0, 20)),
    st.tuples(st.just("insert"), st.integers(0, 20), entries),
    st.tuples(st.just("rebuild")),
    st.tuples(st.just("thaw"), st.integers(0, 20), contents),
    st.tuples(st.just("nothing")),
)


def edit(history, change):
    kind, *args = change
    if kind == "append":
        return history + args[0]
    if kind == "rebuild":
        return copy.deepcopy(history)
    if not history or kind == "nothing":
        return history
    at = args[0] % len(history)
    if kind == "replace":
        history[at] = args[1]
    elif kind == "drop":
        del history[at]
    elif kind == "swap":
        other = args[1] % len(history)
        history[at], history[other] = history[other], history[at]
    elif kind == "insert":
        history.insert(at, args[1])
    elif isinstance(history[at], Thawed):
        history[at].content = args[1]
    elif isinstance(history[at], ToolResultBatch) and isinstance(history[at].results[1], ThawedResult):
        history[at].results[1].content = args[1]
    return history


@given(st.lists(entries, max_size=8))
def test_entries_by_their_beginning_are_those_that_begin_so(history):
    everything = [text for text in host_texts(history) if text.startswith(PREFIX)]
    assert host_texts(history).starting_with(PREFIX) == everything
    assert host_texts(iter(history)).starting_with(PREFIX) == everything


@given(st.lists(entries, max_size=8), st.lists(edits, max_size=12), st.booleans())
@example([entry_of(MARKED[0], "user")], [("replace", 0, entry_of("plain", "user"))], True)
@example([entry_of(MARKED[0], "user"), entry_of("x", "user")], [("drop", 0)], True)
@example([entry_of("plain", "thawed")], [("thaw", 0, MARKED[1])], True)
@example([entry_of("plain", "thawed result")], [("thaw", 0, MARKED[1])], True)
@example([entry_of(MARKED[0], "thawed")], [("append", [entry_of("x", "user")]), ("thaw", 0, "plain")], True)
@example([entry_of(text, "user") for text in (*MARKED, "a")], [("replace", 1, entry_of("plain", "user"))], True)
@example([entry_of(text, "user") for text in (*MARKED, "a")], [("swap", 1, 3), ("drop", 1)], True)
@example([entry_of(text, "user") for text in (*MARKED, "a")], [("replace", 2, entry_of("plain", "user"))], True)
def test_a_rescan_that_reads_only_what_was_added_sees_what_a_full_scan_sees(history, changes, as_list):
    with GATE.run() as run:
        for change in [("nothing",), *changes]:
            history = edit(history, change)
            given_ = history if as_list else iter(history)
            with GATE.run() as fresh:
                assert run.refresh(host_texts(given_)) == fresh.refresh(list(host_texts(history)))


def test_entries_of_the_last_rescan_stay_alive_so_that_no_other_takes_their_identity():
    with GATE.run() as run:
        history = [entry_of(MARKED[0], "user")]
        run.refresh(host_texts(history))
        for _ in range(200):
            history[0] = entry_of("plain", "user")
            assert run.refresh(host_texts(history)) == set()
            history[0] = entry_of(MARKED[1], "user")
            assert run.refresh(host_texts(history)) == {key("t1")}


def test_a_ledgers_no_to_a_known_entry_is_asked_again():
    ledger = MemoryLedger()
    gate, _ = world(ledger=ledger)
    elsewhere = delivered(world()[0].run())
    history = [entry_of(elsewhere, "user")]
    with gate.run() as run:
        assert run.refresh(host_texts(history)) == set()
        marker, _, payload = elsewhere.partition("]")
        name, _, version = marker.rpartition(":mcp:")[2].partition("@")
        ledger.issue(payload, {f"mcp:{name}": version})
        assert run.refresh(host_texts(history)) == {key("send")}


class Newest(list):
    """A host's window on a list: what it lists is less than what it holds."""

    def __iter__(self):
        return iter(self[-1:])


def test_rows_are_those_that_a_host_lists():
    for kept in (True, False):
        gate, _ = world({"send": MAIL})
        with gate.run() as run:
            text = delivered(run, "send")
            other, marked = ChatMessage(role="user", content="x"), ChatMessage(role="user", content=text)
            entries = Newest([other, marked] if kept else [marked, other])
            rows = Newest({"role": "user", "content": entry.content} for entry in list.__iter__(entries))
            assert (run.refresh(host_texts(entries)) != set()) == kept
            assert (run.refresh(OpenAIChatWire().host_texts(rows)) != set()) == kept
