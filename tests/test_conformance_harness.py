"""The clauses of a host, proven on the reference harness and on broken variants of it."""

from __future__ import annotations

import pytest

import reference_host as hosts
from tooldialect.conformance import HarnessConformance, harness_clauses, run_harness

EVERYWHERE = [
    (dialect, wire)
    for dialect in ("native", "xml", "pformat")
    for wire in ("openai-chat", "anthropic", "plain-chat", "strict")
]
XML = ("xml", "strict")


def results(host, *where):
    return {result.id: result for result in run_harness(lambda: host(*where))}


def failing(host, *where):
    return {id for id, result in results(host, *where).items() if result.status == "fail"}


@pytest.mark.parametrize("where", EVERYWHERE, ids=" over ".join)
def test_the_reference_harness_keeps_every_clause(where):
    assert [
        (r.id, r.status, r.detail) for r in results(hosts.ReferenceHost, *where).values() if r.status != "pass"
    ] == []


@pytest.mark.parametrize("where", [("native", "anthropic"), ("xml", "openai-chat")], ids=" over ".join)
def test_an_async_host_with_its_model_behind_a_url_keeps_them_too(where):
    assert [(r.id, r.detail) for r in results(hosts.AsyncHost, *where).values() if r.status != "pass"] == []


@pytest.mark.parametrize(
    ("host", "where", "caught"),
    [
        (hosts.FlagDropped, XML, {"H2", "H3", "H4"}),
        (hosts.TurnsMerged, ("xml", "openai-chat"), {"H2", "H3", "H4"}),
        (hosts.BatchesMerged, ("xml", "openai-chat"), {"H2", "H4"}),
        (hosts.Bannered, ("native", "openai-chat"), {"H1", "H2", "H3", "H4"}),
        (hosts.CapNotExempt, ("native", "openai-chat"), {"H3"}),
        (hosts.CapNotExempt, XML, {"H3"}),
        (hosts.RescanFirst, ("native", "openai-chat"), {"H9"}),
        (hosts.BreakerCountsDeliveries, ("xml", "openai-chat"), {"H8"}),
        (hosts.NoBreaker, ("xml", "openai-chat"), {"H8"}),
        (hosts.WithoutGate, ("native", "anthropic"), {"H1", "H2", "H3", "H4", "H5", "H6", "H8", "H9"}),
        (hosts.SavesNoFlags, XML, {"H4"}),
        (hosts.SavesTrimmed, ("pformat", "openai-chat"), {"H4"}),
        (hosts.SubAgentsAreTurns, ("xml", "openai-chat"), {"H7"}),
        (hosts.RescansTheAssistant, ("xml", "openai-chat"), {"H6"}),
        (hosts.RunsTwice, ("native", "openai-chat"), {"H4", "H5", "H8"}),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else None,
)
def test_a_broken_host_is_caught(host, where, caught):
    assert failing(host, *where) == caught


def test_the_report_names_the_first_hop_where_the_bytes_differ():
    banner = results(hosts.Bannered, "native", "openai-chat")["H1"]
    assert banner.detail == "request 2: the delivery arrives changed; the first hop where it differs is Banner"
    assert banner.got == f"[12:00] {banner.want}"
    cap = results(hosts.CapNotExempt, *XML)["H3"]
    assert cap.detail.startswith("with the context manager 'cleaner': request 2: the delivery arrives changed")
    assert "the first hop where it differs is TextRewriter" in cap.detail


def test_the_report_names_the_hop_that_drops_the_flag():
    dropped = results(hosts.FlagDropped, *XML)["H2"]
    assert "DropFlags (the bytes are the same, the flag trusted_verbatim is gone)" in dropped.detail


def test_without_hops_the_request_alone_is_told():
    class Silent(hosts.Bannered):
        hops = False

    assert results(Silent, "native", "openai-chat")["H1"].detail.endswith("the driver tells no hops")


def test_what_the_host_does_without_is_skipped_with_the_reason():
    class Plain(hosts.ReferenceHost):
        offers = frozenset()
        context_managers = ()

    skipped = {id: r.detail for id, r in results(Plain).items() if r.status == "skip"}
    assert set(skipped) == {"H3", "H4", "H7", "H8", "H9"}
    assert skipped["H7"] == "needs sub-agents"


def test_a_host_that_raises_fails_and_does_not_end_the_run():
    class Raises(hosts.ReferenceHost):
        def run_turn(self, scene):
            raise RuntimeError("no loop today")

    raised = results(Raises)
    assert set(raised) == {clause.id for clause in harness_clauses()}
    assert raised["H1"].detail == "the host raised RuntimeError: no loop today"


class TestReferenceHost(HarnessConformance):
    def make_driver(self):
        return hosts.ReferenceHost("pformat", "anthropic")
