"""What a part in a team may do is not up to the file, and what the file says against it is told with its place."""

from pathlib import Path

import pytest

from moot.app import workflows
from moot.app.project import Project
from moot.app.teams import parts
from moot.core.permissions import PRESETS
from moot.tools import groups, table
from moot.workflow.workflow import AgentDefinition, Part, Workflow, WorkflowInvalid

WRITING = {"document_write", "document_create", "document_delete", "document_append", "workspace_create", "task_claim",
           "workflow_set_plan", "workflow_add_tasks", "workspace_merge", "task_update_status"}  # fmt: skip


def read(folder: Path, text: str) -> Workflow:
    file = folder / "t.yaml"
    file.write_text(text, encoding="utf-8")
    return workflows.read(Project(folder), file)


def member(folder: Path, name: str, more: str = "") -> AgentDefinition:
    text = f"defaults: {{backend: scripted}}\nteam: {{}}\nagents: {{{name}: {{{more}}}}}" if more else (
        "defaults: {backend: scripted}\nteam: {}"
    )  # fmt: skip
    return read(folder, text).everybody[name]


def held(agent: AgentDefinition) -> set[str]:
    """The tools of moot that its words come to."""
    wanted = set(agent.tools or ())
    return {name for name, tool in table.TOOLS.items() if name in wanted or tool.group in wanted}


def test_a_lead_plans_and_changes_no_file(tmp_path: Path) -> None:
    lead = member(tmp_path, "lead")
    assert (lead.permissions, lead.workspace) == (PRESETS["read-only"], "shared")
    assert {"workflow_set_plan", "review_report", "request_respond", "channel_read"} <= held(lead)
    assert held(lead).isdisjoint({"task_claim", "workspace_create", "workspace_merge", "agent_register"})


def test_a_reviewer_changes_nothing(tmp_path: Path) -> None:
    reviewer = member(tmp_path, "reviewer-1")
    assert (reviewer.permissions, reviewer.workspace) == (PRESETS["read-only"], "shared")
    assert "review_report" in held(reviewer)
    assert held(reviewer).isdisjoint(WRITING)


def test_a_worker_works_in_a_worktree_and_plans_nothing(tmp_path: Path) -> None:
    worker = member(tmp_path, "worker-2")
    assert (worker.permissions, worker.workspace) == (PRESETS["edit"], "worktree")
    assert {"task_update_status", "checkpoint_add", "workspace_merge", "request_create"} <= held(worker)
    assert held(worker).isdisjoint({"workflow_set_plan", "workflow_add_tasks", "task_claim", "review_report"})


@pytest.mark.parametrize("part", ["lead", "reviewer", "worker"])
def test_every_part_is_told_its_part_and_the_rules_of_all(part: Part) -> None:
    told = parts.prompt(part)
    assert "## How it goes" in told
    assert "## What everybody keeps to" in told
    for tool in set(groups_in(told)):
        assert tool in table.TOOLS or tool in groups.NAMES, tool


def groups_in(text: str) -> list[str]:
    """The tools that a prompt speaks of."""
    words = [part.split(" ")[0] for part in text.split("`")[1::2]]
    return [one for one in words if "_" in one and one not in ("depends_on", "assigned_agent")]


def test_what_a_file_tells_a_member_comes_after_its_part(tmp_path: Path) -> None:
    prompt = member(tmp_path, "worker-1", "system_prompt: You like tests.").system_prompt
    assert prompt.startswith(parts.prompt("worker"))
    assert prompt.endswith("## In this team\n\nYou like tests.")


@pytest.mark.parametrize(
    ("name", "more", "fact"),
    [
        ("reviewer-1", "permissions: edit", "`reviewer-1` is a reviewer of the team, which changes no files"),
        ("lead", "permissions: full", "`lead` is the lead of the team, which changes no files"),
        ("worker-1", "workspace: shared", "`worker-1` is a worker of the team, and works in a worktree of its own"),
        ("lead", "tools: [shell]", "`lead` is the lead of the team, which does not use `shell`"),
        ("reviewer-1", "tools: [documents]", "`reviewer-1` is a reviewer of the team, which does not use `documents`"),
        ("worker-1", "tools: [workflows]", "`worker-1` is a worker of the team, which does not use `workflows`"),
    ],
)
def test_what_contradicts_a_part_is_refused(tmp_path: Path, name: str, more: str, fact: str) -> None:
    with pytest.raises(WorkflowInvalid) as refused:
        member(tmp_path, name, more)
    assert fact in str(refused.value)
    assert "t.yaml:3:" in str(refused.value)


def test_defaults_hold_for_those_whom_they_fit(tmp_path: Path) -> None:
    text = "defaults: {backend: scripted, permissions: full, workspace: shared}\nteam: {}"
    found = read(tmp_path, text).everybody
    assert (found["lead"].permissions, found["worker-1"].permissions) == (PRESETS["read-only"], PRESETS["full"])
    assert found["worker-1"].workspace == "worktree"


@pytest.mark.parametrize("backend", ["human", "external"])
def test_who_comes_by_itself_does_as_it_likes(tmp_path: Path, backend: str) -> None:
    text = f"defaults: {{backend: scripted}}\nteam: {{}}\nagents: {{lead: {{backend: {backend}}}}}"
    lead = read(tmp_path, text).everybody["lead"]
    assert lead.permissions == PRESETS["ask"]
    assert "workflow_set_plan" in (lead.tools or ())


def test_a_member_that_is_a_session_has_tools_for_files_as_its_part_allows(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    text = "defaults: {permissions: full}\nteam: {}\nagents:\n" + "".join(
        f"  {name}: {{answers: [{{say: hello}}]}}\n" for name in ("lead", "reviewer-1", "worker-1")
    )
    (tmp_path / "t.yaml").write_text(text, encoding="utf-8")
    found = workflows.cast(Project(tmp_path), tmp_path / "t.yaml").workflow.everybody
    own = {name: set(one.tools or ()) & {"files", "edit", "shell"} for name, one in found.items()}
    assert own == {"lead": {"files"}, "reviewer-1": {"files"}, "worker-1": {"files", "edit", "shell"}}
