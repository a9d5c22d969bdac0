"""T: a turn counter counts, per turn and key, for everybody who works on the turn."""

from __future__ import annotations

from itertools import chain
from typing import TypeAlias

from hypothesis import strategies as st

from tooldialect.gate import TurnCounter

from .clause import Chapter, require
from .store_trial import THREADS, StoreTrial, answered, at_once, memory_kept
from .strategies import odd_text

T = Chapter[StoreTrial[TurnCounter]]("T", "turn counter")

Place: TypeAlias = tuple[str, str]
"""A turn's id and a key."""

_HERE: Place = ("turn-1", "mcp:shop:order")
_FLOOD = 500
_BYTES_EACH = 48


def _add(counter: TurnCounter, place: Place) -> int:
    return _number("add", answered("add", lambda: counter.add(*place)))


def _count(counter: TurnCounter, place: Place) -> int:
    return _number("count", answered("count", lambda: counter.count(*place)))


def _number(request: str, answer: object) -> int:
    require(type(answer) is int, f"{request} answers {answer!r}, which is no int")
    assert isinstance(answer, int)
    return answer


def _require_count(counter: TurnCounter, place: Place, want: int, when: str) -> None:
    got = _count(counter, place)
    require(got == want, f"{when}: count{place!r} is {got}, not {want}")


@T.clause(
    "T1",
    "It counts one by one from 0: add gives the new count, count the count so far.",
    reason="The third run that ends unserved is the last that is made to read the contract again.",
    prevents="A gate that opens too early, or never.",
)
def _counts(trial: StoreTrial[TurnCounter]) -> None:
    def check(place: Place) -> None:
        counter = trial.new()
        _require_count(counter, place, 0, "before anything was added")
        for want in (1, 2, 3, 4):
            got = _add(counter, place)
            require(got == want, f"add number {want} gives {got}")
            _require_count(counter, place, want, f"after add number {want}")

    trial.search.any(
        st.tuples(odd_text, odd_text), check, [_HERE, ("", ""), ("turn", ""), ("x" * 10_000, "y" * 10_000)]
    )


@T.clause(
    "T2",
    "Turns and keys are kept apart, to the last character of their names.",
    reason="Ids are made elsewhere, keys hold any Unicode.",
    prevents="A turn that pays for what another one did.",
)
def _apart(trial: StoreTrial[TurnCounter]) -> None:
    def check(places: tuple[Place, Place]) -> None:
        one, other = places
        if one == other:
            return
        counter = trial.new()
        _add(counter, one)
        _require_count(counter, other, 0, f"only {one!r} was added to")
        require(_add(counter, other) == 1, f"{other!r} is counted together with {one!r}")
        _add(counter, one)
        _require_count(counter, other, 1, f"{one!r} was added to once more")
        _require_count(counter, one, 2, f"{other!r} was added to in between")

    written: list[tuple[Place, Place]] = [
        (("a", "k"), ("b", "k")), (("a", "k"), ("a", "l")), (("a", "b"), ("b", "a")), (("a:b", "c"), ("a", "b:c")), (("ab", "c"), ("a", "bc")),
        (("a", "K"), ("a", "k")), (("A", "k"), ("a", "k")), (("a ", "k"), ("a", "k")), (("a", "k\n"), ("a", "k")), (("a", "\u00e9"), ("a", "e\u0301")),
        (("a\x00b", "c"), ("a", "b\x00c")), (("%", "k"), ("a", "k")), (("a_", "k"), ("ab", "k")), (("*", "k"), ("a", "k")), (("a", "k' OR '1'='1"), ("a", "k")),
        (("a", ""), ("", "a")), (("1", "k"), ("01", "k")), (("a/b", "c"), ("a", "b/c")), (("a|b", "c"), ("a", "b|c")), (("x" * 300, "k"), ("x" * 299 + "y", "k")),
        (("..", "k"), (".", "k")), (("a\ufeff", "k"), ("a", "k")), (("\u212a", "k"), ("k", "k")), (("a", "x" * 300), ("a", "x" * 299 + "y")),
    ]  # fmt: skip
    names = st.text(alphabet="ab:/ \x00|%_", max_size=4)
    places = st.tuples(names, names)
    trial.search.any(
        st.tuples(places, places), check, [pair for one, other in written for pair in ((one, other), (other, one))]
    )


@T.clause(
    "T3",
    "Asking changes nothing.",
    reason="A count is read before every decision.",
    prevents="Runs that count because somebody looked.",
)
def _asking(trial: StoreTrial[TurnCounter]) -> None:
    counter = trial.new()
    for _ in range(5):
        _require_count(counter, _HERE, 0, "asked again before anything was added")
    require(_add(counter, _HERE) == 1, "asking has counted")
    for _ in range(5):
        _require_count(counter, _HERE, 1, "asked again after one add")
    require(_add(counter, _HERE) == 2, "asking has counted")


