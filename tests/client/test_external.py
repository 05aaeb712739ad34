"""Servers of others are started, asked, and ended, whatever their manners."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from moot.client.errors import NotCalled, OutcomeUnknown, ServerNotStarted, ToolFailed
from moot.client.external import External
from moot.core import servers
from moot.core.json import Json
from moot.core.servers import ServerMisdeclared
from tests.client.neighbours import odd, one, opened, over_http
from tests.processes import children_of, is_running

pytestmark = pytest.mark.slow


async def said(server: External, tool: str, **arguments: Json) -> str:
    answer = await server.call(tool, arguments)
    assert not answer.is_error, answer.text
    return answer.text


async def pid_of(server: External) -> int:
    return int((await said(server, "whoami")).split()[0])


async def test_tools_are_listed_and_called(tmp_path: Path) -> None:
    async with one(tmp_path) as server:
        offered = {offer.name: offer for offer in server.offers()}
        assert offered["add"].words == "Add two numbers."
        assert offered["add"].schema["required"] == ["a", "b"]
        assert [name for name, offer in offered.items() if offer.is_read_only] == ["add"]
        assert await said(server, "add", a=1, b=2) == "3"
        assert await said(server, "picture") == "a picture:\n[omitted: image, image/png, 6 bytes]"


async def test_it_is_started_where_and_with_what_was_declared_and_knows_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret-secret")
    monkeypatch.setenv("MOOT_TOKEN", "token-of-moot")
    (tmp_path / "below").mkdir()
    declared = odd(env={"GIVEN": "is ${MINE}"}, cwd="below")
    async with opened(tmp_path, declared, MINE="x-given") as found:
        text = await said(found.connected["odd"], "whoami")
    assert f"in {tmp_path / 'below'} " in text
    assert text.endswith(" is x-given")
    assert "ANTHROPIC" not in text
    assert "MOOT_TOKEN" not in text


async def test_lists_of_tools_are_held_to_whether_they_are_offered_or_not(tmp_path: Path) -> None:
    async with one(tmp_path, allow=["add", "h*"], deny=["hang"]) as server:
        assert [offer.name for offer in server.offers()] == ["add", "headers", "huge"]
        for tool in ("whoami", "hang"):
            with pytest.raises(NotCalled) as refused:
                await server.call(tool, {})
            assert refused.value.executed == "false"


async def test_an_error_of_a_tool_is_an_answer(tmp_path: Path) -> None:
    async with one(tmp_path) as server:
        assert (await server.call("fail", {})).is_error
        assert (await server.call("add", {"a": "many"})).is_error
        assert (await server.call("add", {"a": 1, "b": 2})).text == "3"
        assert (await server.call("no_such_tool", {})).is_error


async def test_a_server_that_dies_is_started_once_more(tmp_path: Path) -> None:
    async with one(tmp_path) as server:
        first = await pid_of(server)
        with pytest.raises(OutcomeUnknown) as lost:
            await server.call("die", {})
        assert lost.value.executed == "unknown"
        assert await pid_of(server) != first
        with pytest.raises(OutcomeUnknown):
            await server.call("die", {})
        with pytest.raises(NotCalled, match="died twice") as gone:
            await server.call("add", {"a": 1, "b": 2})
        assert gone.value.executed == "false"


async def test_calls_at_once_share_the_second_start(tmp_path: Path) -> None:
    async with one(tmp_path) as server:
        with pytest.raises(OutcomeUnknown):
            await server.call("die", {})
        pids = await asyncio.gather(*(pid_of(server) for _ in range(5)))
        assert len(set(pids)) == 1


async def test_a_server_that_cannot_be_started_again_was_not_called(tmp_path: Path) -> None:
    async with one(tmp_path, env={"MANNER": "once"}) as server:
        with pytest.raises(OutcomeUnknown):
            await server.call("die", {})
        with pytest.raises(ServerNotStarted) as refused:
            await server.call("add", {"a": 1, "b": 2})
        assert refused.value.executed == "false"


async def test_a_call_that_hangs_is_given_up_and_the_server_lives_on(tmp_path: Path) -> None:
    async with one(tmp_path, timeout="500ms") as server:
        with pytest.raises(OutcomeUnknown, match=r"has not answered in 0\.5 s"):
            await server.call("hang", {})
    async with one(tmp_path) as server:
        hanging = asyncio.ensure_future(server.call("hang", {}))
        assert await said(server, "add", a=1, b=2) == "3"
        hanging.cancel()
        await asyncio.wait([hanging])
        assert await said(server, "add", a=2, b=2) == "4"


async def test_noise_harms_nobody(tmp_path: Path) -> None:
    async with one(tmp_path) as server:
        assert await said(server, "flood") == "done"
        assert await said(server, "garbage") == "done"
        assert len(await said(server, "huge", size=1_000_000)) == 1_000_000
        with pytest.raises(ToolFailed, match="longer than") as failed:
            await server.call("huge", {"size": 9_000_000})
        assert failed.value.executed == "true"
        assert await said(server, "add", a=1, b=2) == "3"


RAW = """
import json, sys
TOOLS = ("half", "long", "hang", "noisy")
for line in sys.stdin:
    asked = json.loads(line)
    id, result = asked.get("id"), {}
    if asked["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
        result["serverInfo"] = {"name": "raw", "version": "1"}
    elif asked["method"] == "tools/list":
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
    elif asked["method"] == "tools/call":
        name = asked["params"]["name"]
        if name == "hang":
            open("asked", "w").close()
            continue
        if name == "noisy":
            print('loading {"step": 1} {', end="")
        text = "x" * (9 << 20) if name == "long" else "a\\ud800b"
        result = {"content": [{"type": "text", "text": text}]}
    if id is not None:
        print(json.dumps({"jsonrpc": "2.0", "result": result, "id": id}), flush=True)
"""


async def test_what_is_no_answer_by_the_letter_is_told_at_once(tmp_path: Path) -> None:
    async with one(tmp_path, args=["-c", RAW]) as server:
        assert await said(server, "half") == "a\ufffdb"
        assert await said(server, "noisy") == "a\ufffdb"
        hanging = asyncio.ensure_future(server.call("hang", {}))
        while not (tmp_path / "asked").exists():  # noqa: ASYNC110  # another process's file
            await asyncio.sleep(0.01)
        hanging.cancel()
        await asyncio.wait([hanging])
        with pytest.raises(ToolFailed, match="longer than"):
            await server.call("long", {})
        assert await said(server, "half") == "a\ufffdb"


async def test_a_list_of_tools_that_changes_is_heard_of(tmp_path: Path) -> None:
    async with one(tmp_path) as server:
        assert "grown" not in [offer.name for offer in server.offers()]
        await said(server, "grow")
        while "grown" not in [offer.name for offer in server.offers()]:
            await server.call("add", {"a": 1, "b": 2})  # which gives way until it has
        assert await said(server, "grown") == "grown"


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ({"env": {"MANNER": "refuse"}}, "I need a license"),
        ({"env": {"MANNER": "mute"}, "startupTimeout": "300ms"}, "not ready in 0.3 s"),
        ({"command": "no-such-program-here", "args": []}, "was not found"),
        ({"cwd": "nowhere"}, "cannot start in"),
        ({"env": {"KEY": "${NOT_SET_ANYWHERE}"}}, "no variable NOT_SET_ANYWHERE"),
    ],
)
async def test_who_cannot_be_started_says_why(tmp_path: Path, declared: dict[str, object], why: str) -> None:
    with pytest.raises(ServerNotStarted) as refused:
        async with one(tmp_path, **declared):
            pytest.fail("it was started")
    assert why in str(refused.value)
    async with opened(tmp_path, odd(**declared, optional=True)) as found:
        assert found.connected == {}
        assert why in str(found.troubles[0])


@pytest.mark.parametrize("end", ["cancel", *(pytest.param(end, marks=pytest.mark.chaos) for end in ("leave", "raise"))])
async def test_nothing_is_left_behind(tmp_path: Path, end: str) -> None:
    pids: list[int] = []
    ready = asyncio.Event()

    async def hold() -> None:
        async with one(tmp_path, env={"MANNER": "stubborn"}) as server:
            pid = await pid_of(server)
            pids.extend((pid, *children_of(pid)))
            ready.set()
            if end == "raise":
                raise KeyError(end)
            if end == "cancel":
                await server.call("hang", {})

    holding = asyncio.ensure_future(hold())
    waiting = asyncio.ensure_future(ready.wait())
    await asyncio.wait([holding, waiting], return_when=asyncio.FIRST_COMPLETED)
    if end == "cancel":
        holding.cancel()
    await asyncio.wait([holding])
    assert holding.cancelled() == (end == "cancel")
    if end == "raise":
        assert isinstance(holding.exception(), KeyError)
    assert len(pids) == 2
    assert not [pid for pid in pids if is_running(pid)]


async def test_a_server_at_an_address_is_asked_with_its_headers(tmp_path: Path) -> None:
    async with over_http(tmp_path) as (url, _):
        declared = servers.server("far", {"type": "http", "url": url, "headers": {"X-Key": "Bearer ${FAR_KEY}"}})
        async with opened(tmp_path, declared, FAR_KEY="open-sesame") as found:
            far = found.connected["far"]
            assert await said(far, "add", a=1, b=2) == "3"
            assert "Bearer open-sesame" in await said(far, "headers")
            assert (await far.call("fail", {})).is_error


async def test_a_server_at_an_address_that_dies_leaves_the_outcome_unknown_and_then_is_not_called(
    tmp_path: Path,
) -> None:
    async with (
        over_http(tmp_path) as (url, process),
        opened(tmp_path, servers.server("far", {"url": url, "timeout": 60})) as found,
    ):
        far = found.connected["far"]
        with pytest.raises(OutcomeUnknown) as lost:
            await far.call("die", {})
        assert lost.value.executed == "unknown"
        await process.wait()
        with pytest.raises(NotCalled) as gone:
            await far.call("add", {"a": 1, "b": 2})
        assert gone.value.executed == "false"


async def test_an_address_where_nobody_is_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(ServerNotStarted, match="does not answer"):
        async with opened(tmp_path, servers.server("far", {"url": "http://127.0.0.1:9/mcp"})):
            pytest.fail("it was started")


async def test_a_call_that_hangs_at_an_address_is_given_up(tmp_path: Path) -> None:
    async with (
        over_http(tmp_path) as (url, _),
        opened(tmp_path, servers.server("far", {"url": url, "timeout": "1s"})) as found,
    ):
        with pytest.raises(OutcomeUnknown):
            await found.connected["far"].call("hang", {})


async def test_secrets_of_its_environment_are_not_in_its_errors(tmp_path: Path) -> None:
    declared = odd(command="/bin/sh", args=["-c", "echo $FAR_KEY >&2; exit 1"], env=["FAR_KEY"])
    with pytest.raises(ServerNotStarted) as refused:
        async with opened(tmp_path, declared, FAR_KEY="open-sesame-1234"):
            pytest.fail("it was started")
    assert "It wrote" in str(refused.value)
    assert "open-sesame" not in str(refused.value)


def test_moots_own_variables_are_filled_in_nowhere() -> None:
    with pytest.raises(ServerMisdeclared, match="MOOT_TOKEN"):
        servers.filled("x ${MOOT_TOKEN}", {**os.environ, "MOOT_TOKEN": "x"})


BROKEN = """
import json, sys
LIST = [
    {"name": "good", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}},
    {"name": "bare"},
    {"name": "listed", "inputSchema": ["no"], "description": 7},
    {"name": "text", "inputSchema": {"type": "string"}},
    {"name": "wrong", "description": "Odd.", "inputSchema": {"type": "object", "properties": {"a": {"type": 7}}}},
    {"name": "either", "inputSchema": {"type": "object", "anyOf": [{"required": ["a"]}]}},
    {"name": "promising", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "required": ["x"]}},
    {"description": "no name"}, "nothing", None,
]
for line in sys.stdin:
    asked = json.loads(line)
    answers = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "broken", "version": "1"}},
        "tools/list": {"tools": LIST},
        "tools/call": {"content": [{"type": "text", "text": "called " + str(asked.get("params", {}).get("name"))}]},
    }
    if "id" in asked:
        answer = answers.get(asked["method"])
        told = {"result": answer} if answer else {"error": {"code": -32601, "message": "no"}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **told}), flush=True)
