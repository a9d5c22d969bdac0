"""The clauses of a host, proven on the reference harness and on broken variants of it."""

from __future__ import annotations

import pytest

import reference_host as hosts
from control_table import control_table
from tooldialect.conformance import HarnessConformance, clauses, run_harness

EVERYWHERE = [
    (dialect, wire)
    for dialect in ("native", "xml", "pformat")
    for wire in ("openai-chat", "anthropic", "plain-chat", "strict")
]


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


NATIVE, XML, STRICT, PFORMAT = (
    ("native", "openai-chat"),
    ("xml", "openai-chat"),
    ("xml", "strict"),
    ("pformat", "anthropic"),
)
# The broken host, where it is played, the clause meant for it, and those that promise the same elsewhere.
CONTROLS = [
    (hosts.Bannered, NATIVE, "H1", "H2 H3 H4 H12"),
    (hosts.CutsLongTexts, PFORMAT, "H1", ""),
    (hosts.WithoutGate, ("native", "anthropic"), "H1", "H2 H3 H4 H5 H6 H7 H9 H11 H12"),
    (hosts.FlagDropped, STRICT, "H2", "H3 H4"),
    (hosts.TurnsMerged, XML, "H2", "H3 H4"),
    (hosts.BatchesMerged, XML, "H2", "H4"),
    (hosts.LosesWhatStandsBeside, PFORMAT, "H2", ""),
    (hosts.CapNotExempt, NATIVE, "H3", ""),
    (hosts.CapNotExempt, STRICT, "H3", ""),
    (hosts.SavesNoFlags, STRICT, "H4", ""),
    (hosts.SavesTrimmed, ("pformat", "openai-chat"), "H4", ""),
    (hosts.RunsTwice, NATIVE, "H5", ""),
    (hosts.LosesTheResult, NATIVE, "H5", ""),
    (hosts.RescansTheAssistant, XML, "H6", ""),
    (hosts.SubAgentsAreTurns, XML, "H7", ""),
    (hosts.GivesUpOnSubAgents, NATIVE, "H7", ""),
    (hosts.NoBreaker, XML, "H8", ""),
    (hosts.SparesByPrefix, XML, "H8", ""),
    (hosts.SparesTheGatedTool, NATIVE, "H8", ""),
    (hosts.RescanFirst, NATIVE, "H9", ""),
    (hosts.BreakerCountsDeliveries, XML, "H10", ""),
    (hosts.GuardCountsDeliveries, XML, "H11", ""),
    (hosts.StrictGuardCountsDeliveries, NATIVE, "H11", ""),
    (hosts.NeverRescans, NATIVE, "H12", "H4"),
    (hosts.RunPerCall, XML, "H12", "H4 H7"),
]


@pytest.mark.parametrize(
    ("host", "where", "meant", "also"), CONTROLS, ids=lambda value: getattr(value, "__name__", None)
)
def test_a_broken_host_is_caught_by_its_clause_and_no_other(host, where, meant, also):
    assert failing(host, *where) == {meant, *also.split()}


def test_every_clause_of_a_host_has_a_control_and_the_table_is_complete(capsys):
    rows = [
        (f"{host.__name__} ({' over '.join(where)})", meant, {meant, *also.split()})
        for host, where, meant, also in CONTROLS
    ]
    with capsys.disabled():
        print("\n" + control_table("harness", rows))
    ids = {clause.id for clause in clauses("harness")}
    assert {meant for _, meant, _ in rows} == ids
    assert [name for name, _, caught_by in rows if not caught_by <= ids] == []


def test_the_report_names_the_first_hop_where_the_bytes_differ():
    banner = results(hosts.Bannered, "native", "openai-chat")["H1"]
    assert banner.detail == (
        "request 2: the delivery arrives changed: 8 characters stand before it, 0 behind; "
        "the first hop where it differs is Banner (8 characters stand before it, 0 behind)"
    )
    assert banner.got == f"[12:00] {banner.want}"
    cap = results(hosts.CapNotExempt, *STRICT)["H3"]
    assert cap.detail.startswith("with the context manager 'cleaner': request 3: the delivery arrives changed")
    assert "the first hop where it differs is TextRewriter" in cap.detail


def test_the_report_names_the_hop_that_drops_the_flag():
    dropped = results(hosts.FlagDropped, *STRICT)["H2"]
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
    assert set(raised) == {clause.id for clause in clauses("harness")}
    assert raised["H1"].detail.startswith("the host raised RuntimeError: no loop today (")


def test_a_context_manager_that_does_nothing_proves_nothing():
    class Idle(hosts.ReferenceHost):
        context_managers = ("cleaner", "idle")

        def middlewares(self, scene):
            scene.manager = None if scene.manager == "idle" else scene.manager
            return super().middlewares(scene)

    [found] = run_harness(lambda: Idle(*NATIVE), select_only=["H3"])
    assert found.detail == "with the context manager 'idle': it changed nothing, so nothing is known of it: let it act"


def test_a_host_that_never_ends_is_told():
    class Endless(hosts.ReferenceHost):
        def run_turn(self, scene):
            while True:
                scene.model({"messages": []})

    [found] = run_harness(Endless, select_only=["H5"])
    assert found.detail.startswith("the host asked the model 121 times in one turn")


def test_a_failure_that_is_expected_is_told_as_one():
    [found] = run_harness(lambda: hosts.NoBreaker(*XML), select_only=["H8"], expected_failures={"H8": "issue 7"})
    assert (found.status, found.detail[:9]) == ("expected_failure", "issue 7: ")


class TestReferenceHost(HarnessConformance):
    def make_driver(self):
        return hosts.ReferenceHost("pformat", "anthropic")
