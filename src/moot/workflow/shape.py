"""The form of a workflow file and of an agent file, with the words that editors show. Read only; see `reading`."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    PlainValidator,
    Tag,
    WithJsonSchema,
)

from moot.core import durations
from moot.core.errors import InvalidInput
from moot.core.permissions import Answer, Preset
from moot.workflow.catalog import Address, ModelsShape
from moot.workflow.keys import Reference, References, Shape, SomeReferences, spellings
from moot.workflow.server_form import Servers
from moot.workflow.team_form import LedTeamShape
from moot.workflow.wording import in_our_words
from moot.workflow.workflow import Backend, InputType, PromptMode, Provider, Transport, Workspace

_MOST = 1e15


def _duration(value: object) -> timedelta:
    if isinstance(value, str):
        found = durations.parse(value)
        if found:
            return found
    raise InvalidInput(f"{str(value)[:40]!r} is not a duration", "Write a number and a unit: 500ms, 30s, 5m, 2h, 1d.")


def _limit(kind: type[int] | type[float]) -> Callable[[object], int | float | None]:
    wanted = "a whole number" if kind is int else "a number"

    def read(value: object) -> int | float | None:
        if value is False:
            return None
        if isinstance(value, int | kind) and not isinstance(value, bool) and value > 0:
            if value < _MOST:
                return value
            raise InvalidInput("this is too large", "Write fewer digits; false is no limit.")
        raise InvalidInput(f"this must be {wanted} above 0", "Write digits without quotes; false is no limit.")

    return read


def _longest(value: object) -> timedelta | None:
    return None if value is False else _duration(value)


_DURATION: Mapping[str, Any] = {"type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*(ms|s|m|h|d)\s*$"}
Duration = Annotated[timedelta, PlainValidator(in_our_words(_duration)), WithJsonSchema(dict(_DURATION))]
Longest = Annotated[
    timedelta | None,
    PlainValidator(in_our_words(_longest)),
    WithJsonSchema({"anyOf": [_DURATION, {"const": False}]}),
]
Amount = Annotated[
    float | None,
    PlainValidator(in_our_words(_limit(float))),
    WithJsonSchema({"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"const": False}]}),
]
Count = Annotated[
    int | None,
    PlainValidator(in_our_words(_limit(int))),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"const": False}]}),
]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$", max_length=63)]
Model = Annotated[str, Field(min_length=1)]
FormatName = Literal["markdown", "json"]
Turns = Annotated[int, Field(ge=1, le=10_000)]
Tokens = Annotated[int, Field(ge=1, le=1_000_000_000)]


class InputShape(Shape):
    type: InputType = Field(default="string", description="string, number, boolean, array or object")
    required: bool = Field(default=False, description="Whether a run cannot start without it")
    default: JsonValue = Field(default=None, description="What it is when it is not given")
    description: str = Field(default="", description="What to write there, for the person who is asked")
    options: list[str | int | float | bool] | None = Field(
        default=None, validation_alias=AliasChoices("options", "enum"), description="The only values it may have"
    )


class ConfigShape(Shape):
    dir: str | None = Field(default=None, min_length=1, description="Where the files stand, seen from the project")
    channel: str | None = Field(default=None, min_length=1, description="The conversation, as a file to read")
    document: str | None = Field(default=None, min_length=1, description="The document that is read first")
    documents: list[Annotated[str, Field(min_length=1)]] | None = Field(default=None, description="Further documents")
    document_owner: str | bool | None = Field(default=None, description="Belongs one level higher")


class ContextShape(Shape):
    provider: Provider = Field(default="file", description="file, or memory for what is gone afterwards")
    document_owner: str | bool | None = Field(
        default=None, description="Who alone writes documents: an agent, elect (they vote), or none (everybody)"
    )
    config: ConfigShape | None = Field(default=None, description="Names of files")


class BudgetShape(Shape):
    cost: Amount = Field(default=None, description="Dollars")
    time: Longest = Field(default=None, description="Such as 30m")
    attempts: Count = Field(default=None, description="How often agents are started")
    tokens: Count = Field(default=None, description="Tokens in and out")
    turns: Count = Field(default=None, description="Turns of models")


class LimitsShape(Shape):
    hops: Count = Field(default=None, description="Messages of agents in one chain, each waking the next")
    ping_pong: Count = Field(default=None, description="Messages of two agents to each other while nobody else speaks")


class RetryShape(Shape):
    attempts: Annotated[int, Field(ge=1, le=100)] | None = Field(default=None, description="How often mail is tried")
    backoff: Duration | None = Field(default=None, description="How long to wait before the second attempt")
    multiplier: Annotated[float, Field(ge=1, le=100)] | None = Field(default=None, description="How the wait grows")


class PermissionsShape(Shape):
    edit: Answer = Field(default="ask", description="Changing files")
    shell: Answer = Field(default="ask", description="Running commands")
    network: Answer = Field(default="ask", description="Reaching the network")


class DefaultsShape(Shape):
    """What may be said for all agents at once."""

    backend: Backend | None = Field(default=None, description="What runs the agent")
    model: Model | Annotated[list[Model], Field(min_length=1)] | None = Field(
        default=None, description="provider/name, or a short name; of several, the first that answers"
    )
    system_prompt_mode: PromptMode | None = Field(
        default=None, description="Whether the prompt is added to the program's own, or replaces it"
    )
    tools: list[str] | None = Field(
        default=None, description="Groups, tools, and mcp:server; inbox and channel_send come with them"
    )
    permissions: Preset | PermissionsShape | None = Field(default=None, description="What it may do without asking")
    workspace: Workspace | None = Field(default=None, description="Where it works: shared, its own worktree, or none")
    budget: BudgetShape | None = Field(default=None, description="How much this agent may use")
    retry: RetryShape | None = Field(default=None, description="How a failed attempt is repeated")
    timeout: Duration | None = Field(default=None, description="How long one attempt may take")
    isolated: bool | None = Field(default=None, description="Private directories instead of your own login")
    resume: bool | None = Field(default=None, description="Keep the program's own conversation between attempts")
    max_turns: Turns | None = Field(default=None, description="Of a model in one attempt; 100 if not given")
    max_tool_calls_per_turn: Turns | None = Field(default=None, description="Of a model; 50 if not given")
    max_depth: Annotated[int, Field(ge=0, le=100)] | None = Field(
        default=None, description="Of agents that are called by agents; 5 if not given"
    )
    temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(
        default=None, description="How freely a model chooses its words"
    )
    max_output_tokens: Tokens | None = Field(
        default=None, description="Of one answer; if not given, what the model can"
    )
    context_window: Tokens | None = Field(
        default=None, description="Tokens of a whole conversation; if not given, what the model can"
    )
    base_url: Address | None = Field(default=None, description="An endpoint that speaks the provider's API")
    env: list[VariableName] | None = Field(
        default=None, description="Variables of the environment that its program gets, too"
    )


class ProjectShape(BaseModel):
    """The part of a project's configuration that concerns workflows."""

    model_config = ConfigDict(strict=True, frozen=True, defer_build=True)

    defaults: DefaultsShape | None = None
    models: ModelsShape | None = None
    mcp_servers: Servers | None = Field(default=None, validation_alias=spellings("mcp_servers"))


