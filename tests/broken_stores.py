"""Broken ledgers and turn counters, each wrong in one way, and stores with a clock or a file that are right.

`LEDGERS`, `COUNTERS`: name, the clause that is there to catch it, the driver, and further clauses that promise the same
about another input.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import xxhash

from tooldialect.conformance import CounterDriver, LedgerDriver
from tooldialect.gate import MemoryLedger, MemoryTurnCounter, SignedLedger

BOUND = 32
_secrets = map("secret {}".format, itertools.count())


def digest(text):
    return xxhash.xxh3_64_hexdigest(text.encode(errors="replace"))


class Signed(SignedLedger):
    """The built-in one, made new each time, which can be opened anew."""

    def __init__(self, secret=None):
        self.secret = next(_secrets) if secret is None else secret
        super().__init__(self.secret)

    def reopen(self):
        return type(self)(self.secret)


# Ledgers


def seen_through(of_payload=lambda p: p, of_claims=lambda c: c, of_token=lambda t: t):
    """A signed ledger that looks at payload and claims through something that loses some of it."""

    class Through(Signed):
        def issue(self, payload, claims, /):
            token = digest(payload) + super().issue(of_payload(payload), of_claims(claims))[16:]
            return of_token(token)

        def verify(self, token, payload, claims, /):
            try:
                whole = digest(of_payload(payload)) + token[16:]
                return token[:16] == digest(payload) and super().verify(whole, of_payload(payload), of_claims(claims))
            except UnicodeEncodeError:
                return False

    return Through


class OrderCounts(Signed):
    def issue(self, payload, claims, /):
        return super().issue(payload, {json.dumps(list(claims.items())): "0" * 16})

    def verify(self, token, payload, claims, /):
        return super().verify(token, payload, {json.dumps(list(claims.items())): "0" * 16})


class Truthy(Signed):
    def verify(self, token, payload, claims, /):
        return 1 if super().verify(token, payload, claims) else False


class SortsInPlace(Signed):
    def issue(self, payload, claims, /):
        token = super().issue(payload, claims)
        claims.pop(min(claims))
        return token


class TokenOfItsOwn(Signed):
    """Begins with a digest, but not with that of the payload."""

    def issue(self, payload, claims, /):
        return super().issue(payload, claims)[::-1]

    def verify(self, token, payload, claims, /):
        return super().verify(token[::-1], payload, claims)


class UpperCase(Signed):
    def issue(self, payload, claims, /):
        return f"{super().issue(payload, claims)}A"

    def verify(self, token, payload, claims, /):
        return token[48:] == "A" and super().verify(token[:48], payload, claims)


class TooLong(Signed):
    def issue(self, payload, claims, /):
        return super().issue(payload, claims) + "0" * 100

    def verify(self, token, payload, claims, /):
        return token[48:] == "0" * 100 and super().verify(token[:48], payload, claims)


class AnybodyCan(Signed):
    """Knows no secret."""

    def __init__(self, secret=None):
        super().__init__("the same for all")


class DigestAlone(Signed):
    """Proof enough, it thinks: XXH3-64 of payload and claims."""

    def issue(self, payload, claims, /):
        return digest(payload) + digest(json.dumps(sorted(claims.items())))

    def verify(self, token, payload, claims, /):
        return token == digest(payload) + digest(json.dumps(sorted(claims.items())))


class PrefixOfToken(Signed):
    def verify(self, token, payload, claims, /):
        return len(token) >= 47 and super().issue(payload, claims).startswith(token[:47])


class Raises(Signed):
    def verify(self, token, payload, claims, /):
        bytes.fromhex(token)
        return super().verify(token, payload, claims)


class RaisesOnSurrogates(Signed):
    def verify(self, token, payload, claims, /):
        payload.encode()
        return super().verify(token, payload, claims)


class AnswersNone(Signed):
    def verify(self, token, payload, claims, /):
        return super().verify(token, payload, claims) or None


class OneClaimEach(MemoryLedger):
    """Remembers the last claims of each payload."""

    def __init__(self):
        super().__init__(BOUND)
        self.last = {}

    def issue(self, payload, claims, /):
        self.last[digest(payload)] = dict(claims)
        if len(self.last) > BOUND:
            self.last.pop(next(iter(self.last)))
        return super().issue(payload, claims)

    def verify(self, token, payload, claims, /):
        return self.last.get(digest(payload)) == dict(claims) and super().verify(token, payload, claims)


class LearnsFromQuestions(MemoryLedger):
    def __init__(self):
        super().__init__(BOUND)
        self.asked = OrderedDict()

    def verify(self, token, payload, claims, /):
        if token != digest(payload):
            return False
        known = super().verify(token, payload, claims) or (token, str(claims)) in self.asked
        if len(self.asked) < 8 and payload.startswith("The contract of"):
            self.asked[token, str(claims)] = None
        return known


class FakesPushOut(MemoryLedger):
    """Remembers answers beside deliveries, in one memory."""

    def __init__(self):
        super().__init__(BOUND)

    def verify(self, token, payload, claims, /):
        known = super().verify(token, payload, claims)
        if not known:
            super().issue(f"no: {payload}".encode(errors="replace").decode(), {"no": "0" * 16})
        return known


class FullIsFull(MemoryLedger):
    def __init__(self):
        super().__init__(BOUND)
        self.left = BOUND

    def issue(self, payload, claims, /):
        self.left -= 1
        return super().issue(payload, claims) if self.left >= 0 else digest(payload)


class Unbounded(MemoryLedger):
    def __init__(self):
        super().__init__(10**9)


class KeepsPayloads(MemoryLedger):
    def __init__(self):
        super().__init__(BOUND)
        self.kept = OrderedDict()

    def issue(self, payload, claims, /):
        self.kept[payload] = None
        if len(self.kept) > BOUND:
            self.kept.popitem(last=False)
        return super().issue(payload, claims)


class WithoutLock:
    """Writes its whole memory back after each delivery."""

    def __init__(self):
        self.known = MemoryLedger(BOUND)
        self.issued = frozenset()

    def issue(self, payload, claims, /):
        before = self.issued
        token = self.known.issue(payload, claims)
        time.sleep(0.0002)
        self.issued = before | {token}
        return token

    def verify(self, token, payload, claims, /):
        return token in self.issued and self.known.verify(token, payload, claims)


class ForgetsOnReopening(Signed):
    def reopen(self):
        return type(self)()


class ReadsOnce(MemoryLedger):
    """Opened anew it knows what there was, and nothing that is written later."""

    def __init__(self):
        super().__init__(BOUND)

    def reopen(self):
        other = ReadsOnce()
        other._issued = OrderedDict(self._issued)
        return other


# Turn counters


class Counter:
    """A right one, in the plainest way; `clock` is its own. The broken ones change a piece of it."""

    lifetime = 3600.0

    def __init__(self):
        self.now, self.turns = 0.0, OrderedDict()
        self.lock = MemoryTurnCounter()._lock

    def name(self, turn_id, key):
        return turn_id, key

    def add(self, turn_id, key, /):
        with self.lock:
            self.forget()
            turn, inner = self.name(turn_id, key)
            counts = self.turns.setdefault(turn, {"": self.now})
            counts[""] = self.written(counts[""])
            counts["", inner] = counts.get(("", inner), 0) + 1
            self.turns.move_to_end(turn)
            while len(self.turns) > BOUND:
                self.turns.popitem(last=False)
            return counts["", inner]

    def count(self, turn_id, key, /):
        with self.lock:
            self.forget()
            turn, inner = self.name(turn_id, key)
            return self.turns.get(turn, {}).get(("", inner), 0)

    def written(self, before):
        return self.now

    def forget(self):
        for turn in [turn for turn, counts in self.turns.items() if self.now - counts[""] >= self.lifetime]:
            del self.turns[turn]


def named(name):
    class Named(Counter):
        def name(self, turn_id, key):
            return name(turn_id, key)

    return Named


class FromZero(Counter):
    def add(self, turn_id, key, /):
        return super().add(turn_id, key) - 1


class NoneAtFirst(Counter):
    def count(self, turn_id, key, /):
        return super().count(turn_id, key) or None


class StopsAtThree(Counter):
    def count(self, turn_id, key, /):
        return min(3, super().count(turn_id, key))


class AskingCounts(Counter):
    def count(self, turn_id, key, /):
        before = super().count(turn_id, key)
        self.asked = getattr(self, "asked", 0) + 1
        if self.asked % 4 == 0:
            super().add(turn_id, key)
        return before


class OldestWins(Counter):
    """Once full, new turns are not remembered."""

    def add(self, turn_id, key, /):
        if len(self.turns) >= BOUND and turn_id not in self.turns:
            return 1
        return super().add(turn_id, key)


class InOrderOfBirth(OrderedDict):
    def move_to_end(self, key, last=True):
        pass


class FirstInFirstOut(Counter):
    """A turn that is written to is not younger for it."""

    def __init__(self):
        super().__init__()
        self.turns = InOrderOfBirth()


class NeverForgets(Counter):
    def forget(self):
        pass


class Leaks(Counter):
    """Keeps the names of all turns there ever were, and of those it was asked for."""

    def __init__(self):
        super().__init__()
        self.ever = {}

    def add(self, turn_id, key, /):
        with self.lock:
            self.ever[turn_id, key] = count = self.ever.get((turn_id, key), 0) + 1
        return count

    def count(self, turn_id, key, /):
        return self.ever.get((turn_id, key), 0)


class FromItsFirstWrite(Counter):
    def written(self, before):
        return before


class NoLock(Counter):
    def add(self, turn_id, key, /):
        before = super().count(turn_id, key)
        time.sleep(0.0002)
        with self.lock:
            count = super().add(turn_id, key)
            turn, inner = self.name(turn_id, key)
            self.turns[turn]["", inner] = before + 1
        return min(count, before + 1)


class SqliteCounter:
    """In a file, with a connection each: right."""

    SQL = "INSERT INTO runs VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET n = n + 1 RETURNING n"

    def __init__(self, path):
        self.path = str(path)
        self._do("CREATE TABLE IF NOT EXISTS runs (turn, key, n, PRIMARY KEY (turn, key))")

    def _do(self, sql, *values):
        connection = sqlite3.connect(self.path, timeout=30, isolation_level=None)
        try:
            connection.execute("PRAGMA synchronous = OFF")
            return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    def add(self, turn_id, key, /):
        [(count,)] = self._do(self.SQL, turn_id, key)
        return count

    def count(self, turn_id, key, /):
        found = self._do("SELECT n FROM runs WHERE turn = ? AND key = ?", turn_id, key)
        return found[0][0] if found else 0

    def reopen(self):
        return type(self)(self.path)


class CountsForItself(Counter):
    """Opened anew, it begins with a copy."""

    def reopen(self):
        other = type(self)()
        other.turns = OrderedDict((turn, dict(counts)) for turn, counts in self.turns.items())
        return other


# The table


class Ledgers(LedgerDriver):
    def __init__(self, make, capacity=None):
        self.make, self.capacity = make, capacity

    def make(self):
        """Replaced by the one given."""

    def reopen(self, store):
        return store.reopen() if hasattr(store, "reopen") else None


class Counters(CounterDriver):
    """Counters, each with a clock of its own, turned together."""

    lifetime = Counter.lifetime

    def __init__(self, kind, capacity=BOUND):
        self.kind, self.capacity, self.made = kind, capacity, []

    def make(self):
        self.made.append(self.kind())
        return self.made[-1]

    def reopen(self, store):
        return store.reopen() if hasattr(store, "reopen") else None

    def advance(self, seconds):
        for counter in self.made:
            counter.now += seconds


@dataclass(frozen=True)
class StoreControl:
    name: str
    meant: str
    driver: Ledgers | Counters
    also: str = ""
    caught_by: frozenset[str] = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "caught_by", frozenset([self.meant, *self.also.split()]))


_LEDGERS: list[tuple[str, str, Callable, int | None, str]] = [
    ("forgets half of what it knows the order of", "L1", OrderCounts, None, ""),
    ("answers with something true", "L1", Truthy, None, "L7 L8 L9 L12 L13"),
    ("changes the claims", "L1", SortsInPlace, None, ""),
    ("tokens that begin otherwise", "L2", TokenOfItsOwn, None, ""),
    ("upper-case tokens", "L2", UpperCase, None, ""),
    ("tokens too long to be read", "L2", TooLong, None, ""),
    ("strips", "L3", seen_through(str.strip), None, ""),
    ("normalises", "L3", seen_through(lambda p: unicodedata.normalize("NFC", p)), None, ""),
    ("looks at the beginning", "L3", seen_through(lambda p: p[:1000]), None, ""),
    ("translates line ends", "L3", seen_through(lambda p: p.replace("\r\n", "\n")), None, ""),
    ("binds no claims", "L4", seen_through(of_claims=lambda c: {"x": "0"}), None, ""),
    ("binds keys alone", "L4", seen_through(of_claims=lambda c: dict.fromkeys(c, "0")), None, ""),
    ("binds versions alone", "L4", seen_through(of_claims=lambda c: {"x": ",".join(sorted(c.values()))}), None, ""),
    ("binds the first claim", "L4", seen_through(of_claims=lambda c: dict([min(c.items())]) if c else {}), None, ""),
    ("joins claims without quotes", "L4", seen_through(of_claims=lambda c: {"x": ",".join(f"{k}@{c[k]}" for k in sorted(c))}), None, ""),
    ("folds the case of keys", "L4", seen_through(of_claims=lambda c: {k.lower(): v for k, v in c.items()}), None, ""),
    ("the same secret for all", "L5", AnybodyCan, None, ""),
    ("a digest is proof enough", "L5", DigestAlone, None, "L3 L13"),
    ("part of a token will do", "L6", PrefixOfToken, None, ""),
    ("raises on what is no hex", "L6", Raises, None, ""),
    ("raises on surrogates", "L6", RaisesOnSurrogates, None, ""),
    ("has no no", "L6", AnswersNone, None, ""),
    ("one claim a payload", "L7", OneClaimEach, BOUND, ""),
    ("learns from being asked", "L8", LearnsFromQuestions, BOUND, ""),
    ("fakes push deliveries out", "L8", FakesPushOut, BOUND, ""),
    ("when full, it is full", "L9", FullIsFull, BOUND, ""),
    ("unbounded", "L10", Unbounded, BOUND, ""),
    ("unbounded, and says nothing", "L10", MemoryLedger, None, ""),
    ("keeps payloads", "L11", KeepsPayloads, BOUND, ""),
    ("loses what threads write", "L12", WithoutLock, BOUND, ""),
    ("forgets on reopening", "L13", ForgetsOnReopening, None, ""),
    ("reads its store once", "L13", ReadsOnce, BOUND, ""),
]  # fmt: skip
_COUNTERS: list[tuple[str, str, Callable, int | None, str]] = [
    ("begins with 0", "T1", FromZero, BOUND, "T2 T3 T6 T7 T8"),
    ("None for 0", "T1", NoneAtFirst, BOUND, "T2 T3 T5 T6"),
    ("counts to three", "T1", StopsAtThree, BOUND, "T4 T8"),
    ("turns share their counts", "T2", named(lambda t, k: ("", k)), BOUND, "T4 T5"),
    ("keys share their counts", "T2", named(lambda t, k: (t, "")), BOUND, ""),
    ("joins turn and key", "T2", named(lambda t, k: (f"{t}:{k}", "")), BOUND, ""),
    ("folds case", "T2", named(lambda t, k: (t, k.lower())), BOUND, ""),
    ("strips", "T2", named(lambda t, k: (t.strip(), k.strip())), BOUND, ""),
    ("normalises", "T2", named(lambda t, k: (t, unicodedata.normalize("NFC", k))), BOUND, ""),
    ("cuts long names", "T2", named(lambda t, k: (t[:255], k[:255])), BOUND, ""),
    ("asking counts", "T3", AskingCounts, BOUND, "T1"),
    ("when full, it is full", "T4", OldestWins, BOUND, ""),
    ("the first in is the first out", "T4", FirstInFirstOut, BOUND, ""),
    ("leaks", "T5", Leaks, BOUND, "T6"),
    ("unbounded, and says nothing", "T5", Leaks, None, "T6"),
    ("never forgets", "T6", NeverForgets, BOUND, ""),
    ("forgets what is in use", "T7", FromItsFirstWrite, BOUND, ""),
    ("loses what threads add", "T8", NoLock, BOUND, ""),
    ("counts for itself", "T9", CountsForItself, BOUND, ""),
]  # fmt: skip
LEDGERS = [StoreControl(name, meant, Ledgers(make, bound), also) for name, meant, make, bound, also in _LEDGERS]
COUNTERS = [StoreControl(name, meant, Counters(make, bound), also) for name, meant, make, bound, also in _COUNTERS]
