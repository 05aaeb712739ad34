"""Agent files: what they say is read, everybody they lead to is found, and what cannot be is told with its place."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from moot.core import yaml
from moot.core.formats import Format
from moot.core.teams import Team
from moot.workflow import reading, variables
from moot.workflow.finding import Folders
from moot.workflow.members import Flags
from moot.workflow.patterns import Patterns
from moot.workflow.reading import Surroundings
from moot.workflow.workflow import AgentDefinition, Backend, Fallback, Workflow, WorkflowInvalid

EVERYTHING = """---
name: for-others
description: decides
model: [sonnet, openai/gpt-5]
tools: [inbox]
agents: [search]
advisors: [wise, ./more/expert.md]
router:
  destinations: [bills]
max_turns: 7
max_tool_calls_per_turn: 8
max_depth: 0
temperature: 0.5
max_output_tokens: 900
context_window: 9000
timeout: 5m
chat: true
input: json
output: {format: json, schema: {type: object, required: [a]}}
permissions: read-only
---
You decide.
"""
CAMEL = """---
model: haiku
maxTurns: 7
maxToolCallsPerTurn: 8
maxDepth: 0
maxOutputTokens: 900
contextWindow: 9000
---
"""
TALKER = "---\nmodel: haiku\nchat: true\n---\n"


def write(folder: Path, **texts: str) -> None:
    """Files by their names; `more__expert` is `more/expert.md`. What has no head gets one."""
    for name, text in texts.items():
        file = folder / f"{name.replace('__', '/')}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text if text.startswith("---") else f"---\n{text}\n---\n")


def around(folder: Path, backend: Backend | None = None) -> Surroundings:
    folders = Folders((folder / ".moot", folder / "home"))
    return Surroundings(folders, flags=Flags(backend))


def load(folder: Path, name: str = "a", backend: Backend | None = None) -> Workflow:
    return reading.draft_agent(folder / f"{name}.md", around(folder, backend)).finish()


def told(error: WorkflowInvalid, folder: Path) -> list[str]:
    return [
        f"{one.file.removeprefix(f'{folder}/')}:{one.line}:{one.column}: {one.fact} {one.remedy}".replace(
            str(folder), "HERE"
        )
        for one in error.faults
    ]


def faults(folder: Path, name: str = "a", backend: Backend | None = None) -> list[str]:
    with pytest.raises(WorkflowInvalid) as caught:
        load(folder, name, backend)
    return told(caught.value, folder)


def load_workflow(folder: Path, text: str) -> Workflow:
    (folder / "flow.yaml").write_text(text)
    return reading.draft(folder / "flow.yaml", around(folder)).finish()


def workflow_faults(folder: Path, text: str) -> list[str]:
    with pytest.raises(WorkflowInvalid) as caught:
        load_workflow(folder, text)
    return told(caught.value, folder)


def test_everything_that_can_be_said_is_read_with_everybody_it_leads_to(tmp_path: Path) -> None:
    write(tmp_path, a=EVERYTHING, search="model: haiku", wise=TALKER, more__expert=TALKER, bills="model: haiku")
    found = load(tmp_path)
    (agent,) = found.agents
    assert agent.models == ("anthropic/sonnet", "openai/gpt-5")
    assert agent.fallbacks == (Fallback("openai/gpt-5"),)
    assert agent.patterns == Patterns(("search",), ("wise", "expert"), None, ("bills",))
    assert (agent.max_turns, agent.max_tool_calls_per_turn, agent.max_depth) == (7, 8, 0)
    assert (agent.temperature, agent.max_output_tokens, agent.context_window) == (0.5, 900, 9000)
    assert (agent.timeout, agent.is_chatty, agent.description) == (timedelta(minutes=5), True, "decides")
    assert agent.input == Format("json")
    assert agent.output == Format("json", {"type": "object", "required": ["a"]})
    assert (agent.permissions.spelling, agent.tools, agent.system_prompt) == ("read-only", ("inbox",), "You decide.")
    assert [one.name for one in found.cast] == ["search", "wise", "expert", "bills"]
    assert {one.backend for one in found.everybody.values()} == {"api"}


def test_keys_may_be_spelled_without_underscores(tmp_path: Path) -> None:
    team = "team: {members: [wise], supervisor: bills, memberMaxTurns: 3, supervisorMaxTurns: 4}"
    write(tmp_path, a=CAMEL, panel=team, wise=TALKER, bills="model: haiku")
    (agent,) = load(tmp_path).agents
    assert (agent.max_turns, agent.max_tool_calls_per_turn, agent.max_depth) == (7, 8, 0)
    assert (agent.max_output_tokens, agent.context_window) == (900, 9000)
    assert load(tmp_path, "panel").agents[0].patterns.team == Team(("wise",), "bills", 3, 4)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("handof: b", "a.md:3:1: `handof` is no key of this file. Did you mean `handoff`?"),
        ("maxTurn: 5", "a.md:3:1: `maxTurn` is no key of this file. Did you mean `max_turns`?"),
        (
            "team: {members: [b], supervisor: c, boss: d}",
            "a.md:3:37: `boss` is no key of `team`. Known are: member_max_turns, members, supervisor,",
        ),
        ("max_turns: 5\nmaxTurns: 6", "a.md:4:1: `maxTurns` and `max_turns` are the same key. Keep one."),
        (
            "team: {members: [b], supervisor: c, member_max_turns: 1, memberMaxTurns: 2}",
            "a.md:3:58: `memberMaxTurns` and `member_max_turns` are the same key. Keep one.",
        ),
        ("router: {}", "a.md:3:1: `destinations` is missing in `router`. Add it."),
        ("router: {destinations: []}", "a.md:3:24: `router.destinations` must"),
        ("team: {supervisor: b}", "a.md:3:1: `members` is missing in `team`. Add it."),
        ("team: {members: [], supervisor: b}", "a.md:3:17: `team.members` must"),
        ("team: {members: [b]}", "a.md:3:1: `supervisor` is missing in `team`. Add it."),
        ("max_turns: 0", "a.md:3:12: `max_turns` must be at least 1."),
        ("temperature: 3", "a.md:3:14: `temperature` must be at most 2."),
        ("temperature: hot", "a.md:3:14: `temperature` must be a number, not text."),
        ("chat: yes", "a.md:3:7: `chat` must be true or false, not text."),
        ("handoff: [b]", "a.md:3:10: `handoff` must be text, not a list."),
        ("agents: b", "a.md:3:9: `agents` must be a list, not text."),
        ("output: xml", "a.md:3:9: `output` must be one of markdown, json."),
        ("output: 5", "a.md:3:9: `output` must be one of markdown, json."),
        ("output: {format: xml}", "a.md:3:18: `output.format` must be one of markdown, json."),
        ("output: {shema: {}}", "a.md:3:10: `shema` is no key of `output`. Did you mean `schema`?"),
        (
            "output: {format: json, schema: {type: objekt}}",
            "a.md:3:39: `output.schema.type` is no JSON Schema: 'objekt' is not valid",
        ),
        (
            "output: {format: json, schema: {properties: {a: {$ref: '#/$defs/none'}}}}",
            "a.md:3:56: `output.schema.properties.a.$ref` leads nowhere: '#/$defs/none'.",
        ),
        (
            "input: {format: json, schema: {items: [], $ref: 'http://127.0.0.1:9/x.json'}}",
            "a.md:3:39: `input.schema.items` is no JSON Schema",
        ),
        (
            "input: {format: json, schema: {anyOf: [{$ref: 'http://127.0.0.1:9/x.json'}]}}",
            "a.md:3:47: `input.schema.anyOf item 1, $ref` leads nowhere: 'http://127.0.0.1:9/x.json'.",
        ),
        *(
            (
                f"input: {{format: json, schema: {{anyOf: [{{}}], type: object, $ref: '{to}'}}}}",
                f"a.md:3:65: `input.schema.$ref` leads nowhere: '{to}'.",
            )
            for to in ("#/type", "#/anyOf/x", "#/anyOf/1", "http://[", "other.json", "file:///etc/passwd")
        ),
        (
            "output: {format: json, schema: {properties: {default: {$ref: '#there'}}}}",
            "a.md:3:62: `output.schema.properties.default.$ref` leads nowhere: '#there'.",
        ),
        ("input: {format: markdown, schema: {}}", "a.md:3:27: `input`: only JSON has a schema. Write format: json."),
        ("input: {schema: [1]}", "a.md:3:17: `input.schema` must be keys and values, not a list."),
        ("answers: {say: x}", "a.md:3:10: `answers` must be"),
    ],
)
def test_a_mistake_in_the_head_is_told_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    write(tmp_path, a=f"model: haiku\n{text}", b=TALKER, c=TALKER)
    found = faults(tmp_path)
    assert len(found) == 1
    assert found[0].startswith(said)


@pytest.mark.parametrize("name", ["a", "b"])
def test_a_head_that_does_not_end_is_told_as_that(tmp_path: Path, name: str) -> None:
    write(tmp_path, a="model: haiku\nagents: [b]", b="model: haiku")
    (tmp_path / f"{name}.md").write_text("---\nmodel: haiku\nYou are.\n")
    fact = f"{name}.md:1:1: no second line `---` ends this head. Write it before the prompt."
    assert faults(tmp_path) == [fact]


def test_each_model_of_a_list_is_looked_at(tmp_path: Path) -> None:
    write(tmp_path, a="model: [haiku, palm/x]")
    assert faults(tmp_path)[0].startswith("a.md:2:16: `model item 2`: there is no provider `palm`.")
    write(tmp_path, a="model: []")
    assert faults(tmp_path)[0].startswith("a.md:2:8: `model` must")


def test_a_name_is_looked_for_beside_the_file_then_in_the_folders_of_project_and_person(tmp_path: Path) -> None:
    write(tmp_path, a="model: haiku\nagents: [b, c, d]")
    write(tmp_path, b="model: haiku\ndescription: beside", home__agents__b="model: haiku")
    write(tmp_path, **{".moot/agents/c": "model: haiku\ndescription: project", "home/agents/c": "model: haiku"})
    write(tmp_path, home__agents__d="model: haiku\ndescription: person")
    assert [one.description for one in load(tmp_path).cast] == ["beside", "project", "person"]


def test_a_name_is_meant_from_where_it_stands(tmp_path: Path) -> None:
    write(tmp_path, a="model: haiku\nhandoff: deep/b.md", deep__b="model: haiku\nhandoff: c")
    write(tmp_path, deep__c="model: haiku\ndescription: deep")
    found = load(tmp_path)
    assert found.agents[0].patterns.handoff == "b"
    assert [(one.name, one.description) for one in found.cast] == [("b", ""), ("c", "deep")]


def test_whoever_is_not_found_is_told_with_the_nearest_and_where_was_looked(tmp_path: Path) -> None:
    write(tmp_path, a="model: haiku\nhandoff: biling\nadvisors: [wise,\n  nobody]", wise=TALKER)
    write(tmp_path, home__agents__billing="model: haiku")
    assert faults(tmp_path) == [
        (
            "a.md:3:10: `handoff`: there is no agent `biling`. "
            "Did you mean `billing`? Looked in HERE, .moot/agents and ~/.moot/agents."
        ),
        (
            "a.md:5:3: `advisors item 2`: there is no agent `nobody`. "
            "Looked in HERE, .moot/agents and ~/.moot/agents."
        ),
    ]  # fmt: skip
    write(tmp_path, a="model: haiku\nhandoff: deep/b")
    assert faults(tmp_path) == ["a.md:3:10: `handoff`: there is no agent `deep/b`. Looked in HERE."]


@pytest.mark.parametrize("name", [".", "..", "/", "~nobody/x", "y" * 200, "./", "~", "-", "a/../../..", "*"])
def test_no_name_is_too_odd_to_be_looked_for(tmp_path: Path, name: str) -> None:
    write(tmp_path, a=f"model: haiku\nhandoff: {name!r}".replace("'", '"'))
    (found,) = faults(tmp_path)
    assert found.startswith("a.md:3:10: `handoff`: there is no agent `")


def test_a_name_with_a_nul_in_it_is_refused_where_it_stands(tmp_path: Path) -> None:
    write(tmp_path, a='model: haiku\nhandoff: "x\\0y"')
    assert faults(tmp_path) == ["a.md:3:10: this text holds a NUL character. Leave it out."]


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    write(tmp_path, a="model: haiku\nagents: [b, deep/c.md]", b="model: haiku\nagents: [c]")
    write(tmp_path, c="model: haiku", deep__c="model: haiku")
    assert faults(tmp_path) == [
        "b.md:3:10: `agents item 1`: `c` may be HERE/c.md or HERE/deep/c.md. Give one of them another name."
    ]


def test_what_is_wrong_with_somebody_it_leads_to_is_told_with_that_file(tmp_path: Path) -> None:
    write(tmp_path, a="model: haiku\nhandoff: b", b="model: haiku\nhandoff: c\nmodle: x", c="---\nmodel: [\n---\n")
    found = faults(tmp_path)
    assert found[0] == "b.md:4:1: `modle` is no key of this file. Did you mean `model`?"
    assert found[1].startswith("c.md:3:1: this is not YAML: ")
    write(tmp_path, b="modle: haiku", c="model: haiku")
    assert faults(tmp_path) == ["b.md:2:1: `modle` is no key of this file. Did you mean `model`?"]
    write(tmp_path, b="description: x")
    assert faults(tmp_path)[0].startswith(
        "b.md:1:1: `agents.b` has neither a model nor a backend, answers or a script."
    )


def test_a_team_speaks_with_the_models_of_others(tmp_path: Path) -> None:
    write(tmp_path, a="team: {members: [b], supervisor: c}", b=TALKER, c="model: haiku")
    assert load(tmp_path).agents[0].models == ()


def test_what_is_said_for_all_agents_may_be_said_where_one_has_a_team(tmp_path: Path) -> None:
    write(tmp_path, a="team: {members: [b], supervisor: c}", b=TALKER, c="model: haiku")
    file = tmp_path / "w.yaml"
    file.write_text("defaults: {tools: [files], max_turns: 5}\nagents: {a: {from: a.md}}\nkickoff: '@a go'\n")
    assert reading.draft(file, around(tmp_path)).finish().agents[0].max_turns == 5


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (
            {"a": "handoff: b", "b": "agents: [c]", "c": "chat: true\nadvisors: [a]"},
            "c.md:4:12: `advisors item 1`: this leads in a circle: a → b → c → a. Leave out one of these steps.",
        ),
        ({"a": "handoff: a"}, "a.md:3:10: `handoff`: this leads in a circle: a → a."),
        (
            {"a": "router: {destinations: [b]}", "b": "team: {members: [c], supervisor: a}", "c": "chat: true"},
            "b.md:3:34: `team.supervisor`: this leads in a circle: a → b → a.",
        ),
        (
            {"a": "handoff: b\nrouter: {destinations: [b]}", "b": ""},
            "a.md:3:1: an agent with a router has no `handoff`: the one it chooses goes on. Leave one of them out.",
        ),
        (
            {"a": "router: {destinations: [b]}\nteam: {members: [c], supervisor: b}", "b": "", "c": "chat: true"},
            "a.md:3:1: an agent with a team has no `router`: its team works in its place.",
        ),
        (
            {"a": "agents: [b]\nteam: {members: [c], supervisor: b}", "b": "", "c": "chat: true"},
            "a.md:3:1: an agent with a team calls no `agents`: its team works in its place.",
        ),
        (
            {"a": "output: json\nteam: {members: [c], supervisor: b}", "b": "", "c": "chat: true"},
            "a.md:3:1: an agent with a team has no `output`: its supervisor says what it reports. Leave one of them",
        ),
        (
            {"a": "max_turns: 4\nteam: {members: [c], supervisor: b}", "b": "", "c": "chat: true"},
            "a.md:3:1: an agent with a team has no `max_turns`: `member_max_turns` and `supervisor_max_turns` of its",
        ),
        (
            {"a": "tools: [shell]\nteam: {members: [c], supervisor: b}", "b": "", "c": "chat: true"},
            "a.md:3:1: an agent with a team has no `tools`: its team works in its place.",
        ),
        (
            {"a": "advisors: [b]", "b": ""},
            (
                "a.md:3:12: `advisors item 1`: `b` is to be an advisor, and does not let itself be asked again. "
                "Write chat: true in b.md."
            ),
        ),
        (
            {"a": "team: {members: [b], supervisor: c}", "b": "", "c": ""},
            "a.md:3:18: `team.members item 1`: `b` is to be a member of the team, and does not let itself be asked",
        ),
        (
            {"a": "team: {members: [b], supervisor: d}", "b": "chat: true\nhandoff: c", "c": "", "d": ""},
            (
                "a.md:3:18: `team.members item 1`: `b` ends with `c`, which is to be a member of the team, and does "
                "not let itself be asked again. Write chat: true in c.md."
            ),
        ),
        (
            {"a": "team: {members: [b, b], supervisor: c}", "b": "chat: true", "c": ""},
            "a.md:3:21: `team.members item 2`: `b` is a member of the team already. Name it once.",
        ),
        (
            {"a": "team: {members: [b], supervisor: b}", "b": "chat: true"},
            "a.md:3:34: `team.supervisor`: `b` is a member, and cannot supervise itself.",
        ),
        (
            {"a": "agents: [b, ./b.md]", "b": ""},
            "a.md:3:13: `agents item 2`: `b` is a sub-agent already. Name it once.",
        ),
        (
            {"a": "router: {destinations: [b, b]}", "b": ""},
            "a.md:3:28: `router.destinations item 2`: `b` is a destination already. Name it once.",
        ),
        (
            {"a": "handoff: b", "b": "input: json"},
            "a.md:3:10: `handoff`: `a` hands over to `b`: its output is markdown, and that one takes json.",
        ),
        (
            {
                "a": "handoff: b\nteam: {members: [c], supervisor: d}",
                "b": "input: json",
                "c": "chat: true",
                "d": "",
            },
            "a.md:3:10: `handoff`: `a` hands over to `b`: its output is markdown, and that one takes json.",
        ),
        (
            {"a": "router: {destinations: [b]}", "b": "input: json"},
            "a.md:3:25: `router.destinations item 1`: `b` is a destination: it is given words, and takes json.",
        ),
        (
            {"a": "team: {members: [b], supervisor: c}", "b": "chat: true", "c": "input: json"},
            "a.md:3:34: `team.supervisor`: `c` is a supervisor: it is given words, and takes json.",
        ),
        (
            {
                "a": "team: {members: [b], supervisor: c}",
                "b": "chat: true",
                "c": "handoff: d",
                "d": "team: {members: [b], supervisor: e}",
                "e": "",
            },
            "a.md:3:34: `team.supervisor`: `d` has a team of its own, and would not hear the members of this one.",
        ),
        (
            {"a": "advisors: [b]", "b": "chat: true\ninput: json"},
            "a.md:3:12: `advisors item 1`: `b` is asked what `a` is asked: its input is markdown, and that one takes",
        ),
        (
            {
                "a": "input: json\nadvisors: [b]",
                "b": "chat: true\ninput: {format: json, schema: {type: object, required: [id]}}",
            },
            "a.md:4:12: `advisors item 1`: `b` is asked what `a` is asked: that one requires `id`, which its input",
        ),
    ],
)
def test_what_cannot_be_is_told_before_anything_runs(tmp_path: Path, texts: dict[str, str], said: str) -> None:
    write(tmp_path, **{name: f"model: haiku\n{text}" for name, text in texts.items()})
    found = faults(tmp_path)
    assert len(found) == 1
    assert found[0].startswith(said)


def test_a_member_may_be_a_chain_or_a_router_whose_ends_can_be_asked_again(tmp_path: Path) -> None:
    write(tmp_path, a="team: {members: [b, d], supervisor: e}", b="model: haiku\nhandoff: c", c=TALKER)
    write(tmp_path, d="model: haiku\nrouter: {destinations: [c]}", e="model: haiku")
    assert len(load(tmp_path).cast) == 4


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (
            "model: haiku\nbackend: claude\nhandoff: b",
            "model: haiku",
            (
                "a.md:3:10: `a` works with others, which needs the backend api, and it runs on claude. "
                "Write backend: api, or give it answers."
            ),
        ),
        (
            "model: haiku\nhandoff: b",
            "model: haiku\nbackend: codex",
            "b.md:2:8: `model`: `anthropic/haiku` is no model of codex.",
        ),
        (
            "model: haiku\nagents: [b]",
            "backend: human",
            "b.md:2:10: `b` is a sub-agent, which needs the backend api, and it runs on human.",
        ),
        (
            "model: haiku\nhandoff: b",
            "backend: scripted",
            "b.md:2:10: `b` is who goes on, which needs the backend api, and it runs by a script.",
        ),
        (
            "model: [haiku, opus]\nbackend: claude",
            "model: haiku",
            "a.md:3:10: `a` has several models, which needs the backend api, and it runs on claude.",
        ),
    ],
)
def test_only_models_work_with_others(tmp_path: Path, a: str, b: str, said: str) -> None:
    write(tmp_path, a=a, b=b)
    assert faults(tmp_path)[0].startswith(said)


def test_a_flag_makes_nobody_else_of_those_who_work_together(tmp_path: Path) -> None:
    write(tmp_path, a="model: haiku\nbackend: api\nhandoff: b", b="model: haiku")
    assert [one.split(": ")[0] for one in faults(tmp_path, backend="claude")] == ["a.md:4:10"] * 2
    assert load(tmp_path, backend="api").agents[0].backend == "api"


def test_a_scripted_model_needs_nothing_else(tmp_path: Path) -> None:
    write(tmp_path, a="handoff: b\nanswers: [{say: hi}]", b="model: haiku\nanswers: lines.yaml")
    (tmp_path / "lines.yaml").write_text("- say: ho\n")
    a, b = load(tmp_path).everybody.values()
    assert (a.backend, a.answers, b.backend, b.answers) == ("scripted", ({"say": "hi"},), "scripted", ({"say": "ho"},))
    write(tmp_path, b="model: haiku\nbackend: api\nanswers: [{say: ho}]")
    assert faults(tmp_path) == ["b.md:4:10: `answers`: only scripted agents have one, and this is api. Leave it out."]


def test_a_workflow_says_the_same_and_goes_before_the_file(tmp_path: Path) -> None:
    write(tmp_path, a="model: haiku\nhandoff: b\nanswers: [{say: hi}]", b="model: haiku")
    text = """
