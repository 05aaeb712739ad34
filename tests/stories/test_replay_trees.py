"""Agents that work together by a pattern are recorded request by request, and are sessions again when they are played,
each answered in its own order."""

import asyncio
import json
from pathlib import Path

import pytest

from tests import fake_models
from tests.cli.terminal import Terminal
from tests.fake_models import Asked, Call, Hang, Scenario, Status, call, calls, say
from tests.stories.test_ask import ANSWERS, EXAMPLES
from tests.stories.test_replay import record, result, write
from tests.stories.test_replay_models import ENV, assert_alike, drifts, lines, replay

TELLING = "nested/intake"  # an advisor that is a router, a handoff to a team, a member that is a chain


@pytest.mark.parametrize(
    "name", [name if name == TELLING else pytest.param(name, marks=pytest.mark.chaos) for name in ANSWERS]
)
def test_an_example_of_several_agents_is_played_again(terminal: Terminal, name: str) -> None:
    agent = Path(name).name
    text = f'name: tree\nagents: {{{agent}: {{from: "{EXAMPLES / name}.md"}}}}\nkickoff: "@{agent} what is wrong?"\n'
    file = write(terminal, text)
    tape = record(terminal, file)
    assert_alike(terminal, file, tape)
    asked = lines(tape, "asked")
    assert {(one["path"], one["number"]) for one in asked} == {
        (one["path"], one["number"]) for one in lines(tape, "replied")
    }
    # Everybody was asked for real, so that a replay in which they are asked something else can tell.
    folder = terminal.folder / "agents"
    folder.mkdir()
    for source in (EXAMPLES / name).parent.glob("*.md"):
        (folder / source.name).write_text(f"{source.read_text().rstrip()} By and by.\n")
    changed = write(terminal, text.replace(f"{EXAMPLES / name}.md", f"{folder / agent}.md"), "changed.yaml")
    words = ("run", str(changed), "--instance", "third", "--replay", str(tape))
    told = [one.split(",")[0] for one in drifts(terminal.run(*words)) if "system prompt differs" in one]
    assert sorted(told) == sorted({one["agent"] for one in asked})


TREE = """
name: tree
context: {document_owner: none}
agents:
  lead: {from: lead.md}
  ben: {model: openai/ben, BASE}
kickoff: "@lead begin"
"""
LEAD = "---\nmodel: openai/lead\nBASE\nagents: [worker]\nadvisors: [wise]\n---\nYou lead.\n"
WISE = "---\nmodel: openai/wise\nBASE\nchat: true\n---\nYou know.\n"
WORKER = """---
model: [openai/gone, openai/worker]
BASE
chat: true
timeout: 30s
tools: [documents]
---
Be exact.
"""


async def recorded(terminal: Terminal, scenario: Scenario, text: str = TREE, **files: str) -> tuple[Path, Path]:
    """The workflow and its tape; `BASE` in the files is where the models are."""
    tape = terminal.folder / "tape.jsonl"
    async with fake_models.serve(scenario) as server:
        keys = (f"base_url: {server.v1!r}", "env: [LAB_API_KEY]")
        for name, content in files.items():
            write(terminal, content.replace("BASE", "\n".join(keys)), f"{name}.md")
        file = write(terminal, text.replace("BASE", ", ".join(keys)))
        words = ("run", str(file), "--instance", "first", "--record", str(tape))
        ended = await asyncio.to_thread(terminal.run, *words, env=ENV)
    assert ended.code == 0, ended
    return file, tape


def report(text: str) -> fake_models.Answer:
    return call("final_report", report=text)


class Tree:
    """A lead is advised and asks two workers at once. The first to be asked is the last to write. One is asked again,
    and meanwhile ben has news for the lead."""

    def __init__(self) -> None:
        self.has_written, self.is_told = asyncio.Event(), asyncio.Event()

    async def __call__(self, asked: Asked) -> fake_models.Answer:
        turn = sum(one.role == "assistant" for one in asked.turns)
        match asked.model:
            case "gone":
                return Status(401, "nobody is there")
            case "wise":
                return report("Let two of them write.")
            case "ben":
                if turn:
                    self.is_told.set()
                return say("done") if turn else call("channel_send", message="@lead here is news")
            case "worker":
                return await self._worker(asked, turn)
            case _:
                return await self._lead(asked, turn)

    async def _lead(self, asked: Asked, turn: int) -> fake_models.Answer:
        if turn == 0:
            workers = [Call("agent_worker", {"prompt": f"Write {which}."}) for which in ("first", "second")]
            return calls(*workers, Call("channel_send", {"message": "@ben go"}))
        if turn == 1:
            await self.is_told.wait()
            return call("ask_clarification", id="worker-t1.c1", question="Sure?")
        return report(f"Written, and there is news: {'here is news' in asked.text}.")

    async def _worker(self, asked: Asked, turn: int) -> fake_models.Answer:
        which = "first" if "first" in asked.turns[0].text else "second"
        if turn == 0:
            if which == "first":
                await self.has_written.wait()
            return call("document_append", content=f"{which}\n")
        if which == "second":
            self.has_written.set()
        return report("Quite sure." if "CLARIFICATION" in asked.text else f"It says {which}.")


