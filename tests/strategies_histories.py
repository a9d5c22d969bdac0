"""Native histories, whole and damaged, for the tests of pairing and of the wires."""

from __future__ import annotations

from hypothesis import strategies as st

from tooldialect.dialects import AssistantTurn, Attachment, ChatMessage, ToolCall, ToolResult, ToolResultBatch
from tooldialect.dialects.pairing import INTERRUPTED

PLAIN_IDS = st.sampled_from(["a", "b", "call_0", "call_1"])
ODD_IDS = st.one_of(
    PLAIN_IDS,
    st.sampled_from(
        ["", " ", "a|b", "a:b", "x" * 41, "x" * 65, "y" * 90, "call_0_0", "call_0_1", "call_1_0", "é", "a\n"]
    ),
    st.text(max_size=6),
)
PLAIN_NAMES = st.sampled_from(["f", "g"])
ODD_NAMES = st.one_of(
    PLAIN_NAMES,
    st.sampled_from(["docs.search", "docs_search", "", "a b", "n" * 64, "n" * 65, "n" * 129, "f\n"]),
    st.text(max_size=8),
)
TEXTS = st.one_of(st.sampled_from(["", " ", "\n\t", "go", "a<b", " x ", "\ud83d", "\u2028"]), st.text(max_size=10))
ARGUMENTS = st.sampled_from(
    [
        "",
        " ",
        "{}",
        '{"a": 1e3}',
        '{"a":1,"a":2}',
        '"{\\"a\\":1}"',
        '{"a',
        "[1]",
        "null",
        '{"t":"\\ud83d"}',
        "NaN",
        '{"n":NaN}',
    ]
)


@st.composite
def healthy(draw, ids=PLAIN_IDS, names=PLAIN_NAMES, texts=TEXTS, arguments=ARGUMENTS, max_rounds=4):
    """Rounds of text, calls and their results, in batches of any cut; ids may restart or repeat."""
    history = []
    if draw(st.booleans()):
        history.append(ChatMessage(role="system", content=draw(texts)))
    for _ in range(draw(st.integers(0, max_rounds))):
        for _ in range(draw(st.integers(0, 2))):
            role = draw(st.sampled_from(["user", "user", "assistant", "system", "tool"]))
            marked = role == "user" and draw(st.booleans())
            history.append(chat(role, draw(texts), marked=marked, attachments=draw(ATTACHMENTS)))
        if not draw(st.integers(0, 3)):
            continue
        calls = tuple(
            ToolCall(id=draw(ids), name=draw(names), arguments=draw(arguments))
            for _ in range(draw(st.sampled_from([0, 1, 1, 2, 3])))
        )
        history.append(
            AssistantTurn(
                text=draw(st.none() | texts),
                tool_calls=calls,
                reasoning_content=draw(st.none() | texts),
                metadata=draw(st.sampled_from(METADATA)),
            )
        )
        history += cut(draw, [result(draw, call.id, call.name, texts) for call in calls])
    return history


METADATA = [
    None,
    None,
    {"other": {"content": 1}},
    {"anthropic": {"content": [{"type": "thinking", "thinking": "t", "signature": "s"}]}},
    {
        "anthropic": {
            "content": [
                {"type": "redacted_thinking", "data": "d"},
                {"type": "thinking", "thinking": "t", "signature": ""},
            ]
        }
    },
    {
        "anthropic": {
            "content": [
                {"type": "thinking", "thinking": "t", "signature": "s"},
                {"type": "text", "text": "go"},
                {"type": "redacted_thinking", "data": "d"},
            ]
        }
    },
    {"anthropic": "spoiled"},
    {"gemini": {"content": [{"text": "t", "thought": True}, {"text": "go", "thoughtSignature": "c2ln"}]}},
    {"gemini": {"content": [{"text": "", "thoughtSignature": "c2ln"}, {"thoughtSignature": "c2ln"}, 1, {}]}},
    {"bedrock": {"content": [{"reasoningContent": {"reasoningText": {"text": "t", "signature": "s"}}}]}},
    {
        "bedrock": {
            "content": [
                {"reasoningContent": {"redactedContent": "c2ln"}},
                {"reasoningContent": {"reasoningText": {"text": "t"}}},
                {"text": "go"},
                {"text": " ", "odd": 1},
                {"reasoningContent": {"reasoningText": {"text": "t", "signature": "s"}}},
                {"reasoningContent": 1},
            ]
        }
    },
]


ATTACHMENTS = st.sampled_from(
    [
        (),
        (),
        (),
        (Attachment.from_bytes("image/png", b"png"),),
        (Attachment(media_type="image/jpeg", url="https://example.com/a.jpg"),),
        (Attachment.from_bytes("image/tiff", b"tiff"), Attachment(media_type="image/png", url="s3://bucket/a.png")),
        (Attachment.from_bytes("application/pdf", b"pdf"), Attachment.from_bytes("image/webp", b"\x00\xff")),
        (Attachment(media_type="audio/wav", url="gs://bucket/a.wav"),),
    ]
)


def chat(role, text, *, marked=False, attachments=()):
    # A marked text that holds a lone surrogate is refused at construction.
    marked = marked and text.isprintable()
    attachments = () if marked or role not in {"user", "tool"} else attachments
    return ChatMessage(role=role, content=text, trusted_verbatim=marked, attachments=attachments)


def result(draw, call_id, name, texts=TEXTS):
    content = draw(st.one_of(texts, st.just(INTERRUPTED)))
    marked = content.isprintable() and draw(st.booleans())
    return ToolResult(
        tool_call_id=call_id,
        content=content,
        name=draw(st.sampled_from([None, name])),
        success=draw(st.booleans()),
        trusted_verbatim=marked,
        attachments=() if marked else draw(ATTACHMENTS),
    )


def cut(draw, results):
    batches = []
    while results:
        size = draw(st.integers(1, len(results)))
        batches.append(ToolResultBatch(results=tuple(results[:size])))
        results = results[size:]
    return batches


@st.composite
def damaged(draw, **narrowed):
    """A healthy history, then up to four things that crashes, retries and trimming do to one."""
    history = draw(healthy(**narrowed))
    for _ in range(draw(st.integers(1, 4))):
        if not history:
            break
        at = draw(st.integers(0, len(history) - 1))
        to = draw(st.integers(0, len(history) - 1))
        entry = history[at]
        what = draw(st.sampled_from(["drop", "twice", "move", "orphan", "thin", "reverse", "late", "cut"]))
        if what == "drop":
            del history[at]
        elif what == "twice":
            history.insert(to, entry.model_copy())
        elif what == "move":
            history.insert(to, history.pop(at))
        elif what == "orphan":
            history.insert(at, ToolResultBatch(results=(result(draw, draw(PLAIN_IDS), "f"),)))
        elif what == "cut":
            history = history[at:]
        elif isinstance(entry, ToolResultBatch):
            results = list(entry.results)
            if what == "thin" and results:
                del results[draw(st.integers(0, len(results) - 1))]
            elif what == "reverse":
                results.reverse()
            elif results:
                results.append(result(draw, results[0].tool_call_id, "f"))
            history[at] = ToolResultBatch(results=tuple(results))
    return history