"""


async def test_tools_that_are_described_wrongly_hide_no_others(tmp_path: Path) -> None:
    async with one(tmp_path, args=["-c", BROKEN]) as server:
        offered = {offer.name: offer for offer in server.offers()}
        assert list(offered) == ["good", "bare", "listed", "text", "wrong", "either", "promising"]
        assert offered["good"].schema["properties"] == {"a": {"type": "string"}}
        assert all(offer.schema["type"] == "object" for offer in offered.values())
        for name in ("wrong", "either"):
            assert offered[name].schema == {"type": "object", "additionalProperties": True}
            assert "Its arguments: {" in offered[name].words
        for name in offered:
            assert await said(server, name) == f"called {name}"


KILLED = """
import asyncio, os, sys
from pathlib import Path
from moot.client import connections
from moot.client.external import Surroundings
from moot.process.guardian import Guardian
from tests.client.neighbours import odd

async def main():
    with Guardian() as guardian:
        around = Surroundings(Path(sys.argv[1]), os.environ, guardian)
        async with connections.opened([odd(env={"MANNER": "stubborn"})], around) as found:
            print((await found.connected["odd"].call("whoami", {})).text.split()[0], flush=True)
            await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_server_is_ended_when_moot_is_killed(tmp_path: Path) -> None:
    moot = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert moot.stdout is not None
    async with asyncio.timeout(60):
        server = int(await moot.stdout.readline())
    watched = [os.pidfd_open(pid) for pid in (server, *children_of(server))]
    assert len(watched) == 2
    moot.kill()
    await moot.wait()
    loop = asyncio.get_running_loop()
    try:
        for one_of_them in watched:
            gone = asyncio.Event()
            loop.add_reader(one_of_them, gone.set)
            async with asyncio.timeout(30):
                await gone.wait()
            loop.remove_reader(one_of_them)
    finally:
        for one_of_them in watched:
            os.close(one_of_them)
