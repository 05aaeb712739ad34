"""Reports: the tool with which a session ends, what shape a report must have, and how it is kept."""

from collections.abc import Mapping, Sequence
from typing import Literal, cast

from moot.core import json, unambiguous
from moot.core.errors import MootError
from moot.core.formats import MARKDOWN, Format
from moot.core.json import Json
from moot.models.model import ToolSpec
from moot.process import fitting
from moot.session import forms, schemas
from moot.session.agent import Agent
from moot.session.forms import Form
from moot.session.report import Failure, Report
from moot.session.source import Outcome, Unrecorded

NAME = "final_report"
_WORDS = "End your work with this report. It is all that is passed on: nothing else you said is."


class _Report(Form):
    report: object
    status: Literal["success", "failure"] | None = None


class FinalReport(Unrecorded):
    """The way out."""

    is_final = True

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._specs = (_WORDS_SPEC if agent.output.kind == "markdown" else _spec(agent.output),)

    def specs(self) -> Sequence[ToolSpec]:
        return self._specs

    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> Outcome:
        form = forms.read(_Report, arguments)
        if isinstance(form, str):
            return Outcome(f"Nothing was reported: {form}. Call it again.", is_error=True)
        said = cast(Json, form.report)
        text = said if isinstance(said, str) else json.dumps(said)
        if not text.strip():
            return Outcome("Nothing was reported: the report is empty.", is_error=True)
        wrong = await fault(text, self._agent.output)
        if wrong is not None:
            return Outcome(f"Nothing was reported: {wrong}. Call it again.", is_error=True)
        if form.status == "failure":
            return Outcome("reported", report=Report(text, self._agent.name, "reported", text))
        return Outcome("reported", report=Report(text, self._agent.name))


def _spec(output: Format) -> ToolSpec:
    report: Mapping[str, Json] = {"type": "string", "description": "In Markdown."}
    if output.kind == "json":
        report = schemas.within(output.schema, "report") if output.schema else {"type": "object"}
    status: Json = {
        "type": "string",
        "enum": ["success", "failure"],
        "default": "success",
        "description": "failure: what was asked could not be done, and the report says why",
    }
    schema: Mapping[str, Json] = {
        "type": "object",
        "properties": {"report": report, "status": status},
        "required": ["report"],
    }
    return ToolSpec(NAME, _WORDS, schema)


_WORDS_SPEC = _spec(MARKDOWN)  # of nearly everybody, so that it is made and counted once


async def fault(text: str, shape: Format) -> str | None:
    """What is wrong with a report of this shape."""
    if shape.kind == "markdown":
        return None
    try:
        found = unambiguous.loads(text)
    except MootError as error:
        return f"it is no JSON ({error.fact.rstrip('.')})"
    return None if shape.schema is None else await fitting.mismatch(found, shape.schema)


def plain(report: Report) -> Json:
    found: dict[str, Json] = {"text": report.text, "agent": report.agent}
    return found if report.failure is None else found | {"failure": report.failure, "error": report.error}


def load(found: Json) -> Report:
    """Of one that is on record, and has failed."""
    data = cast(Mapping[str, str], found)
    return Report(data["text"], data["agent"], cast(Failure, data["failure"]), data["error"])
