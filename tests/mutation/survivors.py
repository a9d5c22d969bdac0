"""What a session of cosmic-ray left alive: `python tests/mutation/survivors.py SESSION.sqlite`."""

from __future__ import annotations

import sqlite3
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS = """
    SELECT spec.module_path, spec.start_pos_row, spec.start_pos_col, spec.operator_name, result.test_outcome
    FROM mutation_specs AS spec JOIN work_results AS result ON result.job_id = spec.job_id
    WHERE result.test_outcome IS NOT NULL ORDER BY 1, 2, 3, 4
"""


def main() -> None:
    rows = sqlite3.connect(sys.argv[1]).execute(ROWS).fetchall()
    counts = Counter((module, outcome) for module, *_, outcome in rows)
    for (module, outcome), number in sorted(counts.items()):
        print(f"{module} {outcome.lower()} {number}")
    for module, row, column, operator, outcome in rows:
        if outcome == "SURVIVED":
            line = (ROOT / module).read_text(encoding="utf-8").splitlines()[row - 1].strip()
            print(f"{module}:{row}:{column} {operator.removeprefix('core/')}: {line}")


if __name__ == "__main__":
    main()
