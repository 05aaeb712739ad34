"""Workspaces: a branch with a worktree of its own, what becomes of it, and its way back into the base branch."""

from collections.abc import Callable, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, FailFast, Field

from moot.core import permissions
from moot.core.errors import NotAllowed
from moot.core.ids import WorkspaceId
from moot.core.tool import EVERYONE, WRITERS, Call, Tool
from moot.core.tx import ReadTx, Tx
from moot.registry.agents import Agent
from moot.tools import acting, isolation
from moot.tools.shapes import Arguments, For, Id, Line, Result, clean, listed, written
from moot.workspaces import plain, workspaces
from moot.workspaces.errors import MergeConflict
from moot.workspaces.workspaces import NewWorkspace, Workspace

WAIT_SECONDS = 20.0
Shown = Literal["active", "merged", "abandoned"]
Folder = Annotated[str, Field(max_length=4096), AfterValidator(clean)]
Command = Annotated[str, Field(max_length=10_000), AfterValidator(clean)]
Tasks = Annotated[
    tuple[Id, ...], Field(max_length=1000, strict=False, description="Tasks that are worked on there."), FailFast()
]
Commit = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{4,64}$", description="The commit by which it was merged.")]


class Create(Arguments):
    branch: Annotated[Line, Field(description="A new branch, or one that nobody has checked out.")]
    workflow_id: Annotated[Id | None, Field(description="The workflow that it belongs to.")] = None
    base_branch: Annotated[Line | None, Field(description="Where it begins and comes back to; default: HEAD.")] = None
    create_worktree: Annotated[bool, Field(description="False: only note the branch that you work on.")] = True
    repo_path: Annotated[Folder | None, Field(description="Default: the project's own repository.")] = None
    task_ids: Tasks = ()
    setup: Annotated[Command | None, Field(description="A shell command that prepares the worktree.")] = None
    agent_id: For = None


class Update(Arguments):
    id: Id
    status: Annotated[Shown | None, Field(description="What became of it.")] = None
    merge_commit: Commit | None = None
    cleanup_worktree: Annotated[bool, Field(description="Remove the worktree; its work stays on the branch.")] = False
    task_ids: Tasks = ()
    agent_id: For = None


class Look(Arguments):
    workflow_id: Id | None = None
    status: Shown | None = None


class Merge(Arguments):
    id: Id
    agent_id: For = None


class ConflictCard(Result):
    file: str
    kind: str


class WorkspaceCard(Result):
    """A workspace as everyone sees it. While it is `waiting`, the same call again goes on waiting."""

    id: str
    workflow_id: str | None = None
    branch: str
    base_branch: str | None = None
    base_commit: str | None = None
    merge_into: str | None = None  # in place of the base branch
    repo_path: str | None = None
    worktree_path: str | None = None
    status: Shown
    waiting: Literal["making", "merging", "removing", "pushing"] | None = None
    merge_commit: str | None = None
    kept_branch: str | None = None
    task_ids: tuple[str, ...] = ()
    created_by: str
    created_at: str
    closed_at: str | None = None
    error: str | None = None
    conflicts: tuple[ConflictCard, ...] = ()


class WorkspaceCards(Result):
    workspaces: tuple[WorkspaceCard, ...]


async def create(call: Call, arguments: Create) -> WorkspaceCard:
    def change(tx: Tx) -> WorkspaceCard:
        agent = acting.agent_for(tx, call.caller, arguments.agent_id)
        if arguments.setup:
            _check_shell(call, agent)
        _check_tasks(tx, call, agent, arguments.task_ids)
        instance = acting.instance_of(tx, call.caller)
        new = NewWorkspace(
            stream=instance.stream,
            instance=instance.name,
            branch=arguments.branch,
            board=arguments.workflow_id or "",
            base_branch=arguments.base_branch or "",
            repo=arguments.repo_path or "",
            is_anywhere=call.caller.role == "operator",
            has_worktree=arguments.create_worktree,
            setup=arguments.setup or "",
            created_by=agent.id,
            created_name=agent.name,
        )
        return _card(tx, isolation.create(tx, new, arguments.task_ids))

    begun = await call.write(change)
    return await _settled(call, begun.id, lambda one: one.error if one.status == "abandoned" else None)


async def update(call: Call, arguments: Update) -> WorkspaceCard:
    def change(tx: Tx) -> WorkspaceCard:
        found = _own(tx, call, arguments.id, arguments.agent_id)
        if arguments.task_ids:
            _check_tasks(tx, call, acting.agent_for(tx, call.caller, arguments.agent_id), arguments.task_ids)
        isolation.attach(tx, found, arguments.task_ids)
        if arguments.status in ("merged", "abandoned"):
            found = workspaces.close(tx, found.id, arguments.status, arguments.merge_commit)
        elif arguments.status == "active":
            found = workspaces.reopen(tx, found.id)
            isolation.have_done(tx, found)
        if arguments.cleanup_worktree and found.path is not None:
            found = isolation.ask(tx, found.id, "remove")
        return _card(tx, found)

    begun = await call.write(change)
    return await _settled(call, begun.id, lambda one: one.error if arguments.cleanup_worktree else None)


