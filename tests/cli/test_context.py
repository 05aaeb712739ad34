"""The channel for programs that speak no MCP: as an agent from outside, and as nobody else."""

from tests.cli.terminal import Terminal


def test_an_agent_from_outside_speaks_and_reads(both: Terminal) -> None:
    both.join("coder", instance="pr-1")
    both.join("reviewer", instance="pr-1", backend="external")
    assert both.ok("context", "send", "@coder hello", "--agent", "reviewer@pr-1").out == "sent\n"
    (said,) = both.ok("context", "read", "--agent", "reviewer@pr-1").json
    assert (said["from"], said["message"], said["mentions"]) == ("reviewer", "@coder hello", ["coder"])


def test_nobody_speaks_for_an_agent_that_moot_starts(both: Terminal) -> None:
    both.join("coder")
    ended = both.run("context", "send", "hello", "--agent", "coder")
    assert (ended.code, "NOT_ALLOWED" in ended.err) == (1, True)
    assert "AGENT_NOT_FOUND" in both.run("context", "send", "hello", "--agent", "nobody").err


def test_workflows_that_can_be_run_by_name_are_listed(both: Terminal) -> None:
    assert both.ok("list", "--workflows", "--json").json == []
    file = both.folder / ".moot" / "workflows" / "fix" / "bug.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("agents: {ann: {backend: human}}\n")
    assert both.ok("list", "--workflows", "--json").json == [{"name": "fix:bug", "file": str(file)}]
