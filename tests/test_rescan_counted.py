"""The guard against regressions: what a rescan touches, hashes and asks for is counted, not timed."""

import pytest

from gate_world import MAIL, PREFIX, delivered, key, world
from tooldialect.dialects import ChatMessage, OpenAIChatWire, ToolResult, ToolResultBatch, get_dialect, host_texts
from tooldialect.gate import MemoryLedger, SignedLedger
from tooldialect.gate import ledger as ledger_module

CHAT = OpenAIChatWire()


class CountedRow(dict):
    """A row that counts how often it is asked for a field."""

    reads = 0

    def __getitem__(self, name):
        type(self).reads += 1
        return super().__getitem__(name)

    def get(self, name, default=None):
        type(self).reads += 1
        return super().get(name, default)


class CountedText(str):
    """A text that counts how often its characters are asked for."""

    __slots__ = ()
    reads = 0

    def __lt__(self, other):
        type(self).reads += 1
        return str.__lt__(self, other)

    def removeprefix(self, prefix):
        type(self).reads += 1
        return super().removeprefix(prefix) if str.startswith(self, prefix) else self

    def startswith(self, *args):
        type(self).reads += 1
        return super().startswith(*args)

    def __contains__(self, other):
        raise AssertionError("searched")

    def encode(self, *args):
        raise AssertionError("encoded")


class CountedLedger:
    def __init__(self, inner):
        self.inner, self.trips = inner, 0

    def issue(self, payload, claims):
        return self.inner.issue(payload, claims)

    def verify(self, token, payload, claims):
        self.trips += 1
        return self.inner.verify(token, payload, claims)


@pytest.fixture
def hashed(monkeypatch):
    """The sizes of what was hashed, in order."""
    sizes = []
    digest = ledger_module.xxhash.xxh3_64_hexdigest
    monkeypatch.setattr(
        ledger_module.xxhash,
        "xxh3_64_hexdigest",
        lambda given: sizes.append(len(given)) or digest(given),  # type: ignore[redundant-expr]
    )
    return sizes


@pytest.fixture
def fingerprinted(monkeypatch):
    """The sizes of the payloads that a ledger hashed for its proof, in order."""
    sizes = []
    fingerprint = ledger_module._fingerprint
    monkeypatch.setattr(
        ledger_module,
        "_fingerprint",
        lambda payload, *rest: sizes.append(len(payload)) or fingerprint(payload, *rest),  # type: ignore[redundant-expr]
    )
    return sizes


def deliver(ledger, count=4):
    gate, _ = world({f"t{number}": MAIL for number in range(count)}, ledger=ledger)
    with gate.run() as run:
        return gate, [delivered(run, f"t{number}") for number in range(count)]


def chat(texts):
    return [CountedRow(role=("user", "assistant", "tool")[at % 3], content=text) for at, text in enumerate(texts)]


def test_a_row_is_asked_for_its_role_and_its_text_once():
    CountedRow.reads = CountedText.reads = 0
    request = chat(CountedText("x" * 1000) for _ in range(3000))
    with world()[0].run() as run:
        run.refresh(CHAT.host_texts(request))
    # Two of three rows are the host's: role and text of those, the role alone of the others.
    assert CountedRow.reads == 3000 + 2000
    assert CountedText.reads == 2000


def test_rows_that_need_a_closer_look_do_not_slow_down_the_others():
    CountedRow.reads = 0
    request = chat(["x"] * 3000)
    for at in range(0, 3000, 30):
        request[at]["content"] = [{"type": "image_url", "image_url": {}}]
    with world()[0].run() as run:
        run.refresh(CHAT.host_texts(request))
    assert CountedRow.reads <= 5000 + 100 * 4


def test_a_plain_text_is_compared_once_and_never_searched_or_hashed(hashed):
    CountedText.reads = 0
    with world()[0].run() as run:
        run.refresh([CountedText("x" * 5000) for _ in range(1000)])
    assert CountedText.reads == 1000
    assert hashed == []


