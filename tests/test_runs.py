from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from gate_world import GOOD, GUESS, MAIL, PROXY, call, delivered, key, target, world
from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    OpenAIChatWire,
    ParsedToolCall,
    ToolCall,
    ToolSpec,
    get_dialect,
)
from tooldialect.gate import (
    Contract,
    ContractGate,
    Found,
    GateError,
    GateTarget,
    Reason,
    StaticSource,
    Surface,
    Unavailable,
)
from tooldialect.gate.current import _here
from tooldialect.gate.decision import KeyFacts, before_lookup


class Gathering:
    """A source that answers nobody before `expected` lookups have arrived."""

    def __init__(self, expected):
        self.expected = expected
        self.arrived = 0
        self.everybody = asyncio.Event()

    async def lookup(self, aim):
        self.arrived += 1
        if self.arrived == self.expected:
            self.everybody.set()
        await self.everybody.wait()
        return Found(MAIL)


def test_concurrent_consults_of_one_key_in_a_task_group_give_one_delivery():
    async def main():
        gate = ContractGate([Surface.mcp(Gathering(6))])
        async with gate.run() as run, asyncio.TaskGroup() as group:
            run.refresh([])
            tasks = [group.create_task(gate.aconsult(call("send", GUESS))) for _ in range(6)]
        return [task.result().reason for task in tasks]

    reasons = asyncio.run(main())
    assert sorted(reasons) == [Reason.CONTRACT_REQUIRED] + [Reason.SAME_BATCH] * 5


def test_concurrent_consults_of_many_keys_give_one_delivery_each():
    async def main():
        gate = ContractGate([Surface.mcp(Gathering(9))])
        async with gate.run() as run, asyncio.TaskGroup() as group:
            tasks = [group.create_task(run.aconsult(call(name, GUESS))) for name in "abc" * 3]
        return [task.result() for task in tasks]

    decisions = asyncio.run(main())
    assert sum(decision.reason is Reason.CONTRACT_REQUIRED for decision in decisions) == 3
    assert not any(decision.proceed for decision in decisions[:3])


def test_concurrent_consults_in_threads_give_one_delivery():
    start = threading.Barrier(8)

    class Crowded:
        def lookup(self, aim):
            start.wait(10)
            return Found(MAIL)

    gate = ContractGate([Surface.mcp(Crowded())])
    with gate.run() as run, ThreadPoolExecutor(8) as pool:
        decisions = list(pool.map(lambda _: run.consult(call("send", GUESS)), range(8)))
    # Never rescanned: three notices, then the gate steps aside.
    reasons = sorted(decision.reason for decision in decisions)
    assert reasons.count(Reason.CONTRACT_REQUIRED) == 1
    assert reasons.count(Reason.SAME_BATCH) == 3
    assert reasons.count(Reason.UNSEEN) == 4


def test_the_current_run_of_tasks_is_that_of_their_parent_unless_they_open_one():
    gate, _ = world()

    async def sub_agent():
        async with gate.run() as run:
            await asyncio.sleep(0)
            assert (await gate.aconsult(call("send", GUESS))).message
            return run.turn_id, len(run.carry())

    async def main():
        async with gate.run() as parent:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(sub_agent()) for _ in range(3)]
            assert {task.result() for task in tasks} == {(parent.turn_id, 1)}
            return await gate.aconsult(call("send", GUESS))

    assert asyncio.run(main()).reason is Reason.AUTO_PROCEED


def test_users_served_at_once_are_turns_of_their_own():
    gate, _ = world()

    async def user():
        async with gate.run() as run:
            await asyncio.sleep(0)
            return run.turn_id

    async def main():
        return await asyncio.gather(*(user() for _ in range(5)))

    assert len(set(asyncio.run(main()))) == 5


