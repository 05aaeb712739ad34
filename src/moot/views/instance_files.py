"""The small files of an instance, each written whole: who has read how far, what was voted on, how clients connect."""

import sys

from moot.bus import mailbox
from moot.core import clock, json
from moot.core.folder import Folder
from moot.core.json import Json
from moot.core.tx import ReadTx
from moot.proposals import plain, proposals
from moot.registry import agents
from moot.registry.instances import Instance

INBOX_STATE, PROPOSALS, MCP = "inbox-state.json", "proposals.json", "mcp.json"


def contents(tx: ReadTx, instance: Instance) -> dict[str, bytes]:
    """What each file is to hold, by name."""
    return {
        INBOX_STATE: _pretty(_inbox_state(tx, instance)),
        PROPOSALS: _pretty(plain.document(proposals.all_of(tx, instance.stream))),
        MCP: _pretty(_mcp(instance)),
    }


def write(place: Folder, files: dict[str, bytes], *, is_anew: bool) -> list[str]:
    """Those that are not there as they should be, or all; returns their names."""
    changed = [name for name, content in files.items() if is_anew or not place.holds(name, content)]
    for name in changed:
        place.write(name, files[name], place.stamp(name), is_durable=False)
    return changed


def _inbox_state(tx: ReadTx, instance: Instance) -> dict[str, Json]:
    """For each agent the time of the newest message it is done with, and how much waits."""
    cursors: dict[str, Json] = {}
    counts = mailbox.counts(tx, instance.stream)
    unread: dict[str, Json] = {}
    for agent in agents.members(tx, instance.stream):
        until = mailbox.done_until(tx, agent.id, instance.stream)
        if until is not None:
            cursors[agent.name] = clock.to_iso(until)
        if agent.id in counts and counts[agent.id].unread:
            unread[agent.name] = counts[agent.id].unread
    return {"readCursors": cursors, "unread": unread}


def _mcp(instance: Instance) -> dict[str, Json]:
    """As clients take it: `claude --mcp-config .workflow/<instance>/mcp.json`."""
    arguments = ["-m", "moot", "mcp", "--instance", instance.name]
    return {"mcpServers": {"moot": {"type": "stdio", "command": sys.executable, "args": arguments}}}


def _pretty(value: object) -> bytes:
    return json.pretty(value).encode() + b"\n"