@T.clause(
    "T4",
    "After a flood of turns the latest ones are remembered: as many as its capacity, all where it has none.",
    reason="The latest turns are those that people wait for.",
    prevents="A turn that never ends, because busy neighbours push its counts out.",
)
def _keeps_the_latest(trial: StoreTrial[TurnCounter]) -> None:
    counter = trial.new()
    count = _FLOOD if trial.capacity is None else 3 * trial.capacity
    turns = [(f"turn-{number}", "key") for number in range(count)]
    _add(counter, _HERE)
    for number, turn in enumerate(turns):
        _add(counter, turn)
        if trial.capacity is not None and trial.capacity > 1 and number % (trial.capacity - 1) == 0:
            _add(counter, _HERE)
    if trial.capacity is None:
        _require_count(counter, _HERE, 1, f"after {count} other turns")
    elif trial.capacity > 1:
        require(_count(counter, _HERE) > 3, "a turn that is written to all the time was forgotten")
    latest = turns if trial.capacity is None else turns[-max(1, trial.capacity - 1) :]
    for turn in latest:
        _require_count(counter, turn, 1, f"after {count} turns, one of the latest {len(latest)}")


@T.clause(
    "T5",
    "Its memory is bounded: it forgets turns beyond its capacity; without one it keeps none of them in this process.",
    reason="A host runs for months.",
    prevents="A leak of one entry a turn.",
)
def _bounded(trial: StoreTrial[TurnCounter]) -> None:
    counter = trial.new()

    def flood(start: int, count: int) -> None:
        for number in range(start, start + count):
            _add(counter, (f"turn-{number}", "key"))
            _count(counter, (f"asked-{number}", "key"))

    if trial.capacity is None:
        flood(0, _FLOOD)
        kept = memory_kept(lambda: flood(_FLOOD, _FLOOD))
        require(
            kept < _FLOOD * _BYTES_EACH,
            f"{_FLOOD} more turns left {kept} bytes in this process: name the capacity, or keep none of them",
        )
        return
    flood(0, 3 * trial.capacity)
    known = sum(_count(counter, (f"turn-{number}", "key")) > 0 for number in range(3 * trial.capacity))
    require(known <= trial.capacity, f"{known} turns are remembered, though its capacity is {trial.capacity}")


@T.clause(
    "T6",
    "A turn that nobody wrote to for its lifetime is forgotten, and counts from 0.",
    reason="Turn ids come back, as numbers of a conversation do.",
    prevents="A store that keeps every turn there ever was.",
    needs=("clock",),
)
def _expires(trial: StoreTrial[TurnCounter]) -> None:
    counter = trial.new()
    for _ in range(3):
        _add(counter, _HERE)
    trial.pass_time(0.9)
    _require_count(counter, _HERE, 3, "nine tenths of its lifetime later")
    trial.pass_time(0.2)
    _require_count(counter, _HERE, 0, "more than its lifetime later")
    require(_add(counter, _HERE) == 1, "a turn that was forgotten does not start at 1")


@T.clause(
    "T7",
    "A turn that is still written to is not forgotten, however old it is.",
    reason="A turn with many sub-agents can take hours.",
    prevents="A loop that never ends because its count begins anew.",
    needs=("clock",),
)
def _lives_on(trial: StoreTrial[TurnCounter]) -> None:
    counter = trial.new()
    for want in range(1, 6):
        require(
            _add(counter, _HERE) == want, f"add number {want}, 0.6 lifetimes after the one before, does not give {want}"
        )
        trial.pass_time(0.6)


@T.clause(
    "T8",
    "Threads that add at once lose no count, and no two are given the same.",
    reason="Sub-agents run in parallel.",
    prevents="A count that stays below the truth.",
)
def _threads(trial: StoreTrial[TurnCounter]) -> None:
    counter = trial.new()
    each = 40
    given: list[list[int]] = [[] for _ in range(THREADS)]

    def work(number: int) -> None:
        for _ in range(each):
            given[number].append(_add(counter, _HERE))

    at_once(work)
    _require_count(counter, _HERE, each * THREADS, f"{THREADS} threads added {each} times each")
    require(
        sorted(chain.from_iterable(given)) == list(range(1, each * THREADS + 1)),
        "two threads were given the same count",
    )
    require(all(part == sorted(part) for part in given), "one thread saw the count go down")


@T.clause(
    "T9",
    "Opened anew it goes on counting, and both objects see what either adds.",
    reason="The runs of a turn may be in several processes.",
    prevents="A loop that never ends because each process counts for itself.",
    needs=("reopen",),
)
def _reopened(trial: StoreTrial[TurnCounter]) -> None:
    first = trial.new()
    _add(first, _HERE)
    _add(first, _HERE)
    second = trial.reopened(first)
    _require_count(second, _HERE, 2, "after reopening")
    for want, counter in enumerate((second, first, second, first), start=3):
        require(
            _add(counter, _HERE) == want,
            f"add number {want}, by turns through two objects on one store, does not give {want}",
        )

    def work(number: int) -> None:
        for _ in range(10):
            _add((first, second)[number % 2], ("turn-2", "key"))

    at_once(work)
    _require_count(
        first,
        ("turn-2", "key"),
        10 * THREADS,
        f"{THREADS} threads added 10 times each, through two objects on one store",
    )