def test_nested_runs_are_children_of_the_innermost():
    gate, _ = world()
    with gate.run() as outer:
        with gate.run() as child:
            with gate.run() as grandchild:
                assert outer.turn_id == child.turn_id == grandchild.turn_id
                delivered(gate_consults := grandchild)
                assert gate.consult(call("send", GUESS)).reason is Reason.SAME_BATCH
            assert gate_consults.ended
            assert gate.consult(call("send", GUESS)).reason is Reason.CONTRACT_REQUIRED
        assert gate.consult(call("send", GUESS)).reason is Reason.CONTRACT_REQUIRED
    assert gate.run().turn_id != outer.turn_id


def test_runs_of_two_gates_do_not_meet():
    one, _ = world()
    other, _ = world()
    with one.run() as outer, other.run() as inner, one.run() as child:
        assert child.turn_id == outer.turn_id != inner.turn_id
        with pytest.raises(GateError, match="another gate"):
            other.run(parent=outer)
        assert other.consult(call("send", GUESS)).message


def test_a_thread_does_not_inherit_the_run_and_says_so():
    gate, _ = world()
    with gate.run() as run, ThreadPoolExecutor(1) as pool:
        with pytest.raises(GateError, match="no run of this gate is open"):
            pool.submit(gate.consult, call("send", GUESS)).result()
        assert pool.submit(lambda: gate.run(parent=run).turn_id).result() == run.turn_id
        assert pool.submit(lambda: gate.run().turn_id).result() != run.turn_id
        assert pool.submit(contextvars.copy_context().run, gate.consult, call("send", GUESS)).result().message


def test_consulting_the_gate_outside_a_run_is_an_error_that_says_so():
    gate, _ = world()
    for consult in (lambda: gate.consult(call("send")), lambda: asyncio.run(gate.aconsult(call("send")))):
        with pytest.raises(GateError, match="no run of this gate is open"):
            consult()
    with gate.run():
        pass
    with pytest.raises(GateError, match="no run of this gate is open"):
        gate.consult(call("send"))


def test_a_run_that_has_ended_answers_no_more():
    gate, _ = world()
    with gate.run() as run:
        pass
    assert run.ended
    with pytest.raises(GateError, match="has ended"):
        run.consult(call("send", GUESS))
    with pytest.raises(GateError, match="has ended"):
        asyncio.run(run.aconsult(call("send", GUESS)))


def test_a_run_is_entered_once():
    gate, _ = world()
    run = gate.run()
    with run, pytest.raises(GateError, match="entered once"), run:
        pass
    with pytest.raises(GateError, match="entered once"), run:
        pass


def test_leaving_a_run_twice_does_no_harm():
    gate, _ = world()
    with gate.run() as outer:
        run = gate.run()
        run.__enter__()
        run.__exit__(None, None, None)
        run.__exit__(None, None, None)
        assert gate.run().turn_id == outer.turn_id


def test_a_run_that_is_only_held_need_not_be_entered():
    gate, _ = world()
    run = gate.run()
    assert run.refresh([delivered(run)]) == {key("send")}
    assert run.consult(call("send", GUESS)).reason is Reason.PRESENT


def test_a_run_is_left_when_its_block_raises():
    gate, _ = world()
    with pytest.raises(RuntimeError), gate.run() as run:
        raise RuntimeError
    assert run.ended


async def streaming(gate):
    with gate.run() as run:
        while True:
            yield run


def test_an_async_generator_may_be_closed_in_another_context():
    gate, _ = world()

    async def main():
        stream = streaming(gate)
        run = await anext(stream)
        assert (await gate.aconsult(call("send", GUESS))).message
        await asyncio.create_task(stream.aclose())  # a task has a context of its own
        assert run.ended
        with pytest.raises(GateError, match="no run of this gate is open"):
            await gate.aconsult(call("send", GUESS))
        # The context is usable: the run that was left elsewhere is nobody's parent.
        with gate.run() as fresh:
            assert fresh.turn_id != run.turn_id

    asyncio.run(main())


