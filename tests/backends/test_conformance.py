"""The backends that start no known program do what every backend must."""

import asyncio
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from moot.backends.backend import Assignment, Backend, Briefing, Manner
from moot.backends.command import CommandBackend, CommandLimits
from moot.backends.scripted import ScriptedBackend
from moot.core.json import Json
from tests.backends.conformance import Conformance, Player, Scene

# Reads its prompt, and does what the scene in its first argument says; speaks to moot as any program could.
AGENT = """
import json, os, signal, sys, urllib.request
scene, heard, begun = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
with open(heard, "wb") as file:
    file.write(sys.stdin.buffer.read())
if scene["call"]:
    tool, arguments = scene["call"]
    version = "2026-07-28"
    meta = {"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "agent", "version": "1"}}
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"Authorization": "Bearer " + os.environ["MOOT_TOKEN"], "Content-Type": "application/json",
               "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": version,
               "Mcp-Method": "tools/call", "Mcp-Name": tool}
    request = urllib.request.Request(os.environ["MOOT_URL"], json.dumps(body).encode(), headers)
    answer = json.load(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30))
    assert not answer["result"]["isError"], answer
sys.stdout.buffer.write(scene["say"].encode())
sys.stdout.flush()
if scene["then"] == "fail":
    sys.exit("it went wrong with " + os.environ["MOOT_TOKEN"])
if scene["then"] == "crash":
    os.kill(os.getpid(), signal.SIGSEGV)
if scene["then"] == "hang":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
    else:
        os.write(os.open(begun, os.O_WRONLY), b".")
    while True:
        signal.pause()
"""


class CommandPlayer:
    def __init__(self, folder: Path) -> None:
        self.backend: Backend = CommandBackend(CommandLimits(grace=0.2))
        self._heard = folder / "heard"
        self._begun = folder / "begun"
        os.mkfifo(self._begun)

    def play(self, scene: Scene, given: Assignment) -> Assignment:
        said = json.dumps({"call": scene.call, "say": scene.say, "then": scene.then})
        argv = (sys.executable, "-c", AGENT, said, str(self._heard), str(self._begun))
        return replace(given, manner=Manner(command=argv))

    def heard(self) -> str:
        return self._heard.read_text(encoding="utf-8")

    async def has_begun(self) -> None:
        is_written = asyncio.Event()
        with os.fdopen(os.open(self._begun, os.O_RDONLY | os.O_NONBLOCK)) as pipe:
            asyncio.get_running_loop().add_reader(pipe, is_written.set)
            try:
                await is_written.wait()
            finally:
                asyncio.get_running_loop().remove_reader(pipe)


class ScriptedPlayer:
    def __init__(self) -> None:
        self.backend: Backend = ScriptedBackend()
        self._given: Assignment | None = None
        self._heard = ""
        self._begun = asyncio.Event()

    def play(self, scene: Scene, given: Assignment) -> Assignment:
        calls: list[Json] = [dict([scene.call])] if scene.call else []
        line: dict[str, Json] = {"on": "(?s)(.*)", "in": "prompt", "calls": calls, "say": scene.say}
        ends: dict[str, dict[str, Json]] = {"end": {}, "fail": {"fail": "no"}, "crash": {"crash": True}}
        line |= ends.get(scene.then, {"hang": True})

        async def brief() -> Briefing:
            found = await given.brief()
            self._heard = found.prompt
            self._begun.set()
            return found

        return replace(given, settings={"script": [line]}, brief=brief)

    def heard(self) -> str:
        return self._heard

    async def has_begun(self) -> None:
        await self._begun.wait()


class TestCommand(Conformance):
    @pytest.fixture
    def player(self, tmp_path: Path) -> Player:
        return CommandPlayer(tmp_path)


class TestScripted(Conformance):
    @pytest.fixture
    def player(self) -> Player:
        return ScriptedPlayer()
