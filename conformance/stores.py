"""L and T: ledgers that prove what was delivered, and counters of what a turn has tried."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

import xxhash

from tooldialect.gate import Ledger, TurnCounter

from .clause import Chapter, Clause, Need, Violation, require
from .run import Result, check_expectations, conclude, select

StoreT = TypeVar("StoreT")
DriverT = TypeVar("DriverT", bound="StoreDriver[Any]")

_CLAIMS = {"mcp:shop:create_order": "0123456789abcdef"}
_PAYLOADS = ("NOT EXECUTED: call it again.", "", " ", "\ufeffé\u2028\U0001f600\x00\r\n", "x" * 50_000)
_WRITERS, _EACH = 8, 50


class StoreDriver(ABC, Generic[StoreT]):
    """Makes stores to test. `capacity`: how much one that `make` returns remembers, if that is bounded
    (ledger: deliveries; counter: turns); small is fast. `lifetime`: seconds until a count expires."""

    capacity: int | None = None
    lifetime: float | None = None

    @abstractmethod
    def make(self) -> StoreT:
        """A store that has nothing in common with any made before, but for a secret."""

    def reopen(self, store: StoreT) -> StoreT | None:
        """Another object on the same state, as another process has it; None where there is no such thing."""
        return None

    def advance(self, seconds: float) -> None:
        """Moves the store's clock; only asked where there is a `lifetime`."""
        raise NotImplementedError

    def meets(self) -> frozenset[Need]:
        """Needs of clauses that the driver meets."""
        met: set[Need] = set()
        if self.reopen(self.make()) is not None:
            met.add("reopen")
        if self.capacity is not None:
            met.add("bounded")
        if self.lifetime is not None:
            met.add("clock")
        return frozenset(met)


class LedgerDriver(StoreDriver[Ledger]):
    """`stranger`: a ledger that must not vouch for ours, nor ours for its: by default another one that
    `make` returns, so override it where those share a secret."""

    def stranger(self) -> Ledger:
        return self.make()


class CounterDriver(StoreDriver[TurnCounter]):
    """Makes turn counters."""


L = Chapter[LedgerDriver]("L", "ledger")
T = Chapter[CounterDriver]("T", "turn counter")


@L.clause(
    "L1",
    "What a ledger issued it verifies, again and again, whatever the payload.",
    reason="Every model call rescans the whole transcript.",
    prevents="A contract that is credited once and then delivered again.",
)
def _verifies(driver: LedgerDriver) -> None:
    ledger = driver.make()
    tokens = {payload: ledger.issue(payload, _CLAIMS) for payload in _PAYLOADS}
    for _ in range(2):
        for payload, token in tokens.items():
            require(ledger.verify(token, payload, _CLAIMS) is True, "a token that was issued is not verified", want=payload)
    require(ledger.verify(ledger.issue("again", _CLAIMS), "again", _CLAIMS), "a payload issued twice is not verified")
    reordered = {"b": "2" * 16, "a": "1" * 16}
    token = ledger.issue("x", dict(sorted(reordered.items())))
    require(ledger.verify(token, "x", reordered), "claims in another order are taken for other claims")


@L.clause(
    "L2",
    "A token is 16 to 128 lower-case hex digits and begins with the XXH3-64 of the payload.",
    reason="The reader of markers checks the digest before it asks the ledger.",
    prevents="A token that no reader takes, or a flood of fakes that reaches the ledger.",
)
def _token(driver: LedgerDriver) -> None:
    ledger = driver.make()
    for payload in _PAYLOADS:
        token = ledger.issue(payload, _CLAIMS)
        require(re.fullmatch("[0-9a-f]{16,128}", token), f"the token {token!r} is not 16 to 128 lower-case hex digits")
        digest = xxhash.xxh3_64_hexdigest(payload.encode())
        require(token.startswith(digest), f"the token {token!r} does not begin with the payload's XXH3-64 {digest}")