class RouterShape(Shape):
    destinations: SomeReferences = Field(description="Agents among whom it chooses")


class TeamShape(Shape):
    members: SomeReferences = Field(description="Agents that confer")
    supervisor: Reference = Field(description="The agent that reads what they say, and decides")
    member_max_turns: Turns | None = Field(default=None, description="Turns of each member")
    supervisor_max_turns: Turns | None = Field(default=None, description="Turns of the supervisor")


class FormatShape(Shape):
    format: FormatName | None = Field(default=None, description="markdown or json")
    json_schema: Mapping[str, JsonValue] | None = Field(
        default=None, validation_alias="schema", description="The JSON Schema that it follows"
    )


def _form(value: object) -> str:
    return "keys" if isinstance(value, Mapping | FormatShape) else "word"


FormatOrName = Annotated[
    Annotated[FormatName, Tag("word")] | Annotated[FormatShape, Tag("keys")], Discriminator(_form)
]  # told apart, or a mistake in one form would be taken for one in both


class WorkingShape(DefaultsShape):
    """What is said of one agent, wherever that stands."""

    description: str | None = Field(default=None, description="What it does, shown to the others")
    capabilities: list[str] | None = Field(default=None, description="What it can do; tasks may ask for it")
    agents: References | None = Field(default=None, description="Agents that it calls as tools")
    advisors: References | None = Field(default=None, description="Agents that are heard before it begins")
    handoff: Reference | None = Field(default=None, description="The agent that goes on with its report")
    router: RouterShape | None = Field(default=None, description="It chooses who answers in its place")
    team: TeamShape | None = Field(default=None, description="Agents that confer in its place")
    chat: bool | None = Field(default=None, description="Whether it may be asked again after its report")
    input: FormatOrName | None = Field(default=None, description="What it takes: markdown, or json")
    output: FormatOrName | None = Field(default=None, description="What it reports: markdown, or json")
    mcp_servers: Servers | None = Field(default=None, description="Servers whose tools it can be given, by name")
    answers: list[JsonValue] | str | None = Field(
        default=None, description="If its model is scripted: what it answers in turn, or a YAML file of that"
    )