def asked(tape: Path) -> list[tuple[str, str, str]]:
    return sorted((one["agent"], one["path"], one["model"].removeprefix("openai/")) for one in lines(tape, "asked"))


async def test_a_tree_of_models_comes_to_the_same_without_them(terminal: Terminal) -> None:
    file, tape = await recorded(terminal, Tree(), lead=LEAD, wise=WISE, worker=WORKER)
    assert_alike(terminal, file, tape)
    came = result(terminal, "again")
    assert came["documents"] == {"notes.md": "second\nfirst\n"}
    assert json.dumps([one for one in lines(tape, "asked") if one["agent"] == "lead"]).count("here is news") == 1
    workers = [
        ("worker", f"t1/c{child}/s/t{turn}/m", model)
        for child, turns in ((1, 3), (2, 2))
        for turn in range(1, turns + 1)
        for model in ("gone", "worker")
    ]
    assert [one for one in asked(tape) if one[0] in ("worker", "wise")] == [("wise", "adv/wise/t1/m", "wise"), *workers]


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        (
            "worker.md",
            "Be exact.",
            "Be curt.",
            ["worker, at t1/c1/s of lead, attempt 1, call 1: the system prompt differs: 'Be curt.' instead of 'Be "],
        ),
        pytest.param(
            "w.yaml",
            "document_owner: none",
            "document_owner: ben",
            ["worker, at t1/c2/s of lead, attempt 1, call 3: the answer of document_append differs: 'NOT_DOCUMENT"],
            marks=pytest.mark.chaos,
        ),
        pytest.param(
            "worker.md",
            "openai/worker",
            "openai/other",
            ["worker, at t1/c"],  # whichever of the two is the first
            marks=pytest.mark.chaos,
        ),
        pytest.param(
            "lead.md",
            "advisors: [wise]",
            "advisors: []",
            [
                "lead, attempt 1, call 1: the prompt differs: ",
                "wise, at adv/wise of lead, attempt 1, call 1: it is not asked any more",
            ],
            marks=pytest.mark.chaos,
        ),
    ],
)
async def test_what_somebody_in_a_tree_is_asked_otherwise_is_told_with_the_call(
    terminal: Terminal, name: str, old: str, new: str, told: list[str]
) -> None:
    file, tape = await recorded(terminal, Tree(), lead=LEAD, wise=WISE, worker=WORKER)
    changed = terminal.folder / name
    changed.write_text(changed.read_text().replace(old, new))
    ended = replay(terminal, file, tape)
    found = drifts(ended)
    assert ended.code == 1
    assert [sum(one.startswith(wanted) for one in found) for wanted in told] == [1] * len(told), found


async def test_a_member_of_a_team_hears_what_it_heard_when_it_heard_it(terminal: Terminal) -> None:
    """Ann speaks when ben's second request is made, and he goes on until he has heard her, however fast both are."""
    is_asked = asyncio.Event()

    async def scenario(asked: Asked) -> fake_models.Answer:
        if asked.model == "ann":
            await is_asked.wait()
            return call("team_broadcast", message="I am here.", final=True)
        if asked.model == "boss":
            return report("All are here.")
        if any("I am here." in one.text for one in asked.turns):
            return call("team_broadcast", message="So am I.", final=True)
        if len(asked.turns) > 1:
            is_asked.set()
        return call("document_append", content="x")

    text = 'name: tree\ncontext: {document_owner: none}\nagents: {panel: {from: panel.md}}\nkickoff: "@panel go"\n'
    each = {
        name: f"---\nmodel: openai/{name}\nBASE\nchat: true\ntools: [documents]\n---\n"
        for name in ("ann", "ben", "boss")
    }
    panel = "---\nteam: {members: [ann, ben], supervisor: boss}\n---\nMeet.\n"
    file, tape = await recorded(terminal, scenario, text, panel=panel, **each)
    heard = {one["path"]: one["heard"] for one in lines(tape, "asked") if one["agent"] == "ben"}
    *before, last = heard.values()
    assert before == [None] * len(before)
    assert last["facts"] == {"broadcasts": ["ann#1"]}
    assert_alike(terminal, file, tape)


@pytest.mark.chaos
async def test_who_was_not_waited_for_any_longer_is_not_waited_for_again(terminal: Terminal) -> None:
    def scenario(asked: Asked) -> fake_models.Answer:
        if asked.model == "worker":
            return Hang()
        if len(asked.turns) == 1:
            return call("agent_worker", prompt="Write.")
        return report(f"It took too long: {'it failed (timeout)' in asked.results[-1].text}.")

    lead, worker = LEAD.replace("advisors: [wise]\n", ""), WORKER.replace("30s", "2s").replace("openai/gone, ", "")
    text = TREE.replace("  ben: {model: openai/ben, BASE}\n", "")
    file, tape = await recorded(terminal, scenario, text, lead=lead, worker=worker)
    assert_alike(terminal, file, tape)
    assert result(terminal, "again")["said"][-1][1] == "It took too long: True."
    told = terminal.ok("log", "--raw", "lead", "--instance", "again").out
    assert "agent_worker" in told  # by the session itself
