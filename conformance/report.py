"""Results for people and for programs: a table, the counter-example with its bytes, JSON, JUnit."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from xml.etree import ElementTree as ET

from .clause import Clause
from .run import Result

_NAMES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
_AROUND = 24
_LONGEST = 2000


def suite_version() -> str:
    try:
        return version("tooldialect")
    except PackageNotFoundError:
        return "unknown"


def visible(text: str) -> str:
    """The text with every character that a terminal would swallow or obey written as an escape."""
    return "".join(
        _NAMES.get(c) or (c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}")
        for c in text
    )


def byte_diff(want: str, got: str) -> list[str]:
    """Where the UTF-8 bytes of two texts first differ, and what stands around that place."""
    wanted, given = want.encode(), got.encode()
    place = next(
        (n for n, (a, b) in enumerate(zip(wanted, given, strict=False)) if a != b), min(len(wanted), len(given))
    )
    shared = wanted[:place].decode(errors="ignore")
    lines = [f"first difference at byte {place} of {len(wanted)} wanted, {len(given)} got"]
    for label, whole in (("want", want), ("got", got)):
        before, after = shared[-_AROUND:], whole[len(shared) : len(shared) + 2 * _AROUND]
        cut = "…" if len(shared) > _AROUND else ""
        more = "…" if len(whole) > len(shared) + 2 * _AROUND else ""
        lines.append(f"{label:>5}: {cut}{visible(before)}⟦{visible(after)}⟧{more}")
    return lines


def explain(result: Result, clause: Clause[Any]) -> list[str]:
    """A failed clause in lines: what it promises, what broke, the input, the bytes."""
    lines = [f"{result.id}: {clause.promise}", f"prevents: {clause.prevents}", f"what happened: {result.detail}"]
    if result.example is not None:
        shown = visible(json.dumps(result.example, ensure_ascii=False)).replace("\\\\", "\\")
        lines.append(f"with: {shown[:_LONGEST]}{'…' if len(shown) > _LONGEST else ''}")
    if result.want is not None and result.got is not None:
        lines += byte_diff(result.want, result.got)
    elif result.got is not None:
        shown = visible(result.got)
        lines.append(f"got: {shown[:_LONGEST]}{'…' if len(shown) > _LONGEST else ''}")
    return lines


def as_document(target: str, results: Iterable[Result]) -> dict[str, Any]:
    """`{"suite": version, "target": …, "clauses": [{"id", "status", "detail", "example"}]}`; where
    texts differ also `want` and `got`."""
    return {
        "suite": suite_version(),
        "target": target,
        "clauses": [
            {
                "id": result.id,
                "status": result.status,
                "detail": result.detail,
                "example": result.example,
                **({"want": result.want} if result.want is not None else {}),
                **({"got": result.got} if result.got is not None else {}),
            }
            for result in results
        ],
    }


def as_junit(target: str, results: Sequence[Result], clauses: Mapping[str, Clause[Any]]) -> str:
    """One test case a clause; an expected failure counts as skipped, as JUnit knows no better."""
    counts = Counter(result.status for result in results)
    suite = ET.Element(
        "testsuite",
        name=_xml(target),
        tests=str(len(results)),
        failures=str(counts["fail"]),
        errors="0",
        skipped=str(counts["skip"] + counts["expected_failure"]),
    )
    for result in results:
        case = ET.SubElement(suite, "testcase", classname="tooldialect.conformance", name=result.id)
        if result.status == "fail":
            failure = ET.SubElement(case, "failure", message=_xml(result.detail))
            failure.text = _xml("\n".join(explain(result, clauses[result.id])))
        elif result.status != "pass":
            ET.SubElement(case, "skipped", message=_xml(result.detail))
    root = ET.Element("testsuites")
    root.append(suite)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    """What XML 1.0 can hold, the rest as escapes."""
    return "".join(c if c in "\n\t" or (c >= " " and c not in "\ufffe\uffff") else visible(c) for c in text)


def every_table() -> str:
    """The tables of all suites, each under its heading."""
    from .chapters import clauses
    from .harness import harness_clauses
    from .stores import counter_clauses, ledger_clauses

    parts = {
        "Clauses of a dialect": clauses(),
        "Clauses of a host": harness_clauses(),
        "Clauses of a ledger": ledger_clauses(),
        "Clauses of a turn counter": counter_clauses(),
    }
    return "\n".join(f"### {heading}\n\n{clause_table(found)}" for heading, found in parts.items())


def clause_table(clauses: Iterable[Clause[Any]]) -> str:
    """The clauses as a Markdown table."""
    lines = ["| id | promise | needs | prevents |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {clause.id} | {clause.promise} | {', '.join(clause.needs) or '-'} | {clause.prevents} |".replace(
            "`|`", "`\\|`"
        )
        for clause in clauses
    ]
    return "\n".join(lines) + "\n"