class AgentFileShape(WorkingShape):
    """The head of an agent file; its text is the system prompt."""

    name: str | None = Field(default=None, description="For other programs; the workflow's name for it counts")


class AgentShape(WorkingShape):
    source: str | None = Field(
        default=None,
        validation_alias="from",
        min_length=1,
        description="An agent file; what is said here goes first",
    )
    system_prompt: str | None = Field(default=None, description="The prompt, or the path of a .md or .txt file")
    command: Annotated[list[str], Field(min_length=1)] | str | None = Field(
        default=None, description="If the backend is command: the program and its arguments, or a line for the shell"
    )
    transport: Transport | None = Field(default=None, description="If scripted: in process, or as a real MCP client")
    script: list[JsonValue] | str | None = Field(
        default=None, description="If scripted: the lines, or a YAML file of them"
    )


class SetupShape(Shape):
    shell: str = Field(min_length=1, description="A command; values of variables are quoted")
    name: VariableName | None = Field(
        default=None, validation_alias="as", description="The variable that what it prints becomes"
    )
    timeout: Duration | None = Field(default=None, description="How long it may take; 60s if not given")


class NotifyShape(Shape):
    shell: str = Field(min_length=1, description="A command")
    timeout: Duration | None = Field(default=None, description="How long it may take; 30s if not given")


class NeedShape(Shape):
    task: str = Field(min_length=1, description="The name of another task")
    type: Literal["blocks", "informs"] = Field(
        default="blocks", description="blocks: it must be done first; informs: its outcome is good to know"
    )


class TaskShape(Shape):
    name: str = Field(min_length=1, max_length=200, description="By which others refer to it")
    description: str = Field(default="", description="What is to be done, for whoever does it")
    depends_on: list[Annotated[str, Field(min_length=1)] | NeedShape] = Field(
        default_factory=list[str | NeedShape], max_length=1000, description="Tasks that have to be done first"
    )
    agent: Reference | None = Field(default=None, description="Who alone may do it")
    parallel_group: str | None = Field(default=None, min_length=1, description="Tasks that may be done side by side")
    estimated_complexity: Literal["low", "medium", "high"] | None = Field(default=None, description="How hard it is")
    files_likely_affected: list[str] = Field(default_factory=list[str], description="Files that it will change")
    capabilities: list[str] = Field(default_factory=list[str], description="What whoever does it must be able to do")
    checks: list[Mapping[str, JsonValue]] = Field(
        default_factory=list[Mapping[str, JsonValue]],
        description="What must hold before it counts as done: shell, file, schema or approval",
    )


