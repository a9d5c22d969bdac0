"""The verdict on one mutant: exit 1 as soon as a clause fails on one of the three dialects, 0 if all hold.

Only the suite judges; no test of the project runs. Stops at the first failure.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / ".dev")]


def main() -> int:
    from builtin_dialects import TARGETS
    from tooldialect.conformance import Profile, run

    profile = Profile("mutation", examples=5, megabyte=1 << 16, shrink=False)
    for name, target in TARGETS.items():
        for result in run(target, profile=profile):
            if result.status == "fail":
                print(f"{name}: {result.id} {result.detail}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