async def merge(call: Call, arguments: Merge) -> WorkspaceCard:
    def change(tx: Tx) -> WorkspaceCard:
        agent = acting.agent_for(tx, call.caller, arguments.agent_id)
        found = _own(tx, call, arguments.id, arguments.agent_id)
        if not found.merge_into:  # where somebody of the team works, and no person
            _check_edit(call, agent)
        is_done = found.status == "merged" and not found.wanted
        return _card(tx, found if is_done else isolation.ask(tx, found.id, "merge"))

    def refusal(one: Workspace) -> Exception | None:
        """What is in conflict is an answer, not an error."""
        return None if one.status == "merged" or isinstance(one.error, MergeConflict) else one.error

    begun = await call.write(change)
    return await _settled(call, begun.id, refusal)


async def look(call: Call, arguments: Look) -> WorkspaceCards:
    def read(tx: ReadTx) -> WorkspaceCards:
        found = workspaces.all_of(tx, call.caller.instance, arguments.workflow_id or "")
        cards = (_card(tx, one) for one in found)
        return WorkspaceCards(workspaces=tuple(one for one in cards if arguments.status in (None, one.status)))

    return await call.read(read)


async def _settled(call: Call, id: str, refusal: Callable[[Workspace], Exception | None]) -> WorkspaceCard:
    """How it stands once nothing is wanted any more, or as far as it has come in time; an error if it was refused."""

    def ready(tx: ReadTx) -> tuple[Workspace, WorkspaceCard] | None:
        one = workspaces.get(tx, WorkspaceId(id))
        return None if one.wanted else (one, _card(tx, one))

    found = await call.wait(ready, WAIT_SECONDS)
    if found is None:
        return await call.read(lambda tx: _card(tx, workspaces.get(tx, WorkspaceId(id))))
    if (error := refusal(found[0])) is not None:
        raise error
    return found[1]


def _own(tx: Tx, call: Call, id: str, agent_id: str | None) -> Workspace:
    """Agents change what they have made, or where a task is done that they hold; who leads changes all."""
    agent = acting.agent_for(tx, call.caller, agent_id)
    found = workspaces.get(tx, WorkspaceId(id), call.caller.instance)
    if call.caller.role in ("operator", "lead") or found.created_by == agent.id:
        return found
    if any(isolation.holds(tx, task, agent) for task in workspaces.tasks_of(tx, found.id)):
        return found
    raise NotAllowed(f"{found.id} belongs to {found.created_name}.", "Ask its owner, or the lead.")


def _check_tasks(tx: Tx, call: Call, agent: Agent, ids: Sequence[str]) -> None:
    if call.caller.role not in ("operator", "lead"):
        isolation.check_holders(tx, acting.instance_of(tx, call.caller).stream, agent, ids)


def _check_shell(call: Call, agent: Agent) -> None:
    """A setup command is a command like any other."""
    if call.caller.role != "operator" and permissions.said(agent.settings.get("permissions")).shell != "allow":
        raise NotAllowed(f"{agent.name} may not run commands by itself.", "Leave setup out, and run it as you may.")


def _check_edit(call: Call, agent: Agent) -> None:
    """A merge may change files that the person has checked out."""
    if call.caller.role == "operator" or not agent.is_started_by_moot:
        return
    if permissions.said(agent.settings.get("permissions")).edit != "allow":
        raise NotAllowed(f"{agent.name} may not change files by itself.", "Ask the person: moot workspace merge ID.")


def _card(tx: ReadTx, one: Workspace) -> WorkspaceCard:
    return WorkspaceCard.model_validate(plain.workspace(one, workspaces.tasks_of(tx, one.id)))


TOOLS = (
    Tool(
        name="workspace_create",
        group="workspaces",
        words="Get a branch with a worktree of your own to work in, beside others who work on the same repository.",
        effect="store",
        arguments=Create,
        result=WorkspaceCard,
        function=create,
        text=written,
        roles=WRITERS,
        waits=True,
    ),
    Tool(
        name="workspace_update",
        group="workspaces",
        words="Say what became of a workspace, attach tasks to it, or have its worktree removed.",
        effect="store",
        arguments=Update,
        result=WorkspaceCard,
        function=update,
        text=written,
        roles=WRITERS,
        waits=True,
    ),
    Tool(
        name="workspace_list",
        group="workspaces",
        words="See the workspaces, and what became of them.",
        effect="none",
        arguments=Look,
        result=WorkspaceCards,
        function=look,
        text=lambda result: listed(result.workspaces),
        roles=EVERYONE,
    ),
    Tool(
        name="workspace_merge",
        group="workspaces",
        words="Merge a workspace into its base branch, what is not committed included. Conflicts are listed, and then "
        "nothing is changed.",
        effect="store",
        arguments=Merge,
        result=WorkspaceCard,
        function=merge,
        text=written,
        roles=WRITERS,
        waits=True,
    ),
)