class PlanShape(Shape):
    """A plan by itself, which can be applied more than once."""

    name: Annotated[str, Field(min_length=1, max_length=100)] | None = Field(
        default=None, description="The file's name if not given"
    )
    summary: str = Field(default="", description="What it is about")
    approach: str = Field(default="", description="How it is to be done")
    risks: list[str] = Field(default_factory=list[str], description="What may go wrong")
    assumptions: list[str] = Field(default_factory=list[str], description="What is taken for granted")
    inputs: Mapping[VariableName, InputShape | None] | None = Field(
        default=None, description="What is asked for: moot plan apply FILE --input name=value"
    )
    max_parallel_tasks: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=1, description="How many tasks are worked on at once"
    )
    auto_create_workspaces: bool = Field(default=False, description="A git worktree for every task that is claimed")
    tasks: Annotated[list[TaskShape], Field(min_length=1)] = Field(description="What is to be done")


FLOW_SECTIONS = (
    "imports",
    "default_state",
    "state_schema",
    "steps",
    "sub_agent_tasks",
    "error_handling",
    "on_resume",
)  # those of the engine; there is one spelling of each


def _flow(name: str, description: str) -> Any:
    """A section that the engine reads: what may stand in it is not known here."""
    return Field(default=None, validation_alias=name, description=description)


class FileShape(Shape):
    """A workflow: agents, what they share, what is said to them first; steps, and the state that they work on."""

    name: Annotated[str, Field(pattern=r"^\S(?:[^\x00-\x1f\x7f]*\S)?$", max_length=100)] | None = Field(
        default=None, description="The file's name if not given"
    )
    description: str | None = Field(default=None, description="What it is for")
    version: str | None = Field(default=None, description="Which one it is, as in 1.0.0")
    inputs: Mapping[VariableName, InputShape | None] | None = Field(
        default=None, description="What is asked for: moot run FILE --input name=value"
    )
    env: list[VariableName] | Mapping[VariableName, str | int | float | bool | None] | None = Field(
        default=None, description="Variables of the environment that may be read, with what stands in for them"
    )
    defaults: DefaultsShape | None = Field(default=None, description="For every agent that does not say otherwise")
    mcp_servers: Servers | None = Field(
        default=None, description="Servers whose tools its agents can be given, by name"
    )
    budget: BudgetShape | None = Field(default=None, description="How much the whole run may use")
    context: bool | ContextShape | None = Field(default=None, description="What the agents share; false turns it off")
    agents: Annotated[Mapping[str, AgentShape | None], Field(min_length=1)] | None = Field(
        default=None, description="Who takes part, by name; with steps alone, nobody has to"
    )
    setup: list[SetupShape] | None = Field(default=None, description="Commands that are run before anything is said")
    kickoff: str | None = Field(default=None, description="The first message; it wakes whom it mentions")
    tasks: Annotated[list[TaskShape], Field(max_length=5000)] | None = Field(
        default=None, description="The plan: tasks that the agents are given as they become ready"
    )
    max_parallel_tasks: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None, description="How many tasks are worked on at once; 1 if not given"
    )
    auto_create_workspaces: bool | None = Field(default=None, description="A git worktree for every task, to work in")
    together: bool | None = Field(default=None, description="Begin with the tasks while the agents talk")
    notify: Annotated[str, Field(min_length=1)] | NotifyShape | None = Field(
        default=None, description="A command that is run when a person is needed"
    )
    limits: LimitsShape | None = Field(default=None, description="When talk has gone on in circles for too long")
    result: str | None = Field(default=None, description="Printed at the end; with steps, {{ }} may stand in it")
    team: LedTeamShape | None = Field(
        default=None, description="The agents are a team: the kickoff is its goal, which its lead plans"
    )
    imports: JsonValue = _flow("imports", "Files whose workflows and tasks of sub-agents are known here")
    default_state: JsonValue = _flow("default_state", "What is in the state at the beginning")
    state_schema: JsonValue = _flow("state_schema", "The fields of the state, and what is computed from them")
    steps: JsonValue = _flow("steps", "What is done, one after the other")
    sub_agent_tasks: JsonValue = _flow("sub_agent_tasks", "What sub-agents do, by name: steps of their own")
    error_handling: JsonValue = _flow("error_handling", "What happens when a step has failed")
    on_resume: JsonValue = _flow("on_resume", "How it goes on after it has failed")
