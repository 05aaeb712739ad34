"""The channel for programs that speak no MCP: as an agent from outside, and as nobody else."""

from tests.cli.terminal import Terminal


def test_an_agent_from_outside_speaks_and_reads(either: Terminal) -> None:
    either.join("coder", instance="pr-1")
    either.join("reviewer", instance="pr-1", backend="external")
    assert either.ok("context", "send", "@coder hello", "--agent", "reviewer@pr-1").out == "sent\n"
    assert either.ok("context", "send", "again", "--agent", "reviewer@pr-1", "--json").json == {"status": "sent"}
    said, _ = either.ok("context", "read", "--agent", "reviewer@pr-1", "--json").json
    assert (said["from"], said["message"], said["mentions"]) == ("reviewer", "@coder hello", ["coder"])


def test_nobody_speaks_for_an_agent_that_moot_starts(either: Terminal) -> None:
    either.join("coder")
    ended = either.run("context", "send", "hello", "--agent", "coder")
    assert (ended.code, "NOT_ALLOWED" in ended.err) == (1, True)
    assert "AGENT_NOT_FOUND" in either.run("context", "send", "hello", "--agent", "nobody").err


def test_workflows_that_can_be_run_by_name_are_listed(either: Terminal) -> None:
    assert either.ok("list", "--workflows", "--json").json == []
    file = either.folder / ".moot" / "workflows" / "fix" / "bug.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("agents: {ann: {backend: human}}\n")
    assert either.ok("list", "--workflows", "--json").json == [{"name": "fix:bug", "file": str(file)}]
