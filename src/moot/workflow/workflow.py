"""A workflow as it is run: everything its files say, in plain records."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Literal, cast

from moot.core import servers, workspace_tools
from moot.core.errors import InvalidInput
from moot.core.formats import MARKDOWN, Format
from moot.core.library import Files
from moot.core.permissions import PRESETS, Permissions
from moot.core.prices import Rates
from moot.core.records import record
from moot.core.servers import Server
from moot.workflow.patterns import ALONE, Patterns

Backend = Literal["scripted", "human", "external", "claude", "codex", "cursor", "gemini", "opencode", "command", "api"]
InputType = Literal["string", "number", "boolean", "array", "object"]
Provider = Literal["file", "memory"]
OwnerRule = Literal["default", "elect", "none", "named"]
Workspace = Literal["shared", "worktree", "none"]
PromptMode = Literal["append", "replace"]
Transport = Literal["direct", "mcp"]
Part = Literal["lead", "reviewer", "worker"]  # in a team
Scalar = str | int | float | bool
Value = Scalar | tuple[Any, ...] | Mapping[str, Any] | None  # of a variable; None is what was left open

SETUP_TIMEOUT = timedelta(seconds=60)
NOTIFY_TIMEOUT = timedelta(seconds=30)
OUTPUT_LIMIT = 500_000  # bytes kept of what one setup command prints


@record
class Fault:
    """One thing that is wrong in a file."""

    file: str
    line: int
    column: int
    fact: str
    remedy: str


class WorkflowInvalid(InvalidInput):
    """A workflow file, or one that it names, says something that cannot be."""

    code = "WORKFLOW_INVALID"

    def __init__(self, fact: str, remedy: str = "", faults: Sequence[Fault] = ()) -> None:
        super().__init__(fact, remedy)
        self.faults = tuple(faults)


@record
class Input:
    """What the one who starts a run is asked for."""

    name: str
    type: InputType = "string"
    is_required: bool = False
    default: Value = None
    description: str = ""
    options: tuple[Scalar, ...] = ()


@record
class Context:
    """What the agents share. Paths may still hold variables."""

    is_on: bool = True
    provider: Provider = "file"
    owner_rule: OwnerRule = "default"
    owner: str | None = None  # if the rule is `named`
    dir: str = ".workflow/${{ instance }}/"
    channel: str = "channel.md"
    document: str = "notes.md"
    documents: tuple[str, ...] = ()


@record
class Budget:
    """How much may be used; None is no limit."""

    cost: float | None = None  # dollars
    time: timedelta | None = None
    attempts: int | None = None
    tokens: int | None = None
    turns: int | None = None


RUN_BUDGET = Budget(cost=10.0, time=timedelta(minutes=60), attempts=200)


@record
class Limits:
    """When talk goes round in circles; None is no limit."""

    hops: int | None = 50  # messages of agents in one chain, each waking the next, since a person or the kickoff spoke
    ping_pong: int | None = 20  # messages that two agents send each other in turn while nobody else speaks


@record
class Retry:
    """How a failed attempt is repeated; None is as the project's configuration says."""

    attempts: int | None = None
    backoff: timedelta | None = None
    multiplier: float | None = None


@record
class Fallback:
    """A model that is asked when those before it do not answer."""

    model: str  # `provider/name`
    base_url: str | None = None
    env: tuple[str, ...] = ()
    rates: Rates | None = None  # None: as the price list says