@L.clause(
    "L3",
    "An altered payload is not verified.",
    reason="Context managers rewrite.",
    prevents="Credit for a contract that the model cannot read any more.",
)
def _altered(driver: LedgerDriver) -> None:
    ledger = driver.make()
    payload = "NOT EXECUTED: call it again.  With {\"sku\": 1}."
    token = ledger.issue(payload, _CLAIMS)
    for altered in (payload[:-1], payload + " ", " " + payload, payload.replace("  ", " "), payload.upper(), "", payload * 2, payload + "\ud800"):
        require(not ledger.verify(token, altered, _CLAIMS), "an altered payload is verified", want=payload, got=altered.encode(errors="replace").decode())
        # Whoever can compute the digest has not issued it.
        forged = xxhash.xxh3_64_hexdigest(altered.encode(errors="replace")) + token[16:]
        require(not ledger.verify(forged, altered, _CLAIMS), "an altered payload with the right digest is verified", got=altered.encode(errors="replace").decode())


@L.clause(
    "L4",
    "A token is bound to its claims: another key, version or set of keys is not verified.",
    reason="The header stands outside the payload.",
    prevents="One tool's contract that credits another, or a stale version that passes for the new one.",
)
def _bound(driver: LedgerDriver) -> None:
    ledger = driver.make()
    token = ledger.issue("payload", _CLAIMS)
    [(key, version)] = _CLAIMS.items()
    others: list[Mapping[str, str]] = [
        {}, {key: version[::-1]}, {key + "2": version}, {key.upper(): version}, {key: version, "mcp:shop:refund": version}, {version: key},
    ]  # fmt: skip
    for claims in others:
        require(not ledger.verify(token, "payload", claims), f"a token issued for {_CLAIMS} is verified for {claims}")
    pairs = {"a": "1" * 16, "b": "2" * 16}
    both = ledger.issue("two", pairs)
    for claims in ({"a": "1" * 16}, {"a": "2" * 16, "b": "1" * 16}):
        require(not ledger.verify(both, "two", claims), f"a token issued for {pairs} is verified for {claims}")


@L.clause(
    "L5",
    "What it did not issue it does not verify, and no input raises.",
    reason="Tools and servers can write anything into a transcript.",
    prevents="A forged contract, or a rescan that a tool result brings down.",
)
def _foreign(driver: LedgerDriver) -> None:
    ledger, stranger = driver.make(), driver.stranger()
    foreign = stranger.issue("theirs", _CLAIMS)
    require(not ledger.verify(foreign, "theirs", _CLAIMS), "another ledger's token is verified")
    mine = ledger.issue("mine", _CLAIMS)
    require(not stranger.verify(mine, "mine", _CLAIMS), "another ledger verifies this one's token")
    digest = xxhash.xxh3_64_hexdigest(b"never issued")
    garbage = ("", digest, digest + "0" * 32, digest * 8, "0" * 16, "\u0660" * 16, "\ud800", "x" * 100_000, "\x00", mine)
    for token in garbage:
        try:
            is_verified = ledger.verify(token, "never issued", _CLAIMS)
        except Exception as error:
            raise Violation(f"verifying the token {token[:40]!r} raised {type(error).__name__}: {error}") from error
        require(not is_verified, f"the made-up token {token[:40]!r} is verified")
    for token in (mine[:-1], mine + "0", mine.upper() if mine.upper() != mine else "A" * len(mine)):
        require(not ledger.verify(token, "mine", _CLAIMS), f"a token that was changed to {token!r} is verified")


@L.clause(
    "L6",
    "A flood forgets the oldest at most: memory is bounded, fakes evict nothing, the latest stays.",
    reason="A process lives for months.",
    prevents="A host that runs out of memory, or a live contract that a flood of fakes pushes out.",
    needs=("bounded",),
)
def _flooded(driver: LedgerDriver) -> None:
    assert driver.capacity is not None
    ledger = driver.make()
    issued = [(f"payload {n}", ledger.issue(f"payload {n}", _CLAIMS)) for n in range(3 * driver.capacity)]
    newest = issued[-1]
    for n in range(3 * driver.capacity):
        ledger.verify("0" * 16, f"fake {n}", _CLAIMS)
    require(ledger.verify(newest[1], newest[0], _CLAIMS), "a flood of fakes pushed out the latest delivery")
    remembered = sum(ledger.verify(token, payload, _CLAIMS) for payload, token in reversed(issued))
    require(remembered <= driver.capacity, f"of {len(issued)} deliveries {remembered} are remembered, {driver.capacity} were to be")
    require(remembered == driver.capacity, f"only {remembered} of {driver.capacity} deliveries are remembered")


