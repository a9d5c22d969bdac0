"""What a text cannot say: from a tool's outcome to a provider's request, or named in words."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sdk_types import check_anthropic, check_openai
from tooldialect.dialects import (
    AnthropicWire,
    AssistantTurn,
    Attachment,
    ChatMessage,
    OpenAIChatWire,
    PlainChatWire,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    VerbatimError,
    dump_transcript,
    get_dialect,
    load_transcript,
    outcome_from_mcp,
)
from wire_rules import anthropic_faults, openai_faults

PNG = Attachment(media_type="image/png", data="UE5H")
LINK = Attachment(media_type="image/jpeg", url="https://example.com/a.jpg")
SOUND = Attachment(media_type="audio/wav", data="UklGRg==")
PDF = Attachment(media_type="application/pdf", data="JVBERg==")
PNG_URL = "data:image/png;base64,UE5H"


def cycle(*outcomes):
    turn = AssistantTurn(tool_calls=tuple(ToolCall(id=o.tool_call_id, name=o.name, arguments="{}") for o in outcomes))
    return [ChatMessage(role="user", content="go"), turn, *get_dialect("native").format_results(outcomes)]


def outcome(id_, output, *attachments, **fields):
    return ToolOutcome(name="f", output=output, tool_call_id=id_, attachments=attachments, **fields)


@given(
    st.sampled_from(["image/png", "IMAGE/PNG", "image/svg+xml", "application/vnd.ms-excel", "audio/x-a.b"]),
    st.binary(min_size=1, max_size=9),
)
def test_bytes_survive_json_and_a_saved_transcript(media_type, content):
    made = Attachment.from_bytes(media_type, content)
    assert base64.b64decode(made.data) == content
    assert made.media_type == media_type.lower()
    assert Attachment.model_validate_json(made.model_dump_json()) == made
    history = [
        ToolResultBatch(results=(ToolResult(tool_call_id="a", content="x", attachments=(made, LINK)),)),
        ChatMessage(role="user", content="x", attachments=(made,)),
    ]
    assert load_transcript(dump_transcript(history)) == history


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"data": "UE5H", "url": "https://example.com/"},
        {"data": ""},
        {"data": "UE5"},
        {"data": "UE5H\n"},
        {"data": "UE_H"},
        {"data": "é"},
        {"data": b"UE5H"},
        {"url": ""},
        {"url": "a.png"},
        {"url": "https://example.com/a b"},
        {"url": "https://example.com/<x>"},
        {"url": PNG_URL},
        {"url": "DATA:,x"},
        {"data": "UE5H", "media_type": "png"},
        {"data": "UE5H", "media_type": "image/png; q=1"},
        {"data": "UE5H", "media_type": "image/"},
        {"data": "UE5H", "media_type": "image/png\n"},
        {"data": "UE5H", "name": "a"},
    ],
)
def test_what_is_no_attachment_is_refused(fields):
    with pytest.raises(ValidationError):
        Attachment(**{"media_type": "image/png", **fields})


def test_a_marked_text_has_no_attachments():
    for make in (
        lambda: ToolOutcome.ok("f", "x", trusted_verbatim=True, attachments=(PNG,)),
        lambda: ToolOutcome.ok("f", "x", attachments=(PNG,)).verbatim(),
        lambda: ToolResult(tool_call_id="a", content="x", trusted_verbatim=True, attachments=(PNG,)),
        lambda: ChatMessage(role="user", content="x", trusted_verbatim=True, attachments=(PNG,)),
    ):
        with pytest.raises(VerbatimError, match="no attachments"):
            make()
    assert ToolOutcome.ok("f", "x", trusted_verbatim=True, attachments=()).attachments == ()


@pytest.mark.parametrize("role", ["system", "assistant"])
def test_only_users_and_tools_attach(role):
    with pytest.raises(ValidationError, match="user's or a tool's"):
        ChatMessage(role=role, content="x", attachments=(PNG,))
    assert ChatMessage(role="tool", content="x", attachments=(PNG,)).attachments == (PNG,)


def test_a_record_without_attachments_is_dumped_as_before():
    assert dump_transcript([ChatMessage(role="user", content="x")]) == '{"kind":"chat","role":"user","content":"x"}\n'


@pytest.mark.parametrize("name", ["xml", "pformat"])
def test_a_batch_of_text_has_its_outcomes_attachments_in_order_and_replay_agrees(name):
    outcomes = [outcome("a", "1", PNG), outcome("b", "M").verbatim(), outcome("c", "2", LINK, SOUND), outcome("d", "3")]
    dialect = get_dialect(name)
    fresh = dialect.format_results(outcomes)
    assert [entry.attachments for entry in fresh] == [(PNG,), (), (LINK, SOUND)]
    plain = dialect.format_results([o.model_copy(update={"attachments": ()}) for o in outcomes])
    assert [entry.content for entry in fresh] == [entry.content for entry in plain]
    assert dialect.replay(cycle(*outcomes))[2:] == fresh


def test_native_carries_them_to_the_results():
    batches = get_dialect("native").format_results([outcome("a", "1", PNG), outcome("b", "M").verbatim()])
    assert [r.attachments for b in batches for r in b.results] == [(PNG,), ()]


def test_openai_shows_images_to_the_model_behind_the_results_of_their_cycle():
    history = cycle(outcome("a", "one", PNG, SOUND), outcome("b", "", LINK))
    request = OpenAIChatWire().encode([*history, ChatMessage(role="user", content="and?")])
    check_openai(request)
    assert not list(openai_faults(request))
    assert request["messages"][2:] == [
        {"role": "tool", "tool_call_id": "a", "content": "one"},
        {"role": "tool", "tool_call_id": "b", "content": "(no output)"},
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": PNG_URL}},
                {"type": "image_url", "image_url": {"url": "https://example.com/a.jpg"}},
                {"type": "text", "text": "(Attachments not shown: audio/wav.)"},
            ],
        },
        {"role": "user", "content": "and?"},
    ]


def test_anthropic_shows_images_inside_their_result_behind_its_text():
    request = AnthropicWire().encode(cycle(outcome("a", "one", PNG, SOUND), outcome("b", " ", LINK, PDF)))
    check_anthropic(request)
    assert not list(anthropic_faults(request))
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "UE5H"}}
    link = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.jpg"}}
    pdf = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="}}
    assert request["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "one"}, image]},
        {"type": "tool_result", "tool_use_id": "b", "content": [link, pdf]},
        {"type": "text", "text": "(Attachments not shown: audio/wav.)"},
    ]


def test_anthropic_shows_the_images_of_a_failed_result_behind_it():
    (_, _, turn) = AnthropicWire().encode(cycle(outcome("a", "no", PNG, success=False)))["messages"]
    assert [block["type"] for block in turn["content"]] == ["tool_result", "image"]
    assert turn["content"][0]["content"] == "no"


@pytest.mark.parametrize("strict", [False, True])
def test_a_wire_of_text_names_what_it_left_out_in_words_of_its_own(strict):
    history = cycle(outcome("a", "one", PNG), outcome("b", "two", LINK))
    messages = PlainChatWire(strict_alternation=strict).encode(history)["messages"]
    note = "(Attachments not shown: image/png, image/jpeg.)"
    assert messages[-1]["role"] == "user"
    assert messages[-1]["content"] == ("one\n\ntwo\n\n" + note if strict else note)
    spoken = PlainChatWire(strict_alternation=strict).encode([ChatMessage(role="user", content="", attachments=[PNG])])
    assert spoken == {"messages": [{"role": "user", "content": "(Attachments not shown: image/png.)"}]}


@pytest.mark.parametrize("wire", [OpenAIChatWire(), AnthropicWire(), PlainChatWire()], ids=lambda wire: wire.name)
def test_results_sent_without_their_calls_keep_their_attachments_behind_them(wire):
    results = get_dialect("native").format_results([outcome("a", "1", PNG), outcome("b", "2", LINK)])
    messages = wire.encode(results)["messages"]
    assert "image" in repr(messages)
    if wire.name != "anthropic":
        assert [message["role"] for message in messages] == ["tool", "tool", "user"]


def test_an_image_of_a_user_goes_with_the_text():
    history = [ChatMessage(role="user", content="look", attachments=[PNG])]
    (openai,) = OpenAIChatWire().encode(history)["messages"]
    assert [part["type"] for part in openai["content"]] == ["text", "image_url"]
    (anthropic,) = AnthropicWire().encode(history)["messages"]
    assert [part["type"] for part in anthropic["content"]] == ["text", "image"]


def test_images_and_sounds_of_an_mcp_result_are_attached_and_named():
    content = [
        {"type": "image", "data": "UE5H", "mimeType": "image/png"},
        {"type": "audio", "data": "UklGRg==", "mimeType": "Audio/WAV; rate=8000"},
        {"type": "resource", "resource": {"uri": "file:///a.gif", "blob": "R0lG", "mimeType": "image/gif"}},
        {"type": "resource", "resource": {"uri": "file:///a.zip", "blob": "UEs=", "mimeType": "application/zip"}},
        {"type": "image", "data": "no base64", "mimeType": "image/png"},
        {"type": "image", "data": "UE5H"},
        {"type": "text", "text": "t", "data": "UE5H", "mimeType": "image/png"},
    ]
    made = outcome_from_mcp({"content": content}, "f")
    assert made.attachments == (PNG, SOUND, Attachment(media_type="image/gif", data="R0lG"))
    lines = made.output.split("\n")
    assert len(lines) == 7
    assert ["attached" in line for line in lines] == [True] * 3 + [False] * 4
    assert ["not shown" in line for line in lines] == [False] * 3 + [True] * 3 + [False]


def test_the_image_of_an_mcp_sdk_object_is_attached():
    types = pytest.importorskip("mcp.types")
    result = types.CallToolResult(content=[types.ImageContent(type="image", data="UE5H", mime_type="image/png")])
    assert outcome_from_mcp(result, "f").attachments == (PNG,)
