"""Which clause catches which broken thing, for people: `X` the clause meant for it, `x` another that promises the
same elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tooldialect.conformance import clauses


def control_table(of, controls: Iterable[tuple[str, str, Collection[str]]]) -> str:
    """Clauses of `of` by `(name, meant, caught_by)` of each control."""
    ids = [clause.id for clause in clauses(of)]
    rows = [
        (name, ["X" if id == meant else "x" if id in caught_by else "." for id in ids])
        for name, meant, caught_by in controls
    ]
    wide = max(len(name) for name, _ in rows)
    return "\n".join(
        f"{name:{wide}} {' '.join(f'{mark:{len(id)}}' for mark, id in zip(marks, ids, strict=True))}".rstrip()
        for name, marks in [(f"clause of a {of}", ids), *rows]
    )
