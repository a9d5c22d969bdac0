"""The scenes: what the model does, and what must be true outside of the library afterwards."""

from __future__ import annotations

from collections.abc import Generator

from tooldialect.gate import Reason

from .contexts import collapse_white_space, rewriting, summarising
from .model import Call, Received, Script, Turn
from .stage import Scene, Stage
from .tools import DELEGATE, SAVE_NOTE

Steps = Generator[Turn, Received, None]
COMMIT = "mcp:git:git_commit"
NOW = "mcp:time:get_current_time"


def commit(stage: Stage, message: str) -> Script:
    """Guesses, reads the contract if one comes, commits as it says."""

    def script(received: Received) -> Steps:
        known = {"repo": str(stage.repository.path), "message": message}
        received = yield Turn("I commit it.", (stage.mcp("git", "git_commit", known),))
        arguments = received.fitted(COMMIT, known)
        yield Turn("Now as the contract says.", (stage.mcp("git", "git_commit", arguments),))
        yield Turn("Committed.")

    return script


async def guess(stage: Stage) -> None:
    model = stage.model(commit(stage, "Add notes"))
    await stage.host.user_turn("Commit what is staged, as 'Add notes'.", model)
    stage.check_decisions(Reason.CONTRACT_REQUIRED, Reason.PRESENT)
    stage.check_delivered(model.received[-1])
    stage.check_executed(git_commit=1)
    stage.check_commits("Add notes")
    head = stage.repository.head()
    stage.check("the server's own answer reached the model", True, head in model.received[-1].rows[-1])


async def batch(stage: Stage) -> None:
    def script(received: Received) -> Steps:
        known = {"repo": str(stage.repository.path), "message": "Add notes"}
        status = stage.mcp("git", "git_status", {"repo_path": str(stage.repository.path)})
        now = stage.mcp("time", "get_current_time", {"timezone": "Europe/Berlin"})
        received = yield Turn("Three at once.", (status, stage.mcp("git", "git_commit", known), now))
        yield Turn("Once more.", (stage.mcp("git", "git_commit", received.fitted(COMMIT, known)),))
        yield Turn("Committed.")

    model = stage.model(script)
    await stage.host.user_turn("Look at the state and at the clock, and commit as 'Add notes'.", model)
    first, second, third = model.received[1].rows[-3:]
    stage.check("the first result says what git says", True, "On branch main" in first and "notes.md" in first)
    stage.check("the middle one is the delivery, alone", [second], model.received[1].deliveries)
    stage.check("the third is the time in Berlin", True, "Europe/Berlin" in third and "git" not in third)
    stage.check_delivered(model.received[1])
    stage.check_decisions(Reason.CONTRACT_REQUIRED, Reason.PRESENT, key=COMMIT)
    stage.check_decisions(Reason.ARGUMENTS_SATISFY, key="mcp:git:git_status")
    stage.check_decisions(Reason.ARGUMENTS_SATISFY, key=NOW)
    stage.check_executed(git_status=1, get_current_time=1, git_commit=1)
    stage.check_commits("Add notes")


async def fits(stage: Stage) -> None:
    def script(_received: Received) -> Steps:
        yield Turn("I ask.", (stage.mcp("time", "get_current_time", {"timezone": "Asia/Tokyo"}),))
        yield Turn("That late.")

    model = stage.model(script)
    await stage.host.user_turn("What time is it in Tokyo?", model)
    stage.check_decisions(Reason.ARGUMENTS_SATISFY)
    stage.check_executed(get_current_time=1)
    stage.check("no contract was sent", [], model.received[-1].deliveries)
    stage.check("the time came back", True, "Asia/Tokyo" in model.received[-1].rows[-1])


