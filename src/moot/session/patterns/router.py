"""Router: an agent that finds out who should answer, and passes the request on. If it reports instead, it has answered
itself."""

from collections.abc import Mapping, Sequence

from moot.core.json import Json
from moot.models.model import ToolSpec
from moot.session import forms
from moot.session.agent import Agent, Cast
from moot.session.errand import Errand
from moot.session.forms import Form
from moot.session.report import Report, Route
from moot.session.source import Outcome, Unrecorded

NAME = "handoff_to"


class _Choice(Form):
    agent: str
    message: str | None = None


class HandoffTo(Unrecorded):
    """The way out of a router, until it has answered itself: who is asked again afterwards is asked for that."""

    is_final = True

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._is_open = True
        self._chosen: dict[str, str] = {}  # by the turn: who hears something later may choose anew

    def close(self) -> None:
        self._is_open = False

    def specs(self) -> Sequence[ToolSpec]:
        if not self._is_open:
            return ()
        schema: Mapping[str, Json] = {
            "type": "object",
            "properties": {
                "agent": {"type": "string", "enum": list(self._agent.router)},
                "message": {"type": "string", "description": "What the next agent should know, if anything."},
            },
            "required": ["agent"],
        }
        words = "Pass the request on to the agent that should answer it. This ends your work."
        return (ToolSpec(NAME, words, schema),)

    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> Outcome:
        form = forms.read(_Choice, arguments)
        if isinstance(form, str):
            return Outcome(f"Nothing was passed on: {form}. Call it again.", is_error=True)
        if form.agent not in self._agent.router:
            known = ", ".join(self._agent.router)
            fact = f"there is no destination {form.agent[:80]!r}. There are: {known}."
            return Outcome(f"Nothing was passed on: {fact}", is_error=True)
        turn = path.rpartition("/")[0]
        if turn in self._chosen:
            return Outcome(f"Nothing was passed on: it was passed on to {self._chosen[turn]} already.", is_error=True)
        self._chosen[turn] = form.agent
        return Outcome("passed on", report=Report("", self._agent.name, route=Route(form.agent, form.message or "")))


def following(errand: Errand, report: Report, cast: Cast) -> Errand | None:
    """Whom the router chose, with the request as it came to the router, not as its advisors saw it."""
    if report.route is None:
        return None
    prompt = f"## ORIGINAL USER REQUEST\n\n{errand.prompt}"
    if report.route.message.strip():
        heading = f"## MESSAGE FROM AGENT `{errand.agent.name}` WHO ROUTED THIS REQUEST TO YOU"
        prompt = f"{prompt}\n\n{heading}\n\n{report.route.message}"
    return errand.instead(cast[report.route.agent], prompt, "router")
