from __future__ import annotations

import gc
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from gate_world import GOOD, GUESS, MAIL, call, delivered, key, target, world
from tooldialect.gate import GateError, MemoryTurnCounter, Reason


def test_runs_are_counted_per_turn_and_key():
    counter = MemoryTurnCounter()
    assert counter.count("t", "k") == 0
    assert [counter.add("t", "k"), counter.add("t", "k"), counter.add("t", "other"), counter.add("u", "k")] == [
        1,
        2,
        1,
        1,
    ]
    assert [counter.count("t", "k"), counter.count("t", "other"), counter.count("u", "k"), counter.count("u", "x")] == [
        2,
        1,
        1,
        0,
    ]


def test_the_turn_written_to_longest_ago_is_forgotten_first():
    counter = MemoryTurnCounter(max_turns=2)
    for turn in ("a", "b", "a", "c"):
        counter.add(turn, "k")
    assert [counter.count(turn, "k") for turn in "abc"] == [2, 0, 1]


def test_a_counter_without_room_is_refused():
    with pytest.raises(GateError, match="room"):
        MemoryTurnCounter(max_turns=0)


def test_no_thread_loses_a_count():
    counter = MemoryTurnCounter()
    start = threading.Barrier(8)

    def work(_):
        start.wait()
        for _ in range(500):
            counter.add("t", "k")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert counter.count("t", "k") == 4000


def fail(gate, parent, name="send"):
    """A sub-agent that is shown the contract and ends without calling again."""
    with gate.run(parent=parent) as run:
        return run.consult(call(name, GUESS)).reason


def test_the_fourth_run_of_a_turn_proceeds_after_three_that_failed_to():
    gate, _ = world({"send": MAIL, "other": MAIL})
    with gate.run() as parent:
        assert [fail(gate, parent) for _ in range(3)] == [Reason.CONTRACT_REQUIRED] * 3
        assert fail(gate, parent) is Reason.AUTO_PROCEED
        assert fail(gate, parent) is Reason.AUTO_PROCEED
        assert fail(gate, parent, "other") is Reason.CONTRACT_REQUIRED
    with gate.run() as another_turn:
        assert fail(gate, another_turn) is Reason.CONTRACT_REQUIRED


def test_a_run_that_was_collected_without_being_closed_counts():
    gate, _ = world()
    parent = gate.run()
    for _ in range(3):
        delivered(gate.run(parent=parent))
        gc.collect()
    assert fail(gate, parent) is Reason.AUTO_PROCEED


def test_a_closed_run_is_counted_once():
    gate, _ = world()
    parent = gate.run()
    for _ in range(2):
        with gate.run(parent=parent) as run:
            delivered(run)
        del run
        gc.collect()
    assert gate.counter.count(parent.turn_id, key("send")) == 2
    assert fail(gate, parent) is Reason.CONTRACT_REQUIRED


def test_runs_that_are_still_open_do_not_count():
    gate, _ = world()
    parent = gate.run()
    open_runs = [gate.run(parent=parent) for _ in range(10)]
    assert [run.consult(call("send", GUESS)).reason for run in open_runs] == [Reason.CONTRACT_REQUIRED] * 10
    assert fail(gate, parent) is Reason.CONTRACT_REQUIRED


@pytest.mark.parametrize("how", ["before", "after", "reported", "present", "switched off"])
def test_a_run_that_executed_does_not_count(how, monkeypatch):
    gate, _ = world()
    parent = gate.run()
    for _ in range(4):
        with gate.run(parent=parent) as run:
            if how == "before":
                assert run.consult(call("send", GOOD)).proceed
            message = delivered(run)
            if how == "after":
                assert run.consult(call("send", GOOD)).reason is Reason.ARGUMENTS_SATISFY
            elif how == "present":
                run.refresh([message])
                assert run.consult(call("send", GUESS)).reason is Reason.PRESENT
            elif how == "reported":
                run.report(target("send"), success=False)
            elif how == "switched off":
                with monkeypatch.context() as patch:
                    patch.setenv("TOOLDIALECT_CONTRACT_GATE", "0")
                    assert run.consult(call("send", GUESS)).reason is Reason.DISABLED
    assert gate.counter.count(parent.turn_id, key("send")) == 0


def test_a_run_that_was_delivered_to_itself_does_not_auto_proceed():
    gate, _ = world()
    parent = gate.run()
    waiting = gate.run(parent=parent)
    delivered(waiting)
    for _ in range(3):
        fail(gate, parent)
    assert waiting.consult(call("send", GUESS)).reason is Reason.SAME_BATCH
    waiting.refresh([])
    assert waiting.consult(call("send", GUESS)).reason is Reason.REDELIVERED


def test_turns_of_one_id_share_their_count_across_gates():
    counter = MemoryTurnCounter()
    for _ in range(3):
        gate, _ = world(counter=counter)
        with gate.run(turn_id="t") as run:
            delivered(run)
    assert world(counter=counter)[0].run(turn_id="t").consult(call("send", GUESS)).reason is Reason.AUTO_PROCEED
    assert world(counter=counter)[0].run(turn_id="u").consult(call("send", GUESS)).reason is Reason.CONTRACT_REQUIRED


class Broken:
    def add(self, turn_id, key):
        raise OSError("disk full")

    def count(self, turn_id, key):
        raise OSError("disk full")


class Nonsense(Broken):
    def add(self, turn_id, key):
        return None

    def count(self, turn_id, key):
        return None


@pytest.mark.parametrize("counter", [Broken(), Nonsense()])
def test_a_counter_that_fails_is_logged_and_counts_nothing(counter, caplog):
    gate, _ = world(counter=counter)
    with caplog.at_level(logging.WARNING, "tooldialect.gate"), gate.run() as parent:
        for _ in range(4):
            assert fail(gate, parent) is Reason.CONTRACT_REQUIRED
    assert caplog.records
    assert all(record.getMessage().startswith("[contract-gate]") for record in caplog.records)


def test_the_counter_is_not_asked_where_it_cannot_matter():
    asked = []

    class Watched(MemoryTurnCounter):
        def count(self, turn_id, key):
            asked.append(key)
            return super().count(turn_id, key)

    gate, _ = world(counter=Watched())
    run = gate.run()
    run.refresh([run.listing({target("send"): MAIL}, "find_tools").output])
    assert run.consult(call("send", GUESS)).reason is Reason.PRESENT
    assert asked == []
