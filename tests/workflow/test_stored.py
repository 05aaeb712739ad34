"""What is stored with a run is everything it needs."""

from pathlib import Path

from moot.core import json
from moot.core.formats import Format
from moot.core.records import replace
from moot.workflow import reading, shell, stored, templates, variables
from moot.workflow.patterns import Patterns
from moot.workflow.workflow import AgentDefinition, Input

FILE = """
name: fix
inputs: {issue: {type: number, required: true}, files: {type: array, default: [a, b]}}
env: {HOME: /nowhere}
defaults: {permissions: edit, timeout: 90s}
budget: {cost: 5, time: false}
context: {provider: memory, document_owner: scribe, config: {document: plan.md, documents: [todo.md]}}
agents:
  lead: {model: sonnet, permissions: {shell: deny}, system_prompt: lead.md, budget: {attempts: 3}}
  scribe: {script: [{on: hi, say: "yes", takes: 1s}], retry: {attempts: 2, backoff: 500ms}}
  ana: {backend: human}
  desk: {model: [haiku, opus], handoff: closer, output: {schema: {type: object}}}
  panel: {team: {members: [wise], supervisor: boss}}
setup: [{shell: "echo ${{ inputs.issue }}", as: told, timeout: 5s}]
kickoff: "@lead ${{ told }}"
notify: {shell: say hello}
limits: {hops: false}
result: ${{ told }}
"""
OTHERS = ["closer", "wise", "boss"]


def test_a_workflow_comes_back_from_its_stored_form_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "lead.md").write_text("You lead.\n")
    (tmp_path / "fix.yaml").write_text(FILE)
    for name in OTHERS:
        takes = "json" if name == "closer" else "markdown"
        (tmp_path / f"{name}.md").write_text(f"---\nmodel: haiku\nchat: true\noutput: json\ninput: {takes}\n---\n")
    loaded = reading.draft(tmp_path / "fix.yaml").finish()
    text = json.dumps(stored.to_json(loaded))
    (tmp_path / "lead.md").unlink()
    (tmp_path / "fix.yaml").unlink()
    found = stored.from_json(json.load_object(text))
    assert found == loaded
    begun = replace(
        loaded, flow=(("a.yaml", "steps: []"), ("~/b.yaml", "x")), inputs=(Input("o", "object", default={"a": 1}),)
    )
    assert stored.from_json(json.load_object(json.dumps(stored.to_json(begun)))) == begun
    assert [one.name for one in found.cast] == OTHERS
    assert stored.names(json.load_object(text)) == [one.name for one in loaded.agents]
    assert found.agents[0].system_prompt == "You lead."
    values = {**variables.values(found, "pr-1", {"issue": 42, "files": ("a", "b")}), "told": "fix it"}
    assert templates.expand(found.kickoff, values).text == "@lead fix it"
    assert shell.expand(found.setup[0].shell, values) == "echo '42'"


def test_what_a_backend_is_told_holds_everybody_who_takes_part() -> None:
    wise = AgentDefinition("wise", "scripted", answers=({"say": "hi"},), description="knows")
    desk = AgentDefinition(
        "desk", "api", "m/x", patterns=Patterns(advisors=("wise",)), output=Format("json", {"type": "object"})
    )
    told = json.load_object(json.dumps(stored.settings(desk, (wise,))))
    assert stored.definitions("desk", "api", told) == (desk, wise)
    assert "cast" not in stored.settings(wise)
    assert stored.definitions("a", "api", {"model": "m/x"}) == (AgentDefinition("a", "api", "m/x"),)
