"""Before anything is spent: agents that may have to ask before they act need somebody who can answer, and those that
run commands unasked a system that confines them."""

from collections.abc import Iterable, Mapping, Sequence

from moot.app.choosing import Choice
from moot.core import workspace_tools
from moot.core.errors import InvalidInput
from moot.core.permissions import PRESETS
from moot.process import confinement
from moot.process.errors import NotConfined
from moot.workflow.workflow import AgentDefinition

_UNASKING = " or ".join(f"--permissions {name}" for name, preset in PRESETS.items() if not preset.asks)
_LED = "Have it led by your own agent, which answers: --lead external."
_KEPT = "Keep it running with moot start, and answer by moot approve."


class NobodyToAsk(InvalidInput):
    """An agent may have to ask, and nobody can answer."""

    code = "NOBODY_TO_ASK"


def asking(agents: Sequence[AgentDefinition], choices: Mapping[str, Choice]) -> tuple[AgentDefinition, ...]:
    """Who may have to ask and can. Others have moot's tools and no more, or are denied what they would ask for."""
    return tuple(
        one
        for one in agents
        if _asking_tools(one) or (one.permissions.asks and choices[one.name].can_ask) or _asking_servers(one)
    )


def _asking_tools(agent: AgentDefinition) -> list[str]:
    """Of a session: for files and commands."""
    return [name for name in _chosen(agent) if workspace_tools.answer(name, agent.permissions) == "ask"]


def _asking_servers(agent: AgentDefinition) -> list[str]:
    return [one.name for one in agent.servers if one.ask]


def refusal(agents: Sequence[AgentDefinition], *, is_team: bool = False, is_question: bool = False) -> NobodyToAsk:
    """`is_question`: to an agent file, which nothing keeps running."""
    lines = [f"  {one.name}: {_why(one)}" for one in agents]
    fact = "\n".join(["Some agents may have to ask before they act, and nobody is there to answer:", *lines])
    by_servers = all(_asking_servers(one) for one in agents)  # which no permissions change
    remedies = (
        "Write their tools under `allow` or `deny`." if by_servers else f"Decide beforehand with {_UNASKING}.",
        "Run it on a terminal.",
        *([_LED] if is_team else [] if is_question else [_KEPT]),
        "Say by `notify` how you are told.",
    )
    return NobodyToAsk(fact, "\n".join(remedies))


def _why(agent: AgentDefinition) -> str:
    """Of servers, what no permissions change."""
    if found := _asking_servers(agent):
        return f"it has to ask for tools of the MCP server {', '.join(found)}, by `ask` in its declaration"
    asked = ", ".join(_asking_tools(agent) or agent.permissions.asked)
    return f"permissions are {agent.permissions.spelling}, so it may have to ask for {asked}"


def unconfined(agents: Iterable[AgentDefinition]) -> tuple[str, ...]:
    """Whose commands have all rights of the user."""
    found = tuple(one.name for one in agents if "shell" in _chosen(one) and one.permissions.shell != "deny")
    return () if not found or confinement.is_on() else found


def unconfined_refusal(agents: Iterable[AgentDefinition]) -> NotConfined | None:
    """Of those who would not even ask, unless the person is content with it."""
    free = [one for one in agents if one.permissions.shell == "allow"]
    found = unconfined(free)
    if not found or confinement.is_waived():
        return None
    return NotConfined(
        f"Commands cannot be confined on this system, and these agents run them without asking: {', '.join(found)}.",
        f"Write permissions: {{shell: ask}}.\nSet {confinement.SETTING}=unconfined, and they have all your rights.",
    )


def _chosen(agent: AgentDefinition) -> tuple[str, ...]:
    return workspace_tools.chosen(agent.tools or ())