@L.clause(
    "L7",
    "Threads issue and verify at once.",
    reason="Calls of a batch run in parallel.",
    prevents="A delivery that is lost in a race, or a structure that breaks under it.",
)
def _threads(driver: LedgerDriver) -> None:
    ledger = driver.make()
    each = _EACH if driver.capacity is None else max(1, driver.capacity // (2 * _WRITERS))

    def work(writer: int) -> int:
        missed = 0
        for n in range(each):
            payload = f"{writer}.{n}"
            missed += not ledger.verify(ledger.issue(payload, _CLAIMS), payload, _CLAIMS)
        return missed

    missed = sum(_at_once(work))
    require(not missed, f"{missed} deliveries issued by threads at once were not verified")


@L.clause(
    "L8",
    "Another process on the same state verifies.",
    reason="Conversations are resumed elsewhere.",
    prevents="Contracts that are all delivered again after a restart.",
    needs=("reopen",),
)
def _reopened(driver: LedgerDriver) -> None:
    ledger = driver.make()
    token = ledger.issue("payload", _CLAIMS)
    other = driver.reopen(ledger)
    assert other is not None
    require(other.verify(token, "payload", _CLAIMS), "after reopening an issued token is not verified")
    require(not other.verify(token, "payload!", _CLAIMS), "after reopening an altered payload is verified")
    require(ledger.verify(other.issue("back", _CLAIMS), "back", _CLAIMS), "what the reopened ledger issues the first one does not verify")


@T.clause(
    "T1",
    "Counting starts at 0, `add` returns the new count, `count` changes nothing.",
    reason="The fourth run of a turn is let through by this number.",
    prevents="A loop that is never broken, or broken at the first try.",
)
def _counts(driver: CounterDriver) -> None:
    counter = driver.make()
    require(counter.count("turn", "key") == 0, "a turn nobody counted does not have the count 0")
    for wanted in (1, 2, 3, 4):
        got = counter.add("turn", "key")
        require(got == wanted, f"add returned {got}, not {wanted}")
        seen = [counter.count("turn", "key") for _ in range(2)]
        require(seen == [wanted, wanted], f"after {wanted} runs the count reads {seen}")


@T.clause(
    "T2",
    "Counts are kept per turn and key, whatever characters they hold.",
    reason="Keys hold names that providers chose.",
    prevents="One tool's failures that open the gate for another.",
)
def _apart(driver: CounterDriver) -> None:
    pairs = [
        ("t", "k"), ("t", "k2"), ("t2", "k"), ("tk", ""), ("", "tk"), ("a:b", "c"), ("a", "b:c"), ("a/b", "c"), ("a", "b/c"),
        ("t", "k"), ("T", "k"), ("t", "K"), ("t ", "k"), ("t\x00", "k"), ("t", "\x00k"), ("é", "k"), ("e\u0301", "k"), ("t", "k" * 2000), ("%", "_"),
    ]  # fmt: skip
    for group in (pairs[start : start + 4] for start in range(len(pairs) - 3)):
        counter = driver.make()
        for runs, (turn, key) in enumerate(group, start=1):
            for _ in range(runs):
                counter.add(turn, key)
        read = [counter.count(turn, key) for turn, key in group]
        require(read == [1, 2, 3, 4], f"the counts of {[(t[:20], k[:20]) for t, k in group]} read {read}, not [1, 2, 3, 4]")


@T.clause(
    "T3",
    "Concurrent writers lose nothing.",
    reason="Sub-agents run in parallel.",
    prevents="A loop of parallel sub-agents that counts too slowly to be broken.",
)
def _writers(driver: CounterDriver) -> None:
    counter = driver.make()
    other = driver.reopen(counter) or counter

    def work(writer: int) -> list[int]:
        mine = other if writer % 2 else counter
        return [mine.add("turn", "key") for _ in range(_EACH)]

    returned = sorted(number for numbers in _at_once(work) for number in numbers)
    total = _WRITERS * _EACH
    require(counter.count("turn", "key") == total, f"{total} runs were counted at once, the count reads {counter.count('turn', 'key')}")
    require(returned == list(range(1, total + 1)), "two writers were told the same count")


@T.clause(
    "T4",
    "Another process on the same state sees the counts, and adds to them.",
    reason="Sub-agents run on other machines.",
    prevents="A loop across processes that nobody sees.",
    needs=("reopen",),
)
def _counts_elsewhere(driver: CounterDriver) -> None:
    counter = driver.make()
    counter.add("turn", "key")
    other = driver.reopen(counter)
    assert other is not None
    require(other.count("turn", "key") == 1, "after reopening a count is gone")
    require(other.add("turn", "key") == 2, "after reopening counting starts anew")
    require(counter.count("turn", "key") == 2, "what was counted elsewhere is not seen")


@T.clause(
    "T5",
    "A flood of turns forgets the oldest at most: memory is bounded, the latest turn stays.",
    reason="A process lives for months.",
    prevents="A host that runs out of memory, or a live turn that is pushed out.",
    needs=("bounded",),
)
def _many_turns(driver: CounterDriver) -> None:
    assert driver.capacity is not None
    counter = driver.make()
    runs = counter.add("live", "key")
    for n in range(3 * driver.capacity):
        counter.add(f"turn {n}", "key")
        if n % max(1, driver.capacity // 2) == 0:
            counter.add("live", "key")
            runs += 1
    require(counter.count("live", "key") == runs, "a turn that is still counted was forgotten")
    require(counter.count(f"turn {3 * driver.capacity - 1}", "key") == 1, "the latest turn was forgotten")
    known = sum(counter.count(f"turn {n}", "key") for n in range(3 * driver.capacity))
    require(known <= driver.capacity, f"{known} turns are remembered, {driver.capacity} were to be")


@T.clause(
    "T6",
    "A count expires after its lifetime, and not before.",
    reason="Turns end without anybody saying so.",
    prevents="A turn of last week that opens the gate today; a count that is gone while the turn runs.",
    needs=("clock",),
)
def _expiry(driver: CounterDriver) -> None:
    assert driver.lifetime is not None
    counter = driver.make()
    counter.add("turn", "key")
    driver.advance(driver.lifetime * 0.75)
    require(counter.count("turn", "key") == 1, "a count expired before its lifetime")
    counter.add("turn", "key")
    driver.advance(driver.lifetime * 0.75)
    require(counter.count("turn", "key") == 2, "a count that was added to expired with its first run")
    driver.advance(driver.lifetime * 1.25)
    require(counter.count("turn", "key") == 0, "a count outlives its lifetime")
    require(counter.add("turn", "key") == 1, "a count that expired is added to")


def ledger_clauses() -> tuple[Clause[LedgerDriver], ...]:
    return tuple(L)


def counter_clauses() -> tuple[Clause[CounterDriver], ...]:
    return tuple(T)


def run_ledger(driver: LedgerDriver, *, select_only: Iterable[str] = (), expected_failures: Mapping[str, str] | None = None) -> Iterator[Result]:
    """One result per clause of a ledger."""
    return _run(L, driver, select_only, expected_failures)


def run_counter(driver: CounterDriver, *, select_only: Iterable[str] = (), expected_failures: Mapping[str, str] | None = None) -> Iterator[Result]:
    """One result per clause of a turn counter."""
    return _run(T, driver, select_only, expected_failures)


def judge_store(clause: Clause[DriverT], driver: DriverT, expected: str | None = None) -> Result:
    """One clause on one store. What the store raises is its failure."""

    def check() -> None:
        try:
            clause.check(driver)
        except Violation:
            raise
        except Exception as error:  # a stranger's store raises what it likes
            raise Violation(f"the store raised {type(error).__name__}: {error}") from error

    return conclude(clause, driver.meets(), check, lambda: None, expected)


def _run(chapter: Chapter[DriverT], driver: DriverT, select_only: Iterable[str], expected: Mapping[str, str] | None) -> Iterator[Result]:
    given = dict(expected or {})
    check_expectations(given, [clause.id for clause in chapter])
    for clause in select(select_only, chapter):
        yield judge_store(clause, driver, given.get(clause.id))


def _at_once(work: Callable[[int], Any]) -> list[Any]:
    with ThreadPoolExecutor(max_workers=_WRITERS) as pool:
        return list(pool.map(work, range(_WRITERS)))