@record
class AgentDefinition:
    name: str
    backend: Backend | None = None  # None: whatever can run the model
    model: str | None = None  # `provider/name`
    system_prompt: str = ""
    system_prompt_mode: PromptMode = "append"
    description: str = ""
    capabilities: tuple[str, ...] = ()  # by which tasks are given to it
    tools: tuple[str, ...] | None = None  # None: those that belong to the way it is driven
    permissions: Permissions = PRESETS["ask"]
    workspace: Workspace = "shared"
    budget: Budget = Budget()
    retry: Retry = Retry()
    timeout: timedelta | None = None
    is_isolated: bool = False  # private directories instead of the user's own login
    keeps_conversation: bool = False  # the program's own, from one attempt to the next
    command: tuple[str, ...] = ()  # of the backend `command`: the program and its arguments
    base_url: str | None = None  # of an endpoint that speaks a provider's language
    rates: Rates | None = None  # what its model costs; None: as the price list says
    env: tuple[str, ...] = ()  # variables of the environment that its program gets, too
    transport: Transport = "direct"
    max_turns: int | None = None
    script: tuple[Any, ...] = ()  # JSON, as its backend reads it
    answers: tuple[Any, ...] = ()  # of a scripted model, likewise
    fallbacks: tuple[Fallback, ...] = ()
    patterns: Patterns = ALONE
    is_chatty: bool = False  # may be asked again after its report
    max_tool_calls_per_turn: int | None = None
    max_depth: int | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    context_window: int | None = None
    input: Format = MARKDOWN
    output: Format = MARKDOWN
    servers: tuple[Server, ...] = ()  # of others, which it is connected to

    @property
    def models(self) -> tuple[str, ...]:
        """All of them, the first to be asked first."""
        return (*([self.model] if self.model else []), *(one.model for one in self.fallbacks))

    @property
    def session_tools(self) -> tuple[str, ...]:
        """Those that only sessions of moot itself have."""
        own = (*workspace_tools.GROUPS, *workspace_tools.NAMES)
        return tuple(one for one in self.tools or () if one in own or one.startswith(servers.PREFIX))


@record
class SetupTask:
    shell: str
    name: str | None = None  # of the variable that what it prints becomes
    timeout: timedelta = SETUP_TIMEOUT


@record
class TaskNeed:
    """A task that has to be done first, or whose outcome is only good to know."""

    name: str
    kind: Literal["blocks", "informs"] = "blocks"


@record
class TaskDefinition:
    """A task of the plan. What a check is, those know who make it."""

    name: str
    description: str = ""
    needs: tuple[TaskNeed, ...] = ()
    agent: str | None = None  # who alone may do it
    parallel_group: str | None = None
    complexity: Literal["low", "medium", "high"] | None = None
    files: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    checks: tuple[Mapping[str, Any], ...] = ()


@record
class TeamDefinition:
    """Who leads, who reviews, who works, and on which terms."""

    lead: str
    reviewers: tuple[str, ...]
    workers: tuple[str, ...]
    rounds: int = 3  # of work and review, at most
    asks_for_plan: bool = False  # a person approves the plan before anybody works on it
    pushes: bool = False  # what was merged goes to the remote
    has_views: bool = True

    @property
    def parts(self) -> dict[str, Part]:
        """In order."""
        others = {**dict.fromkeys(self.reviewers, "reviewer"), **dict.fromkeys(self.workers, "worker")}
        return cast(dict[str, Part], {self.lead: "lead", **others})


@record
class Notify:
    """A command that is run when a person is needed."""

    shell: str
    timeout: timedelta = NOTIFY_TIMEOUT


@record
class Workflow:
    """Texts still hold their variables: `templates.expand` puts the values in once setup has found them."""

    name: str
    file: str
    agents: tuple[AgentDefinition, ...]
    inputs: tuple[Input, ...] = ()
    env: Mapping[str, str | None] = field(default_factory=dict[str, str | None])  # declared, with what stands in
    context: Context = Context()
    setup: tuple[SetupTask, ...] = ()
    kickoff: str = ""
    notify: Notify | None = None
    budget: Budget = RUN_BUDGET
    limits: Limits = Limits()
    result: str = ""
    warnings: tuple[str, ...] = ()
    tasks: tuple[TaskDefinition, ...] = ()
    max_parallel_tasks: int = 1
    makes_workspaces: bool = False  # a worktree for every task
    is_together: bool = False  # the tasks do not wait until the talk is quiet
    cast: tuple[AgentDefinition, ...] = ()  # who is no agent of its own, but takes part in what one of them does
    description: str = ""
    version: str = ""
    flow: Files = ()  # the texts that the engine makes its steps from; none if there are no steps
    is_stepped: bool = False  # each step waits until somebody lets it be taken
    team: TeamDefinition | None = None  # its agents are one, and the kickoff is their goal
    functions: tuple[str, ...] = ()  # in Python, of the program that runs it

    @property
    def everybody(self) -> dict[str, AgentDefinition]:
        return {one.name: one for one in (*self.agents, *self.cast)}

    @property
    def source(self) -> str:
        """The file, as lists show it."""
        return PurePath(self.file).name
