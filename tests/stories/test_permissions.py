"""What an agent may not do by itself is asked of a person: at the terminal, from elsewhere, or after the run has ended.

The program here only behaves like Claude Code; the real one is asked in tests/clis.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal, finish

SECONDS = 60.0
# Asks once before it runs a command, and says what it was answered.
CLAUDE = r"""
import json, os, sys, urllib.request

def ask(tool, arguments):
    headers = {"Authorization": "Bearer " + os.environ["MOOT_TOKEN"], "Content-Type": "application/json",
               "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
               "Mcp-Method": "tools/call", "Mcp-Name": tool}
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments, "_meta": meta}}
    request = urllib.request.Request(os.environ["MOOT_URL"], json.dumps(body).encode(), headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=60) as response:
        text = response.read().decode()
    lines = [line[5:] for line in text.splitlines() if line.startswith("data:") and line[5:].strip()]
    return json.loads(lines[-1] if lines else text)["result"]

def tell(event):
    print(json.dumps(event), flush=True)

assert "--permission-prompt-tool" in sys.argv
tell({"type": "system", "subtype": "init", "mcp_servers": [{"name": "moot", "status": "connected"}]})
tell({**json.loads(sys.stdin.readline()), "isReplay": True})
answer = ask("approve", {"tool_name": "Bash", "input": {"command": "make release"}, "tool_use_id": "toolu_1"})
assert "structuredContent" not in answer, answer
said = json.loads(answer["content"][0]["text"])
text = "released" if said["behavior"] == "allow" else "not released: " + said["message"]
tell({"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, "total_cost_usd": 0,
      "modelUsage": {}, "result": text})
sys.stdin.read()
"""


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    folder = tmp_path / "project"
    (folder / "home").mkdir(parents=True)
    (folder / ".moot").mkdir()
    (folder / "claude.py").write_text(CLAUDE)
    return Terminal(folder, bytecode)


def write(terminal: Terminal, **more: str) -> str:
    command = [sys.executable, str(terminal.folder / "claude.py")]
    workflow = {"agents": {"coder": {"backend": "claude", "command": command}}, "kickoff": "@coder release it", **more}
    (terminal.folder / "release.yaml").write_text(json.dumps(workflow))
    return "release.yaml"


def said(terminal: Terminal) -> list[str]:
    return [one["message"] for one in terminal.ok("log", "--json").json if one["from"] == "coder"]


@pytest.mark.parametrize(("typed", "last"), [("yes", "released"), ("no, not today", "not released: This was denied")])
def test_who_sits_at_the_terminal_is_asked_there(terminal: Terminal, typed: str, last: str) -> None:
    with terminal.typing("run", write(terminal)) as session:
        session.until("Bash: make release")
        session.type(typed)
        session.until("done in")
    assert session.code == 0
    assert said(terminal)[-1].startswith(last)
    assert ("not today" in said(terminal)[-1]) == ("not today" in typed)


def test_who_is_called_answers_from_elsewhere(terminal: Terminal) -> None:
    run = terminal.start("run", write(terminal, notify='echo "$MOOT_ID" > asked'))
    terminal.ok("approve", await_file(terminal.folder / "asked", run))
    ended = finish(run)
    assert ended.code == 0, ended
    assert said(terminal)[-1] == "released"


def test_a_run_that_nobody_can_answer_is_not_begun(terminal: Terminal) -> None:
    refused = terminal.run("run", write(terminal))
    assert (refused.code, "NOBODY_TO_ASK" in refused.err) == (2, True), refused
    assert terminal.ok("log", "--json").json == []


def test_what_is_asked_when_everybody_has_gone_is_denied_at_once_and_can_be_approved_later(terminal: Terminal) -> None:
    name = write(terminal)
    with terminal.typing("run", name) as session:
        session.until("Bash: make release")
        session.interrupt(twice=True)
    alone = terminal.run("resume")
    assert alone.code == 4, alone
    assert said(terminal)[-1].startswith("not released: Nobody is there to permit Bash")
    terminal.ok("approve")
    terminal.ok("resume")
    assert said(terminal)[-1] == "released"


def await_file(file: Path, process: "subprocess.Popen[bytes]") -> str:
    """What somebody writes there."""
    until = time.monotonic() + SECONDS
    while not (file.exists() and file.read_text().strip()):
        assert process.poll() is None, finish(process)
        assert time.monotonic() < until
        time.sleep(0.05)
    return file.read_text().strip()