def test_runs_left_elsewhere_do_not_pile_up_in_a_context():
    gate, _ = world()

    def depth():
        place, count = _here.get(), 0
        while place is not None:
            place, count = place.before, count + 1
        return count

    async def main():
        with gate.run():
            for _ in range(20):
                stream = streaming(gate)
                await anext(stream)
                await asyncio.create_task(stream.aclose())
            assert depth() <= 2

    asyncio.run(main())


def test_an_abandoned_async_generator_ends_its_run():
    gate, _ = world()

    async def main():
        stream = streaming(gate)
        run = await anext(stream)
        del stream
        gc.collect()
        await asyncio.sleep(0)
        return run

    assert asyncio.run(main()).ended


def test_a_turn_is_started_and_joined_by_its_id():
    gate, _ = world()
    with gate.run() as outer:
        with gate.run(turn_id="t") as one:
            assert one.turn_id == "t" != outer.turn_id
            delivered(one)
        with gate.run(turn_id="t") as two:
            assert len(two.carry()) == 1
        assert outer.carry() == []
    with ThreadPoolExecutor(1) as pool:
        assert len(pool.submit(lambda: gate.run(turn_id="t").carry()).result()) == 1


def test_a_turn_id_with_a_parent_or_a_blank_one_is_an_error():
    gate, _ = world()
    with pytest.raises(GateError, match="not both"):
        gate.run(parent=gate.run(), turn_id="t")
    with pytest.raises(GateError, match="blank"):
        gate.run(turn_id=" ")


def test_a_run_joins_the_turn_of_a_parent_that_has_ended():
    gate, _ = world()
    with gate.run() as parent:
        delivered(parent)
    assert len(gate.run(parent=parent).carry()) == 1


def test_turns_named_long_ago_are_forgotten():
    gate, _ = world()
    delivered(gate.run(turn_id="first"))
    for number in range(300):
        gate.run(turn_id=str(number))
    assert gate.run(turn_id="first").carry() == []


TOOLS = [ToolSpec(name=PROXY, description="Call a late-bound tool")]


@pytest.mark.parametrize("name", ["native", "xml", "pformat"])
def test_encode_renders_and_rescans(name):
    gate, _ = world()
    dialect, wire = get_dialect(name, TOOLS), OpenAIChatWire()
    with gate.run() as run:
        raw = '{"server_id":"srv","tool_name":"send"}'
        turn = AssistantTurn(text="I try", tool_calls=(ToolCall(id="c1", name=PROXY, arguments=raw),))
        outcome = run.consult(call("send")).outcome(PROXY, "c1")
        history = [ChatMessage(role="user", content="Send it"), turn, *dialect.format_results([outcome])]
        request = run.encode(iter(history), dialect, wire, TOOLS)
        assert run.present == {key("send")}
        assert ("tools" in request) == (name == "native")
        assert list(wire.host_texts(request)).count(outcome.output) == 1
        run.encode(history[:1], dialect, wire, TOOLS)
        assert run.present == set()
        assert asyncio.run(run.aencode(history, dialect, wire, TOOLS)) == request
        assert run.present == {key("send")}
        assert asyncio.run(run.arefresh([])) == set()


def test_what_the_model_quotes_is_not_in_context():
    gate, _ = world()
    with gate.run() as run:
        text = delivered(run)
        history = [ChatMessage(role="assistant", content=text), ChatMessage(role="system", content=text)]
        run.encode(history, get_dialect("xml"), OpenAIChatWire())
        assert run.present == set()


def test_present_leaves_out_versions_known_to_be_out_of_date():
    gate, source = world({"send": MAIL, "other": MAIL})
    with gate.run() as run:
        run.refresh([delivered(run, "send"), delivered(run, "other")])
        source[target("send")] = Contract(input_schema={})
        assert run.present == {key("other")}
        del source[target("other")]
        assert run.present == {key("other")}  # what the gate looked up last