agents:
  lead: {from: a.md, backend: api, handoff: c, maxDepth: 2}
  c: {model: opus, agents: [b], output: {format: json, schema: {type: object}}}
"""
    found = load_workflow(tmp_path, text)
    lead, c = found.agents
    assert (lead.patterns.handoff, lead.max_depth, lead.backend, lead.answers) == ("c", 2, "api", ())
    assert (c.backend, c.output) == ("api", Format("json", {"type": "object"}))
    assert found.cast == (AgentDefinition("b", "api", "anthropic/haiku"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "agents:\n  lead: {model: haiku, handoff: coda}\n  coder: {model: haiku}",
            (
                "flow.yaml:2:33: `agents.lead.handoff`: there is no agent `coda`. Did you mean `coder`? Looked among "
                "the agents of the workflow, and in HERE, .moot/agents and ~/.moot/agents."
            ),
        ),
        (
            "agents:\n  lead: {model: haiku, handoff: coder}\n  coder: {model: haiku, handoff: lead}",
            "flow.yaml:3:34: `agents.coder.handoff`: this leads in a circle: lead → coder → lead.",
        ),
        (
            "agents:\n  lead: {model: haiku, advisors: [coder]}\n  coder: {model: haiku}",
            (
                "flow.yaml:2:35: `agents.lead.advisors item 1`: `coder` is to be an advisor, and does not let itself "
                "be asked again. Write chat: true in agents.coder."
            ),
        ),
        (
            "defaults: {backend: claude, model: haiku}\nagents:\n  lead: {handoff: coder}\n  coder: {backend: api}",
            "flow.yaml:1:21: `lead` works with others, which needs the backend api, and it runs on claude.",
        ),
        (
            "agents:\n  lead: {model: haiku, handoff: coder}\n  coder: {script: [{say: hi}]}",
            "flow.yaml:3:19: `coder` is who goes on, which needs the backend api, and it runs by a script.",
        ),
        (
            "agents:\n  lead: {from: a.md}\n  b: {model: opus}",
            "a.md:3:10: `handoff`: `b` may be HERE/b.md or an agent of this workflow. Give one of them another name.",
        ),
        (
            "agents:\n  lead: {from: a.md, router: {destinations: [c]}}\n  c: {model: opus}",
            "a.md:3:1: an agent with a router has no `handoff`",
        ),
        (
            "agents:\n  lead: {model: haiku, chat: true, handof: b}",
            "flow.yaml:2:36: `handof` is no key of `agents.lead`. Did you mean `handoff`?",
        ),
    ],
)
def test_the_same_mistakes_are_found_in_a_workflow(tmp_path: Path, text: str, said: str) -> None:
    write(tmp_path, a="model: haiku\nhandoff: b", b="model: haiku")
    found = workflow_faults(tmp_path, text)
    assert len(found) == 1
    assert found[0].startswith(said)


def test_an_agent_of_the_workflow_stands_for_its_own_file(tmp_path: Path) -> None:
    write(tmp_path, a="model: haiku\nhandoff: b", b="model: haiku")
    found = load_workflow(tmp_path, "agents:\n  lead: {from: a}\n  b: {from: b.md, model: opus}")
    assert [one.model for one in found.agents] == ["anthropic/haiku", "anthropic/opus"]
    assert found.cast == ()


def test_what_the_workflow_names_is_its_own_agent_whatever_files_there_are(tmp_path: Path) -> None:
    write(tmp_path, b="You are b.")
    text = "agents:\n  lead: {model: haiku, agents: [b]}\n  b: {model: opus, system_prompt: b.md}"
    assert load_workflow(tmp_path, text).cast == ()


def test_variables_in_the_prompts_of_everybody_are_checked(tmp_path: Path) -> None:
    write(tmp_path, b="---\nmodel: haiku\n---\nIn ${{ instance }} and ${{ nothing }}.")
    (found,) = workflow_faults(tmp_path, "agents: {lead: {model: haiku, handoff: b}}")
    assert found.startswith("b.md:4:24: there is no variable `nothing`.")


def test_what_their_prompts_ask_of_the_environment_is_taken_along(tmp_path: Path) -> None:
    write(tmp_path, b="---\nmodel: haiku\n---\nFor ${{ env.WHOM }}.")
    found = load_workflow(tmp_path, "env: {WHOM: nobody}\nagents: {lead: {model: haiku, handoff: b}}")
    assert variables.values(found, "default", {}, {"WHOM": "ann"})["env.WHOM"] == "ann"


def test_the_configuration_speaks_of_agent_files_too(tmp_path: Path) -> None:
    write(tmp_path, a="handoff: b", b="model: haiku")
    config = yaml.read("defaults: {model: opus, max_turns: 9}", "config.yaml")
    found = reading.draft_agent(tmp_path / "a.md", replace(around(tmp_path), configs=(config,))).finish()
    assert [(one.model, one.max_turns) for one in found.everybody.values()] == [
        ("anthropic/opus", 9), ("anthropic/haiku", 9),
    ]  # fmt: skip


def test_too_many_agents_are_refused(tmp_path: Path) -> None:
    for at in range(202):
        write(tmp_path, **{f"a{at}": f"model: haiku\nhandoff: a{at + 1}"})
    write(tmp_path, a202="model: haiku")
    assert faults(tmp_path, "a0")[0].startswith("a200.md:3:10: `handoff`: this leads to more than 200 agents.")
