"""The JSON Schema for editors takes what moot takes, and refuses what it refuses, as far as a schema can."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from moot.api import checking
from moot.core import yaml

VALIDATOR: Any = jsonschema.Draft202012Validator(checking.editor_schema())
GOOD = """
name: code-review
inputs: {pr: {type: number, required: true}, level: {enum: [low, high]}, free: null}
env: {HOME: null, CI: "no"}
defaults: {permissions: {shell: deny}, timeout: 5m}
budget: {cost: 5, time: 30m, attempts: false}
context: {provider: file, documentOwner: scribe, config: {documents: [a.md]}}
agents:
  lead: {from: lead.md, permissions: read-only, systemPrompt: Lead.}
  scribe: {transport: mcp, script: [{on: hi, from: human, say: "yes", takes: 1s, calls: [{channel_read: {limit: 5}}]}]}
  other: {script: lines.yaml}
  desk: {model: [sonnet, openai/gpt-5], router: {destinations: [lead]}, advisors: [wise], chat: true, maxDepth: 0}
  panel: {team: {members: [wise], supervisor: lead, memberMaxTurns: 3}, input: json, output: {schema: {type: object}}}
  wise: {answers: [{say: hi, calls: [{final_report: {report: x}}]}], handoff: lead, temperature: 0.5}
setup: [{shell: make, as: made, timeout: 30s}]
kickoff: "@lead go"
notify: say hello
limits: {hops: 9, pingPong: false}
result: done
"""


STEPS = """
imports: [shared/check.yaml]
description: a
version: 1.0.0
inputs: {o: {type: object}}
default_state: {raw: {a: 1}, state: {b: "{{ now() }}"}}
state_schema: {raw: {a: number}, computed: {c: {from: [raw.a], transform: input, on_error: ignore, validate: output}}}
steps:
  - {type: conditional, condition: a, then: [{type: exit}], else: [{id: x, type: state_update, path: raw.a, value: 1}]}
  - {type: while, condition: a, body: [{type: break}], max_iterations: 3}
  - {type: foreach, items: [1], steps: [{type: shell_command, command: ls, output_format: lines}]}
  - {type: parallel_foreach, items: "{{ a }}", sub_agent_task: fix, on_sub_agent_error: {strategy: continue}}
  - {type: wait, for: 5s}
  - {type: agent_prompt, prompt: a, schema: {type: object}}
sub_agent_tasks:
  fix:
    inputs: {a: string, b: {type: array, required: true}, c: 3, d: }
    steps: [{type: mcp_call, mcp: {method: x, params: {a: 1}}}]
    error_handling: {return_on_error: false, cleanup_on_error: [{type: exit}]}
error_handling: {on_error: continue, error_collection: {state_path: raw.e}, on_failure: [{type: exit}]}
on_resume: {retry_failed_steps: false}
result: "{{ c }}"
"""
WRAPPED = "workflow:\n  name: a\n  steps: [{type: exit}]"


def errors(text: str) -> list[str]:
    return [str(error.message) for error in VALIDATOR.iter_errors(yaml.load(text, "f"))]


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(checking.editor_schema())


@pytest.mark.parametrize(
    "text", [STEPS, WRAPPED, GOOD, "agents: {a: {model: x}}\ncontext: false", "agents: {a: null}\ncontext:"]
)
def test_what_is_right_is_right(text: str) -> None:
    assert errors(text) == []


def test_the_examples_are_right() -> None:
    files = list((Path(__file__).parents[2] / "examples").glob("*.yaml"))
    assert files
    assert {file.name: found for file in files if (found := errors(file.read_text()))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "kickoff: hi",
        "agents: {}",
        "agents: {a: {modle: x}}",
        "agents: {a: {backend: magic}}",
        "agents: {a: {permissions: everything}}",
        "agents: {a: {timeout: 30}}",
        "agents: {a: {script: [{sai: x}]}}",
        "agents: {a: {answers: [{sai: x}]}}",
        "agents: {a: {script: [{usage: {input_tokens: 1}}]}}",
        "agents: {a: {answers: [{usage: {tokens: 1}}]}}",
        "agents: {a: {model: []}}",
        "agents: {a: {router: {destinations: []}}}",
        "agents: {a: {router: [b]}}",
        "agents: {a: {team: {members: [b]}}}",
        "agents: {a: {output: xml}}",
        "agents: {a: {output: {format: json, shema: {}}}}",
        "agents: {a: {chat: 1}}",
        "agents: {a: {maxTurns: 0}}",
        "agents: {a: {model: x}}\nsteps: []",
        "agents: {a: {model: x}}\nbudget: {cost: 0}",
        "steps: [{type: exit}]\nkickoff: hi",
        "steps: [{type: exit}]\nworkflow: {steps: [{type: exit}]}",
        "workflow: {steps: [{type: exi}]}",
        "steps: [{type: exi}]",
        "steps: [{type: exit, why: x}]",
        "steps: [{type: while, condition: a}]",
        "steps: [{type: conditional, condition: a, then: [{type: shell_command}]}]",
        "steps: [{type: exit}]\nimports: a.yaml",
        "steps: [{type: exit}]\nstateSchema: {}",
        "steps: [{type: exit}]\nstate_schema: {computed: {a: {from: raw.b}}}",
        "steps: [{type: exit}]\nerror_handling: {on_failure: [{type: exi}]}",
        "steps: [{type: exit}]\non_resume: {retry: true}",
        "sub_agent_tasks: {a: {}}",
        "sub_agent_tasks: {a b: {steps: [{type: exit}]}}",
        "sub_agent_tasks: {a: {steps: [{type: exi}]}}",
        "sub_agent_tasks: {a: {steps: [{type: exit}], inputs: {n: {typ: x}}}}",
        "agents: {a: {model: x}}\nsetup: [{as: x}]",
        "agents: {a: {model: x}}\ninputs: {n: {type: int}}",
        "agents: {a: {model: x}}\ncontext: {provider: disk}",
    ],
)
def test_what_is_wrong_is_wrong(text: str) -> None:
    assert errors(text)


def test_every_key_has_words() -> None:
    schema: Any = checking.editor_schema()
    parts = {"": schema, **{name: part for name, part in schema["$defs"].items() if name != "Line"}}
    silent = [f"{name}.{key}" for name, part in parts.items() for key, form in part.get("properties", {}).items()
              if not form.get("description")]  # fmt: skip
    assert silent == []


def test_the_head_of_an_agent_file_has_a_schema_too() -> None:
    schema: Any = checking.editor_schema()
    head: Any = jsonschema.Draft202012Validator({"$defs": schema["$defs"], "$ref": "#/$defs/AgentFile"})
    good = "model: [haiku, opus]\nhandoff: b\nmaxTurns: 3\nanswers: [{say: hi}]\noutput: {format: json}"
    assert list(head.iter_errors(yaml.load(good, "f"))) == []
    for wrong in ("handof: b", "answers: [{sai: x}]", "from: b.md"):
        assert list(head.iter_errors(yaml.load(wrong, "f"))) != []
