"""What a checker found, and which rules had anything to say about what it was shown."""

from __future__ import annotations

import json
from collections import Counter

EXERCISED: Counter[str] = Counter()


class Sheet:
    """The findings of one checker about one request; iterates as `(rule, what)`, one a fault."""

    def __init__(self):
        self._faults = []
        self._applied = Counter()

    def must(self, rule, holds, what=None):
        self._applied[rule] += 1
        if not holds:
            self._faults.append((rule, what))

    def __iter__(self):
        return iter(self._faults)

    def count(self):
        """For generated requests: what was exercised is printed when the run ends."""
        EXERCISED.update(self._applied)
        return self


def summary():
    """Each rule and how often it applied, a line a provider."""
    by_provider = {}
    for rule, times in sorted(EXERCISED.items()):
        by_provider.setdefault(rule.partition("-")[0], []).append(f"{rule} {times}")
    return [", ".join(told) for told in by_provider.values()]


def is_utf8_json(request, arguments=()):
    """Whether the body is JSON that UTF-8 can carry, argument texts without escapes of lone surrogates too."""
    try:
        json.dumps(request, ensure_ascii=False, allow_nan=False).encode()
        for text in arguments:
            json.dumps(json.loads(text), ensure_ascii=False).encode()
    except (UnicodeEncodeError, ValueError):
        return False
    return True
