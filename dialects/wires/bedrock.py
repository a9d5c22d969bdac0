"""Amazon Bedrock, Converse.

Sources: `botocore` 1.44 (bedrock-runtime); "ToolResultBlock"; strict alternation, blank text
and a missing tool configuration are refused (reports in public issue threads).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ..attachment import Attachment
from ..errors import WireError
from ..host_words import HostTexts
from ..transcript import ModelResponse, ToolCall, ToolResult, ToolSpec, TranscriptEntry
from .arguments import reported_arguments
from .attached import is_image, left_out
from .base import Wire
from .bedrock_turn import NAMESPACE, SPELLING, Block, assistant_blocks, call_of, said, server_tools
from .blobs import Base64Text
from .candidates import candidates, content_may_begin
from .fixed_texts import BETWEEN_USERS, OPENING_USER, is_blank, shown_result
from .ids import WireIds, given_ids, reported_id
from .layout import Cycle, Stray, lay_out
from .prepared_tools import PreparedTool
from .reply import field, fields, is_record, items, message_list, parts_of, text_or_empty, text_parts
from .sent_tools import tools_to_send
from .tool_names import original_names, wire_name
from .turns import Turns

# ToolUseId of the model takes `.` and `:` too, the documentation does not.
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_S3_URI = re.compile(r"s3://[a-z0-9][.a-z0-9-]{1,61}[a-z0-9](/.*)?")
_LONGEST_URI = 1024
_TRUNCATED = ("max_tokens", "model_context_window_exceeded")
_ANY_OBJECT = {"type": "object", "properties": {}}


class BedrockWire(Wire):
    """System text goes to the top-level `system`, tools to `toolConfig`, failures to `status`.

    Neighbours of one role become one message, each text a block of its own, results first in
    theirs. A history that ends with the assistant gets a fixed user text behind it. Text
    reaches the model byte for byte; what a model's own template then does is not Bedrock's to say.

    `results_alone`: for models (Llama, Mistral) that take nothing beside results in a user
    turn: a short fixed assistant turn stands between. `status`: whether results carry their
    `status`; Writer Palmyra refuses it, and the output's own words must tell.

    Images stand in the result they belong to; those of a failed one, or with `results_alone`,
    behind the results.
    """

    name: ClassVar[str] = NAMESPACE

    def __init__(self, *, results_alone: bool = False, status: bool = True) -> None:
        self._results_alone = results_alone
        self._status = status

    def encode(self, entries: Iterable[TranscriptEntry], tools: Sequence[ToolSpec] = ()) -> dict[str, Any]:
        """`messages`, with `system` and `toolConfig` where there are some. A result's content is a
        text block of exactly its text. Without tools, a history of calls still gets a
        `toolConfig`, of the called names alone (also those it
        called itself): Converse refuses it otherwise.

        Bytes are base64 text that boto3 sends rightly too, if it is not copied to a plain `str`.
        """
        system: list[Block] = []
        turns = Turns({"text": OPENING_USER}, _is_result)
        called: set[str] = set()
        for item in lay_out(entries, WireIds(lambda id_: _ID.fullmatch(id_) is not None, request_wide=True)):
            if isinstance(item, Cycle):
                blocks = assistant_blocks(item)
                turns.add("assistant", blocks)
                turns.add("user", self._results(item.answers))
                called.update(call.name for call in item.turn.tool_calls)
                called.update(server_tools(blocks).values())
            elif isinstance(item, Stray):
                turns.add("user", self._results([(item.id, item.result)]))
                called.add(item.result.name or "")
            else:
                texts: list[Block] = [] if is_blank(item.content) else [{"text": str(item.content)}]
                if item.role == "system":
                    system += texts
                else:
                    turns.add("user", texts + _attached(item.attachments))
        request: dict[str, Any] = {"messages": self._finished(turns.finish())}
        if system:
            request["system"] = system
        prepared = tools_to_send(tools)
        if prepared or called:
            offered = prepared or [PreparedTool(name, "", _ANY_OBJECT) for name in sorted(called)]
            request["toolConfig"] = {"tools": [{"toolSpec": _spec(tool)} for tool in offered]}
        return request

    def decode(self, response: Any, tools: Sequence[ToolSpec] = ()) -> ModelResponse:
        """A reply of Converse, from boto3 or as JSON. Its blocks are kept in the metadata where their
        order or their signatures must come back. Raises WireError for what is no reply."""
        message = field(field(response, "output"), "message")
        if message is None:
            if isinstance(error := field(response, "message"), str):
                raise WireError(f"the reply is an error of the provider: {error}")
            raise WireError(f"the reply ({type(response).__name__}) has no output.message: is it of Converse?")
        if not is_record(message):
            raise WireError(f"output.message of the reply is {type(message).__name__}, not an object")
        blocks = [fields(block) for block in items(field(message, "content"), "output.message.content")]
        names = original_names(tool.name for tool in tools)
        uses = [use for block in blocks if (use := call_of(block)) is not None]
        taken = given_ids(use.get("toolUseId") for use in uses)
        texts = [text for block in blocks if (text := said(block)) is not None]
        thoughts = [text for block in blocks if (text := _thought(block)) is not None]
        return ModelResponse(
            text="".join(texts) if texts else None,
            tool_calls=tuple(_call(use, names, taken) for use in uses),
            reasoning_content="\n\n".join(thoughts) if thoughts else None,
            truncated=field(response, "stopReason") in _TRUNCATED,
            metadata=SPELLING.kept(blocks),
        )

    def host_texts(self, messages: Any) -> HostTexts:
        return HostTexts(message_list(messages), _host_texts_of, candidates(_may_begin))

    def tool_name(self, name: str) -> str:
        """The tool's name in a request, for fields such as `toolChoice`."""
        return wire_name(name)

    def _results(self, answers: Iterable[tuple[str, ToolResult]]) -> list[Block]:
        """A block for each result, then the attachments that could not stand in it."""
        blocks, behind = [], []
        for wire_id, result in answers:
            inside: list[Block] = []
            for attachment in result.attachments:
                shown = None if self._results_alone or not result.success else _image(attachment)
                if shown is None:
                    behind.append(attachment)
                else:
                    inside.append(shown)
            if not (inside and is_blank(result.content)):
                inside.insert(0, {"text": shown_result(result.content)})
            block: Block = {"toolUseId": wire_id, "content": inside}
            if self._status:
                block["status"] = "success" if result.success else "error"
            blocks.append({"toolResult": block})
        return blocks + _attached(behind)

    def _finished(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        finished: list[dict[str, Any]] = []
        for message in messages:
            results = [block for block in message["content"] if _is_result(block)]
            others = message["content"][len(results) :]
            if self._results_alone and message["role"] == "user" and results and others:
                finished += [
                    {"role": "user", "content": results},
                    {"role": "assistant", "content": [{"text": BETWEEN_USERS}]},
                    {"role": "user", "content": others},
                ]
            else:
                finished.append(message)
        if finished and finished[-1]["role"] == "assistant" and not any(map(call_of, finished[-1]["content"])):
            finished.append({"role": "user", "content": [{"text": OPENING_USER}]})
        return finished


def _host_texts_of(message: Any) -> Iterator[str]:
    if field(message, "role") == "user":
        for block in parts_of(field(message, "content")):
            result = field(block, "toolResult")
            yield from text_parts([block] if result is None else field(result, "content"))


def _may_begin(message: Any, prefix: str) -> bool:
    if type(message) is not dict:
        return True
    if message.get("role") != "user":
        return False
    content = message["content"]
    if type(content) is not list:
        return True
    for block in content:
        if type(block) is not dict:
            return True
        result = block.get("toolResult")
        if content_may_begin([block] if result is None else result["content"], prefix):
            return True
    return False


def _is_result(block: Block) -> bool:
    return "toolResult" in block


def _spec(tool: PreparedTool) -> dict[str, Any]:
    spec: dict[str, Any] = {"name": wire_name(tool.name)}
    if tool.description.strip():
        spec["description"] = tool.description
    return {**spec, "inputSchema": {"json": tool.parameters}}


def _attached(attachments: Iterable[Attachment]) -> list[Block]:
    blocks: list[Block] = []
    others = []
    for attachment in attachments:
        if (shown := _image(attachment)) is None:
            others.append(attachment)
        else:
            blocks.append(shown)
    return [*blocks, {"text": left_out(others)}] if others else blocks


def _image(attachment: Attachment) -> Block | None:
    """The block of an image, its bytes here or in S3; None for what Converse cannot be given."""
    source: dict[str, Any]
    if not is_image(attachment):
        return None
    if attachment.data is not None:
        source = {"bytes": Base64Text(attachment.data)}
    elif len(str(attachment.url)) <= _LONGEST_URI and _S3_URI.fullmatch(str(attachment.url)):
        source = {"s3Location": {"uri": str(attachment.url)}}
    else:
        return None
    return {"image": {"format": attachment.media_type.removeprefix("image/"), "source": source}}


def _thought(block: Block) -> str | None:
    text = field(field(block.get("reasoningContent"), "reasoningText"), "text")
    return text if isinstance(text, str) else None


def _call(use: Mapping[str, Any], names: dict[str, str], taken: set[str]) -> ToolCall:
    name = text_or_empty(use.get("name"))
    return ToolCall(
        id=reported_id(use.get("toolUseId"), taken),
        name=names.get(name, name),
        arguments=reported_arguments(use.get("input")),
    )