@pytest.mark.parametrize("make", [MemoryLedger, lambda: SignedLedger("s")], ids=["memory", "signed"])
def test_only_marked_rows_are_hashed_and_only_the_first_time(make, hashed):
    ledger = CountedLedger(make())
    _, marked = deliver(ledger)
    gate, _ = world(ledger=ledger)
    texts = ["plain " * 100] * 1000 + marked + [PREFIX + "fake"] * 1000
    hashed.clear()
    with gate.run() as run:
        run.refresh(texts)
        first = sum(hashed)
        assert first <= 2 * sum(map(len, marked))
        assert ledger.trips == len(marked)
        for _ in range(3):
            # Parsed anew: equal texts in other objects.
            run.refresh(CHAT.host_texts([{"role": "user", "content": text[:1] + text[1:]} for text in texts]))
        assert sum(hashed) == first
        assert ledger.trips == len(marked)


@pytest.mark.parametrize(
    ("make", "digests"), [(MemoryLedger, 1), (lambda: SignedLedger("s"), 2)], ids=["memory", "signed"]
)
def test_a_delivery_is_hashed_once_for_its_token_and_once_for_its_proof(make, digests, hashed, fingerprinted):
    ledger = make()
    hashed.clear()
    gate, texts = deliver(ledger)
    sizes = [len(text[text.index("]") + 1 :].encode()) for text in texts]
    assert fingerprinted == sizes
    assert [size for size in hashed if size in sizes] == sizes
    hashed.clear()
    fingerprinted.clear()
    for _ in range(3):
        with gate.run() as run:
            assert len(run.refresh(texts)) == len(texts)
    # The reader's digest, and that of a ledger that answers for whole tokens.
    assert sorted(hashed) == sorted(sizes * digests)
    assert fingerprinted == sizes


def test_encoding_asks_no_source_and_present_does():
    gate, source = world()
    peeked: list[object] = []
    plain = source.peek

    def counting(asked):
        peeked.append(asked)
        return plain(asked)

    source.peek = counting
    with gate.run() as run:
        history = [ChatMessage(role="user", content=delivered(run))]
        peeked.clear()
        run.encode(history, get_dialect("xml"), CHAT)
        assert peeked == []
        assert run.present == {key("send")}
        assert len(peeked) == 1


@pytest.fixture
def read(monkeypatch):
    """The records whose text or results were read, in order."""
    records: list[object] = []
    plain = object.__getattribute__

    def counting(self, name):
        if name in ("content", "results"):
            records.append(self)
        return plain(self, name)

    for kind in (ChatMessage, ToolResult, ToolResultBatch):
        monkeypatch.setattr(kind, "__getattribute__", counting)
    return records


def entries(count, text="plain"):
    for number in range(count):
        if number % 2:
            yield ChatMessage(role="user", content=text)
        else:
            yield ToolResultBatch(results=(ToolResult(tool_call_id="c", content=text),))


def test_each_text_of_an_entry_is_read_once(read):
    history = list(entries(1000))
    read.clear()
    with world()[0].run() as run:
        run.refresh(host_texts(history))
    assert len(read) == 1500


def test_after_an_append_only_the_new_entries_are_read(read):
    gate, [marked] = deliver(MemoryLedger(), 1)
    history = [*entries(500), ChatMessage(role="user", content=marked), *entries(500)]
    with gate.run() as run:
        run.refresh(host_texts(history))
        for _ in range(20):
            history += entries(2, "new")
            read.clear()
            assert run.refresh(host_texts(history)) == {key("t0")}
            assert len(read) == 3
        read.clear()
        assert run.refresh(host_texts(history)) == {key("t0")}
        assert read == []
        history[3] = ChatMessage(role="user", content="other")
        assert run.refresh(host_texts(history)) == {key("t0")}
        assert len(read) >= 1000
