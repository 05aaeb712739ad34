"""Tools of other servers are offered under names that every model takes, and what became of a call is told."""

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from moot.client.errors import CallFailed, NotCalled, OutcomeUnknown, ToolFailed
from moot.client.offer import Answer, Offer
from moot.core.json import Json
from moot.session import external_tools
from moot.session.external_tools import ExternalTools
from moot.session.journal import Memory
from tests.session.staging import Hall, agent, calls, reports
from tests.session.workspace.desk import Person

SCHEMA: Mapping[str, Json] = {"type": "object"}


@dataclass
class Server:
    """Answers as it is told to."""

    tools: list[str] = field(default_factory=lambda: ["read", "write"])
    answer: Answer | CallFailed = field(default_factory=lambda: Answer("done"))
    name: str = "files"
    called: list[str] = field(default_factory=list[str])
    asking: tuple[str, ...] = ()

    def offers(self) -> Sequence[Offer]:
        return [Offer(one, f"To {one}.", SCHEMA, is_read_only=one == "read") for one in self.tools]

    def asks(self, tool: str) -> bool:
        return tool in self.asking

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> Answer:
        self.called.append(tool)
        if isinstance(self.answer, CallFailed):
            raise self.answer
        return self.answer


def offered(source: ExternalTools) -> list[str]:
    return [spec.name for spec in source.specs()]


def test_all_tools_or_those_that_were_chosen_are_offered() -> None:
    assert offered(ExternalTools(Server())) == ["mcp_files_read", "mcp_files_write"]
    assert offered(ExternalTools(Server(), {"write"})) == ["mcp_files_write"]
    assert offered(ExternalTools(Server(), {"re*"})) == ["mcp_files_read"]


def test_names_are_such_as_every_model_takes_and_stay_apart() -> None:
    tools = ["a.b", "a/b", "plain", "x" * 100, "x" * 101, "ünicode"]
    found = external_tools.names("my_server", tools)
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", name) for name in found)
    assert len(set(found)) == len(tools)
    assert found[2] == "mcp_my-server_plain"
    assert external_tools.names("my_server", tools[::-1])[::-1] == found
    assert external_tools.names("a_b", ["c"]) != external_tools.names("a", ["b_c"])


def test_what_the_server_calls_reading_may_be_done_again() -> None:
    source = ExternalTools(Server())
    assert [source.effect(name) for name in ("mcp_files_read", "mcp_files_write")] == ["none", "outside"]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (Answer("no such file", is_error=True), "TOOL_FAILED: no such file (executed: true)"),
        (ToolFailed("It broke."), "TOOL_FAILED: It broke. (executed: true)"),
        (NotCalled("It is gone.", "Go on."), "NOT_CALLED: It is gone. Go on. (executed: false)"),
        (OutcomeUnknown("It hung."), "OUTCOME_UNKNOWN: It hung. (executed: unknown)"),
    ],
)
async def test_a_failure_says_whether_it_was_executed(answer: Answer | CallFailed, text: str) -> None:
    outcome = await ExternalTools(Server(answer=answer)).call("mcp_files_read", {}, "")
    assert (outcome.text, outcome.is_error) == (text, True)


async def test_a_tool_that_is_gone_meanwhile_is_not_called() -> None:
    server = Server()
    source = ExternalTools(server)
    server.tools.remove("write")
    outcome = await source.call("mcp_files_write", {}, "")
    assert "(executed: false)" in outcome.text
    assert server.called == []


async def test_a_session_calls_them_and_does_not_again_what_is_on_record() -> None:
    server, journal = Server(), Memory()
    lead = agent("lead", calls("mcp_files_write"), reports("over"))
    hall = Hall(journal, sources=(ExternalTools(server),))
    assert (await hall.report(lead)).text == "over"
    assert hall.told("lead", 2) == "done"
    assert (await Hall(journal, sources=(ExternalTools(server),)).report(lead)).text == "over"
    assert server.called == ["write"]


def test_the_library_is_not_loaded_by_who_only_speaks_of_servers() -> None:
    modules = (
        "moot.session.external_tools, moot.session.workspace.tools, moot.core.servers, moot.runner.session_requests"
    )
    code = f"import sys, {modules}; sys.exit('mcp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


@pytest.mark.parametrize(
    ("says", "told"), [(None, "done"), ("Not today.", "NOT_ALLOWED: Not today. (executed: false)")]
)
async def test_a_person_is_asked_first_where_the_declaration_says_so(says: str | None, told: str) -> None:
    server, person = Server(asking=("write",)), Person(says)
    hall = Hall(sources=(ExternalTools(server, person=person),))
    both: Json = {"calls": [{"mcp_files_write": {"a": 1}}, {"mcp_files_read": {}}]}
    await hall.report(agent("ann", both, reports("ok")))
    assert person.asked == [("mcp_files_write", {"a": 1})]
    assert server.called.count("write") == (says is None)
    assert hall.told("ann", 2).splitlines() == [told, "done"]


async def test_without_anybody_to_ask_nothing_is_done() -> None:
    server = Server(asking=("write",))
    hall = Hall(sources=(ExternalTools(server),))
    await hall.report(agent("ann", calls("mcp_files_write"), reports("ok")))
    assert (server.called, "Nobody is there to permit" in hall.told("ann", 2)) == ([], True)


async def test_nobody_is_asked_for_a_tool_that_is_gone() -> None:
    server, person = Server(asking=("write",)), Person()
    source = ExternalTools(server, person=person)
    server.tools.remove("write")
    assert source.leave("mcp_files_write", {}) is None
