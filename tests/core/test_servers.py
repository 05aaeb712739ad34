"""MCP servers of others are declared as people know it, and what is wrong is said in words."""

import pytest

from moot.core import servers
from moot.core.servers import Server, ServerMisdeclared


def test_a_program_is_declared_by_its_command() -> None:
    said = {
        "command": "npx",
        "args": ["-y", "server"],
        "env": {"KEY": "${KEY}"},
        "cwd": "tools",
        "allow": ["read_*"],
        "deny": ["read_secret"],
        "startupTimeout": "2m",
        "timeout": 5,
        "optional": True,
    }
    assert servers.declared({"files": said}) == {
        "files": Server(
            "files",
            ("npx", "-y", "server"),
            {"KEY": "${KEY}"},
            "tools",
            allow=("read_*",),
            deny=("read_secret",),
            startup_timeout=120.0,
            timeout=5.0,
            is_optional=True,
        )
    }


def test_an_address_is_declared_by_its_url() -> None:
    found = servers.server(
        "far", {"type": "http", "url": "https://x.example/mcp", "headers": {"Authorization": "${A}"}}
    )
    assert found == Server("far", url="https://x.example/mcp", headers={"Authorization": "${A}"})
    assert "${A}" not in repr(found)


def test_variables_are_passed_on_by_name_or_filled_in() -> None:
    found = servers.server("x", {"command": ["run", "it"], "env": ["ONE", "TWO"]})
    assert found.command == ("run", "it")
    assert found.env == {"ONE": "${ONE}", "TWO": "${TWO}"}
    assert servers.filled("a ${ONE} $TWO ${1}", {"ONE": "${TWO}"}) == "a ${TWO} $TWO ${1}"
    with pytest.raises(ServerMisdeclared, match="no variable MISSING"):
        servers.filled("${MISSING}", {})


def test_lists_say_which_tools_are_offered() -> None:
    server = Server("x", ("x",), allow=("read_*", "list"), deny=("read_secret*",))
    offered = [tool for tool in ("read_a", "read_secrets", "list", "lists", "write") if server.offers(tool)]
    assert offered == ["read_a", "list"]
    assert Server("x", ("x",)).offers("anything")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("npx", "no mapping"),
        ({}, "either a command or a url"),
        ({"command": "x", "url": "http://x"}, "either a command or a url"),
        ({"command": ""}, "command is empty"),
        ({"command": []}, "command is empty"),
        ({"command": "x", "args": "-y"}, "args is no list"),
        ({"command": "x", "args": [1]}, "not a text"),
        ({"command": "x", "comand": 1}, "Did you mean `command`"),
        ({"command": "x", "headers": {}}, "headers does not go with a command"),
        ({"url": "http://x", "env": {}}, "env does not go with a url"),
        ({"url": "ftp://x"}, "its url is none"),
        ({"url": "http://"}, "its url is none"),
        ({"url": "http://x", "type": "sse"}, "type 'sse'"),
        ({"url": "http://x", "headers": {"A": "b\nc"}}, "not a text of one line"),
        ({"command": "x", "type": "http"}, "type 'http'"),
        ({"command": "x", "timeout": "soon"}, "not a duration"),
        ({"command": "x", "timeout": 0}, "between 0 and a day"),
        ({"command": "x", "timeout": True}, "no duration"),
        ({"command": "x", "timeout": float("nan")}, "between 0 and a day"),
        ({"command": "x", "optional": "yes"}, "neither true nor false"),
        ({"command": "x", "allow": "read"}, "allow is no list"),
    ],
)
def test_what_is_wrong_is_said(said: object, why: str) -> None:
    with pytest.raises(ServerMisdeclared) as refused:
        servers.server("x", said)
    assert why in str(refused.value)


@pytest.mark.parametrize("name", ["", "a/b", "-a", "a b", "x" * 33, "ü"])
def test_a_name_is_plain(name: str) -> None:
    with pytest.raises(ServerMisdeclared, match="cannot name a server"):
        servers.server(name, {"command": "x"})


def test_servers_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(ServerMisdeclared, match="cannot be told apart"):
        servers.declared({"my_files": {"command": "x"}, "my-files": {"command": "y"}})
    with pytest.raises(ServerMisdeclared):
        servers.declared([{"command": "x"}])


def test_agents_choose_servers_and_their_tools() -> None:
    named = ("channel", "mcp:a/read", "mcp:b", "mcp:a/list", "mcp:c/x", "mcp:c", "mcp:c/y")
    assert servers.chosen(named) == {"a": frozenset({"read", "list"}), "b": None, "c": None}


def test_what_is_asked_for_is_offered_unless_it_is_denied() -> None:
    server = Server("x", ("x",), allow=("read_*",), ask=("push*", "read_all"), deny=("push_force",))
    tools = ("read_one", "read_all", "push", "push_force", "other")
    assert [server.offers(one) for one in tools] == [True, True, True, False, False]
    assert [server.asks(one) for one in tools] == [False, True, True, True, False]
    assert servers.server("x", {"command": "x", "ask": ["*"]}).ask == ("*",)
