"""The list: a table for people, JSON for programs, and nothing made by looking."""

from moot.core.caller import SYSTEM
from moot.core.ids import HostId, JobId
from moot.core.tx import Tx
from moot.registry import agents, attempts, hosts
from moot.registry.attempts import NewAttempt
from moot.registry.hosts import NewHost
from moot.runner import neighbours
from tests.cli.terminal import Terminal

NO_HOST = "no host is running; start one with: moot serve\n"
NOBODY = "no agents yet; begin with: moot run FILE, or moot init\n"


def test_without_a_store_nobody_is_listed_and_nothing_is_made(terminal: Terminal) -> None:
    assert terminal.ok("list").out == NOBODY
    assert terminal.ok("list", "--json").json == []
    assert not (terminal.folder / ".workflow").exists()


def test_the_person_alone_is_nobody(terminal: Terminal) -> None:
    terminal.ok("send", "hello @ghost")
    assert terminal.ok("list").out == NOBODY


def test_agents_stand_in_a_table(either: Terminal) -> None:
    either.join("reviewer")
    either.join("coder", source="review.yaml")
    either.join("helper", instance="pr-456", backend="external", source="other\n\x1b[31mfile")
    assert either.ok("list").out == (
        "NAME                 SOURCE               STATUS\n"
        "reviewer             (standalone)         idle\n"
        "coder                review.yaml          idle\n"
        "helper@pr-456        other\\n\\x1b[31mfile  online\n"
    )


def test_one_instance_can_be_asked_for(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.join("helper", instance="pr-456")
    names = [line.split()[0] for line in terminal.ok("list", "--instance", "pr-456").out.splitlines()]
    assert names == ["NAME", "helper@pr-456"]
    assert [one["name"] for one in terminal.ok("list", "--instance", "pr-456", "--json").json] == ["helper"]


def test_json_has_what_the_table_has_no_room_for(either: Terminal) -> None:
    either.join("coder", source="review.yaml")
    either.ok("send", "hello @coder")
    (coder,) = either.ok("ls", "--json").json
    assert coder.pop("id").startswith("ag_")
    assert coder == {
        "name": "coder",
        "instance": "default",
        "source": "review.yaml",
        "status": "idle",
        "presence": "online",
        "unread": 1,
        "parked": 0,
        "backend": "scripted",
        "role": "member",
        "host_running": False,
    }


def test_agents_that_nobody_starts_are_told_with_the_remedy(either: Terminal) -> None:
    either.join("visitor", backend="external")
    assert either.ok("list").err == ""
    either.join("coder")
    assert either.ok("list").err == NO_HOST
    assert either.ok("list", "--json").err == NO_HOST
    register(either, "serve", "react", "work")
    assert either.ok("list").err == NO_HOST
    register(either, "serve", "react", "work", "run")
    assert either.ok("list").err == ""
    assert [one["host_running"] for one in either.ok("list", "--json").json] == [True, True]


def test_a_host_that_was_killed_is_missed_at_once(either: Terminal) -> None:
    coder = either.join("coder")
    host = register(either, "run", machine=neighbours.machine())

    def begin(tx: Tx) -> None:
        attempts.start(tx, NewAttempt(coder.id, coder.stream, JobId(tx.new_id("jo")), 1, 1, host))

    either.act(lambda connection: connection.store.write(begin, caller=SYSTEM))
    listed = either.ok("list")
    assert (listed.out.splitlines()[1].split()[-1], listed.err) == ("idle", NO_HOST)
    assert either.ok("send", "hello @coder").err == NO_HOST
    assert "mail waits and no host is running" in either.ok("status").out


def register(terminal: Terminal, *roles: str, machine: str = "a machine") -> HostId:
    new = NewHost(machine, "999999999:1", roles)

    def change(tx: Tx) -> HostId:
        return hosts.register(tx, new)

    return terminal.act(lambda connection: connection.store.write(change, caller=SYSTEM))


def test_an_agent_that_has_left_is_not_listed(terminal: Terminal) -> None:
    coder = terminal.join("coder")

    def leave(tx: Tx) -> bool:
        return agents.unregister(tx, coder.id)

    terminal.act(lambda connection: connection.store.write(leave, caller=SYSTEM))
    assert terminal.ok("list").out == NOBODY