async def unread(stage: Stage) -> None:
    def script(received: Received) -> Steps:
        yield Turn("I ask.", (stage.mcp("time", "get_current_time", {"timezone": "Berlin"}),))
        received = yield Turn("Again.", (stage.mcp("time", "get_current_time", {"timezone": "berlin"}),))
        contract = received.contract(NOW) or {}
        says_iana = "IANA" in str(contract)
        place = "Europe/Berlin" if says_iana else "Berlin, Germany"
        yield Turn("An IANA name, then.", (stage.mcp("time", "get_current_time", {"timezone": place}),))
        yield Turn("Now I know.")

    model = stage.model(script)
    await stage.host.user_turn("What time is it in Berlin?", model)
    stage.check_decisions(Reason.ARGUMENTS_SATISFY, Reason.AFTER_FAILURE, Reason.PRESENT)
    stage.check("the first call ran and brought no time", False, '"datetime"' in model.received[1].rows[-1])
    stage.check_delivered(model.received[-1])
    stage.check_executed(get_current_time=2)
    stage.check("the last one brought it", True, '"datetime"' in model.received[-1].rows[-1])


async def compaction(stage: Stage) -> None:
    def script(received: Received) -> Steps:
        yield from commit_once("Add notes", received)
        stage.repository.stage("more.md", "- sell milk\n")
        yield from commit_once("Add more", received)
        yield Turn("Both are in.")

    def commit_once(message: str, received: Received) -> Steps:
        known = {"repo": str(stage.repository.path), "message": message}
        received = yield Turn("I commit it.", (stage.mcp("git", "git_commit", known),))
        arguments = received.fitted(COMMIT, known)
        yield Turn("Now as the contract says.", (stage.mcp("git", "git_commit", arguments),))

    stage.host.context = summarising(longest=5)
    model = stage.model(script)
    await stage.host.user_turn("Commit what is staged, then write more.md and commit that.", model)
    stage.check_decisions(Reason.CONTRACT_REQUIRED, Reason.PRESENT, Reason.REDELIVERED, Reason.PRESENT)
    contracts = [len(received.deliveries) for received in model.received]
    stage.check("the contract was in context, dropped, and in context again", [0, 1, 0, 1, 0], contracts)
    stage.check_executed(git_commit=2)
    stage.check_commits("Add notes", "Add more")


async def deferred(stage: Stage) -> None:
    def script(received: Received) -> Steps:
        known = {"file": "idea.md", "body": "a <b>bold</b> | plan]"}
        received = yield Turn("I note it.", (Call(SAVE_NOTE.name, known),))
        yield Turn("As the schema says.", (Call(SAVE_NOTE.name, received.fitted("tool:save_note", known)),))
        yield Turn("Noted.")

    model = stage.model(script)
    await stage.host.user_turn("Note the plan.", model)
    stage.check_decisions(Reason.CONTRACT_REQUIRED, Reason.PRESENT)
    stage.check_delivered(model.received[-1])
    note = stage.repository.path / "idea.md"
    stage.check("the note was written", "a <b>bold</b> | plan]", note.read_text(encoding="utf-8"))
    stage.check_executed()


async def rewriter(stage: Stage) -> None:
    def stubborn(received: Received) -> Steps:
        known = {"repo": str(stage.repository.path), "message": "Add notes"}
        yield Turn("I commit it.", (stage.mcp("git", "git_commit", known),))
        received = yield Turn("It must work.", (stage.mcp("git", "git_commit", known),))
        arguments = received.fitted(COMMIT, known)
        yield Turn("As the contract says.", (stage.mcp("git", "git_commit", arguments),))
        yield Turn("Committed.")

    bare = stage.host
    bare.context = rewriting(collapse_white_space)
    model = stage.model(stubborn)
    await bare.user_turn("Commit what is staged, as 'Add notes'.", model)
    verdicts = [str(sighting.verdict) for sighting in bare.gate.explain(model.received[-1].rows)]
    stage.check("unguarded, the gate sees that its deliveries were rewritten", ["REWRITTEN", "REWRITTEN"], verdicts)
    stage.check_decisions(Reason.CONTRACT_REQUIRED, Reason.REDELIVERED, Reason.UNSEEN)

    stage.repository.stage("more.md", "- sell milk\n")
    guarded = stage.host = stage.new_host()
    guarded.context = rewriting(guarded.gate.exempt(collapse_white_space))
    model = stage.model(commit(stage, "Add more"))
    await guarded.user_turn("Commit what is   staged, as 'Add more'.", model)
    stage.check(
        "with exempt, other texts are still rewritten",
        "Commit what is staged, as 'Add more'.",
        model.received[-1].rows[0],
    )
    stage.check_delivered(model.received[-1])
    stage.check_decisions(Reason.CONTRACT_REQUIRED, Reason.PRESENT)
    stage.check_executed(git_commit=2)
    stage.check_commits("Add notes", "Add more")


