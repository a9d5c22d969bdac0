"""Hypothesis: no deadlines (a loaded machine is no bug), and in CI the same examples every time."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

from rule_sheet import EXERCISED, summary

settings.register_profile("local", deadline=None)
settings.register_profile(
    "ci", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_terminal_summary(terminalreporter):
    """Which rules of the providers the generated transcripts had anything to do with."""
    if EXERCISED:
        terminalreporter.section("rules of providers exercised by generated transcripts")
        for line in summary():
            terminalreporter.write_line(line)
