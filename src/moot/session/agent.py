"""What an agent is to a session: plain records, wherever they were written down."""

from collections.abc import Mapping
from dataclasses import field
from datetime import timedelta

from moot.core.formats import MARKDOWN, Format
from moot.core.json import Json
from moot.core.permissions import PRESETS, Permissions
from moot.core.records import record
from moot.core.servers import Server
from moot.core.teams import Team


@record
class Limits:
    """They always hold, and always end in a report."""

    turns: int = 100  # requests; a session that needs more goes round in circles
    calls: int = 50  # of one turn
    depth: int = 5  # of sub-agents within sub-agents
    timeout: timedelta | None = None
    output_tokens: int | None = None  # of one answer; None: what the model can
    context_tokens: int | None = None  # of a whole conversation; None: what the model can


@record
class Agent:
    """One agent, with the names of those it works with."""

    name: str
    prompt: str = ""  # the system prompt
    description: str = ""
    models: tuple[str, ...] = ()  # the first that works is asked
    tools: tuple[str, ...] | None = None
    agents: tuple[str, ...] = ()  # sub-agents, which it calls as tools
    advisors: tuple[str, ...] = ()
    handoff: str | None = None
    router: tuple[str, ...] = ()  # destinations
    team: Team | None = None
    is_chatty: bool = False  # may be asked again after its report
    reports: bool = True  # by the tool `final_report`; False: what it says last is its report
    may_be_silent: bool = False  # it may end without a word: there are other ways to be heard
    limits: Limits = field(default_factory=Limits)
    temperature: float | None = None
    input: Format = MARKDOWN
    output: Format = MARKDOWN
    settings: Mapping[str, Json] = field(default_factory=dict[str, Json])  # what else its model needs
    permissions: Permissions = PRESETS["ask"]  # for tools that change files and run commands
    servers: tuple[Server, ...] = ()  # of others, which it is connected to


Cast = Mapping[str, Agent]  # everybody whom the first of them can reach, by name
