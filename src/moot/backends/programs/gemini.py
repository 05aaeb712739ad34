"""Gemini CLI, without a terminal: the prompt by standard input, events as lines.

It takes our server only from a settings file in its home, so it gets a home of its own in the attempt's folder. It
cannot ask for permission, and it keeps no conversation that could be named.
"""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from moot.backends.backend import Assignment, Briefing, Called, Usage, Warned, Wrote
from moot.backends.programs import at_signs, counting, faults, fields, gemini_home, known, surroundings
from moot.backends.programs.counting import Tariff
from moot.backends.programs.gemini_home import SERVER
from moot.backends.programs.launch import Event, Launch, Outcome, Reader, Spoken, headed
from moot.backends.programs.surroundings import Needs
from moot.core import json
from moot.core.json import Json
from moot.core.permissions import Answer, Permissions

_NEEDS = Needs(
    known.GEMINI,
    variables=(
        "GOOGLE_CLOUD_LOCATION",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_GEMINI_BASE_URL",
    ),
    users=(gemini_home.VARIABLE, "GOOGLE_APPLICATION_CREDENTIALS"),
    account=(
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_GENAI_USE_GCA",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_VERTEX_BASE_URL",
    ),
    settings={"GEMINI_CLI_NO_RELAUNCH": "1"},
)
_EDIT = ("replace", "write_file")
_SHELL = ("run_shell_command",)
_NETWORK = ("google_web_search", "web_fetch")


class Gemini:
    """`gemini`, from npm."""

    name: ClassVar[str] = "gemini"
    forgotten: ClassVar[str] = ""

    def launch(self, assignment: Assignment, briefing: Briefing, parent: Mapping[str, str]) -> Launch:
        manner = assignment.manner
        env = surroundings.surround(assignment, _NEEDS, parent)
        if manner.base_url is not None:
            key = surroundings.own_key(manner)
            env |= {"GOOGLE_GEMINI_BASE_URL": manner.base_url, "GEMINI_API_KEY": env[key] if key else "none"}
        found = surroundings.find(known.GEMINI, assignment, env)
        env |= gemini_home.make(assignment, env)
        rules = surroundings.write(assignment.folder, "policy.toml", _rules(manner.permissions))
        prompt = briefing.prompt if manner.replaces_system_prompt else headed(briefing)
        if briefing.system_prompt and manner.replaces_system_prompt:
            place = surroundings.write(assignment.folder, "system-prompt.md", briefing.system_prompt)
            env["GEMINI_SYSTEM_MD"] = str(place)
        name = surroundings.model_name(manner.model, ("google", "gemini"))
        argv = (
            *found,
            *("--output-format", "stream-json", "--skip-trust", "--allowed-mcp-server-names", SERVER),
            *("--policy", str(rules)),
            *(("--model", name) if name else ()),
        )
        return Launch(
            argv,
            env,
            at_signs.literal(prompt).encode(),
            GeminiReader(counting.tariff(manner, "google")),
            secrets=surroundings.secrets(env, assignment, _NEEDS),
            warnings=(
                *known.GEMINI.denied(manner.permissions),
                *(("gemini keeps no conversation from one attempt to the next.",) if manner.keeps_conversation else ()),
            ),
        )


def _rules(permissions: Permissions) -> str:
    """Our tools always; the others as permitted. What would have to be asked for is denied."""
    answers: tuple[tuple[Answer, tuple[str, ...]], ...] = (
        (permissions.edit, _EDIT),
        (permissions.shell, _SHELL),
        (permissions.network, _NETWORK),
    )
    rules = [f'[[rule]]\ntoolName = "*"\nmcpName = "{SERVER}"\ndecision = "allow"\npriority = 999\n']
    for answer, names in answers:
        decision = "allow" if answer == "allow" else "deny"
        rule = f'[[rule]]\ntoolName = {json.dumps(names)}\ndecision = "{decision}"\npriority = 998\n'
        # A command with a `>` in it would be asked for all the same.
        rules.append(f"{rule}allowRedirection = true\n" if names == _SHELL and answer == "allow" else rule)
    return "\n".join(rules)


class GeminiReader(Reader):
    """Reads the events of one run."""

    def __init__(self, tariff: Tariff) -> None:
        self._tariff = tariff
        self._text: list[str] = []
        self._calls: dict[str, str] = {}

    def read(self, event: Event) -> Iterator[Spoken]:
        match event.get("type"):
            case "message" if event.get("role") == "assistant":
                self._text.append(fields.text(event, "content"))
                yield Wrote(self._text[-1])
            case "tool_use":
                self._text.clear()  # what was said before a tool is not the answer
                name = fields.text(event, "tool_name").removeprefix(f"mcp_{SERVER}_")
                self._calls[fields.text(event, "tool_id")] = name
            case "tool_result":
                name = self._calls.pop(fields.text(event, "tool_id"), "")
                yield Called(name, event.get("status") != "success")
            case "error":
                yield Warned(f"gemini: {fields.text(event, 'message')}")
            case "result":
                self.end = event
            case _:
                pass

    def outcome(self) -> Outcome | None:
        if self.end is None:
            return None
        usage = self._used(fields.part(self.end, "stats"))
        if self.end.get("status") == "success":
            return Outcome(text="".join(self._text), usage=usage)
        error = fields.text(fields.part(self.end, "error"), "message") or "it failed and did not say why"
        failure = "limit" if "max session turns" in error else faults.by_words(error) or "error"
        return Outcome(failure, error, usage=usage)

    def _used(self, stats: Mapping[str, Json]) -> Usage:
        """Each model that it asked has its own price."""
        told = fields.part(stats, "models")
        models = {name: one for name, one in told.items() if isinstance(one, Mapping)} or {"": stats}
        used = Usage(turns=1, is_estimated=True)
        for name, one in models.items():
            tokens = Usage(fields.count(one, "input_tokens"), fields.count(one, "output_tokens"), is_estimated=True)
            used += self._tariff.estimate(tokens, fields.count(one, "cached"), name)
        return used