async def sub_agents(stage: Stage) -> None:
    def parent(_received: Received) -> Steps:
        for _ in range(4):
            yield Turn("Someone else may try.", (Call(DELEGATE.name, {"task": "Read the last commits."}),))
        yield Turn("At last.")

    def child(_received: Received) -> Steps:
        # A guess that the server would take: it ignores what it does not know.
        guessed = {"repo_path": str(stage.repository.path), "limit": 3}
        received = yield Turn("I read the log.", (stage.mcp("git", "git_log", guessed),))
        yield Turn("I give up." if received.deliveries else f"Git says: {received.rows[-1]}")

    stage.host.sub_agent = lambda _task: stage.model(child)
    model = stage.model(parent)
    await stage.host.user_turn("What happened last?", model)
    stage.check_decisions(*[Reason.CONTRACT_REQUIRED] * 3, Reason.AUTO_PROCEED)
    stage.check_executed(git_log=1)
    stage.check("the fourth sub-agent read the log", True, stage.repository.head() in model.received[-1].rows[-1])


async def carry(stage: Stage) -> None:
    def parent(_received: Received) -> Steps:
        known = {"repo": str(stage.repository.path), "message": "Add notes"}
        yield Turn("I commit it.", (stage.mcp("git", "git_commit", known),))
        yield Turn("Someone else shall.", (Call(DELEGATE.name, {"task": "Commit as 'Add notes'."}),))
        yield Turn("It is done.")

    def child(received: Received) -> Steps:
        known = {"repo": str(stage.repository.path), "message": "Add notes"}
        yield Turn("I was given the contract.", (stage.mcp("git", "git_commit", received.fitted(COMMIT, known)),))
        yield Turn("Committed.")

    child_model = stage.model(child)
    stage.host.sub_agent = lambda _task: child_model
    stage.host.carries = True
    await stage.host.user_turn("Commit what is staged, as 'Add notes'.", stage.model(parent))
    stage.check_decisions(Reason.CONTRACT_REQUIRED, Reason.PRESENT)
    stage.check("the sub-agent started with one contract", 1, len(child_model.received[0].deliveries))
    stage.check_executed(git_commit=1)
    stage.check_commits("Add notes")


SCENES = (
    Scene(
        "guess",
        "Guess, delivery, credit, execution",
        "The model guesses the arguments of git_commit. The gate answers with the contract; the retry runs, once.",
        guess,
    ),
    Scene(
        "batch",
        "A parallel batch whose middle result is the delivery",
        "Three calls in one turn: two run, the guess between them is answered, alone in its message.",
        batch,
    ),
    Scene(
        "fits",
        "A first call that fits",
        "Nothing is bounced that satisfies the contract already.",
        fits,
    ),
    Scene(
        "unread",
        "A valid call that fails unread",
        "A string is what the schema wants, and the server refuses it. The next try is answered with the contract.",
        unread,
    ),
    Scene(
        "compaction",
        "Compaction drops the contract",
        "The history is summarised after the first commit. The next guess gets the contract again.",
        compaction,
    ),
    Scene(
        "deferred",
        "A tool of the host whose schema is deferred",
        "save_note is listed without its schema, which the model reads when it first calls wrongly.",
        deferred,
    ),
    Scene(
        "rewriter",
        "A context rewriter, unguarded and exempt",
        "White space is collapsed before each request: no delivery is found intact, so the gate delivers twice and lets "
        "go with a warning. With exempt the delivery stays as it was and is credited.",
        rewriter,
    ),
    Scene(
        "sub-agents",
        "Sub-agents that keep failing",
        "Three sub-agents get the contract and give up. The gate does not stand in the way of the fourth.",
        sub_agents,
    ),
    Scene(
        "carry",
        "A sub-agent that starts with the contract",
        "What this turn has delivered is carried into the child's transcript: its first call is right and read.",
        carry,
    ),
)