def test_present_asks_every_surface_of_the_kind():
    aim = GateTarget.composio("SEND")
    source = StaticSource({aim: MAIL})
    gate = ContractGate([Surface.composio(StaticSource()), Surface.composio_actions(source, str.isupper)])
    with gate.run() as run:
        text = run.consult(ParsedToolCall(name="SEND", arguments=GUESS)).message
        assert run.refresh([text]) == {aim.key}
        source[aim] = Contract(input_schema={})
        assert run.present == set()


def test_a_gate_switched_off_while_the_source_is_asked_stands_aside(monkeypatch):
    class Switching:
        immediate = True

        def lookup(self, aim):
            monkeypatch.setenv("TOOLDIALECT_CONTRACT_GATE", "off")
            return Found(MAIL)

    with ContractGate([Surface.mcp(Switching())]).run() as run:
        decision = run.consult(call("send", GUESS))
    assert (decision.proceed, decision.reason, decision.arguments) == (True, Reason.DISABLED, GUESS)


def test_three_notices_are_given_in_a_run_that_is_never_rescanned(caplog):
    gate, _ = world()
    with gate.run() as run, caplog.at_level("WARNING", "tooldialect.gate"):
        reasons = [run.consult(call("send", GUESS)).reason for _ in range(6)]
    assert [key("send") in record.getMessage() for record in caplog.records] == [True, True]
    assert reasons == [Reason.CONTRACT_REQUIRED, *[Reason.SAME_BATCH] * 3, *[Reason.UNSEEN] * 2]


def test_no_number_of_repetitions_in_one_batch_executes_a_guess_in_a_run_that_is_rescanned():
    gate, _ = world()
    with gate.run() as run:
        run.refresh([])
        reasons = [run.consult(call("send", GUESS)).reason for _ in range(20)]
    assert reasons == [Reason.CONTRACT_REQUIRED, *[Reason.SAME_BATCH] * 19]


def test_a_good_call_beside_a_delivery_runs():
    gate, _ = world()
    with gate.run() as run:
        run.refresh([])
        delivered(run)
        assert run.consult(call("send", GOOD)).reason is Reason.ARGUMENTS_SATISFY


def test_a_contract_that_is_read_and_lost_again_is_delivered_six_times_at_most():
    gate, _ = world()
    reasons = []
    with gate.run() as run:
        for _ in range(8):
            decision = run.consult(call("send", GUESS))
            reasons.append(decision.reason)
            run.refresh([decision.message] if decision.message else [])
            run.refresh([])
    assert reasons == [Reason.CONTRACT_REQUIRED, *[Reason.REDELIVERED] * 5, *[Reason.UNSEEN] * 2]


def test_a_source_that_fails_beside_a_delivery_does_not_let_the_guess_run():
    class Tiring:
        immediate = True
        answers = iter([Found(MAIL), Unavailable("closed"), Unavailable("closed")])

        def lookup(self, aim):
            return next(self.answers)

    with ContractGate([Surface.mcp(Tiring())]).run() as run:
        run.refresh([])
        reasons = [run.consult(call("send", GUESS)).reason for _ in range(2)]
        run.refresh([])
        reasons.append(run.consult(call("send", GUESS)).reason)
    assert reasons == [Reason.CONTRACT_REQUIRED, Reason.SAME_BATCH, Reason.NO_CONTRACT]


def test_what_ended_runs_did_does_not_matter_to_a_run_that_was_delivered_to():
    assert before_lookup(KeyFacts(), ended_runs=3) is Reason.AUTO_PROCEED
    assert before_lookup(KeyFacts(deliveries=1), ended_runs=3) is None


@pytest.mark.parametrize("rows", [[{"role": "user"}], [None], [b"x"], ["text", 3]])
def test_a_rescan_of_what_is_no_text_says_what_to_pass(rows):
    run = ContractGate([]).run()
    with pytest.raises(TypeError, match=r"wire.host_texts\(request\)"):
        run.refresh(rows)


def test_a_delivery_is_recognised_by_its_text_alone():
    with pytest.raises(TypeError, match="pass the content"):
        ContractGate([]).is_contract_delivery(ChatMessage(role="user", content="x"))
