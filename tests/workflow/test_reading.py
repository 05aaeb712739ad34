"""A file is read as its author means it, or refused with everything that is wrong."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from moot.core.errors import MootError
from moot.core.yaml import YamlInvalid
from moot.workflow import reading
from moot.workflow.reading import Surroundings
from moot.workflow.workflow import (
    PRESETS,
    RUN_BUDGET,
    AgentDefinition,
    Budget,
    Context,
    Input,
    Limits,
    Notify,
    Permissions,
    Retry,
    SetupTask,
    Workflow,
    WorkflowInvalid,
)

TEAM = "agents: {lead: {model: sonnet}, scribe: {model: haiku}}\n"
ENVIRON = {"HOME": "/h", "API_KEY": "s3cret"}


def load(folder: Path, text: str) -> Workflow:
    file = folder / "review.yaml"
    file.write_text(text)
    return reading.draft(file, Surroundings(environ=ENVIRON)).finish()


def faults(folder: Path, text: str) -> list[str]:
    """What is said about a file that must be refused, without the folder."""
    with pytest.raises(WorkflowInvalid) as caught:
        load(folder, text)
    assert caught.value.faults
    prefix = f"{folder}/"
    return [
        f"{one.file.removeprefix(prefix)}:{one.line}:{one.column}: {one.fact} {one.remedy}"
        for one in caught.value.faults
    ]


def test_the_simplest_file_has_all_defaults(tmp_path: Path) -> None:
    found = load(tmp_path, "agents: {a: {model: sonnet}}")
    assert found == Workflow("review", str(tmp_path / "review.yaml"), (AgentDefinition("a", model="anthropic/sonnet"),))
    assert (found.budget, found.context.is_on, found.source) == (RUN_BUDGET, True, "review.yaml")


def test_everything_that_can_be_said_is_read(tmp_path: Path) -> None:
    text = """
name: code-review
inputs:
  pr: {type: number, required: true, description: Which one.}
  level: {options: [low, high], default: low}
  free:
env: [API_KEY]
budget: {cost: 2.5, tokens: 1000, attempts: false}
context:
  provider: memory
  document_owner: '@Scribe'
  config: {dir: talk, channel: c.md, document: d.md, documents: [e.md]}
agents:
  coder:
    backend: codex
    model: gpt-5
    system_prompt: Write code for ${{ workflow.name }}.
    system_prompt_mode: replace
    description: writes
    tools: [channel, documents]
    permissions: {shell: deny}
    workspace: worktree
    budget: {cost: 1, time: 10m, turns: 5}
    retry: {attempts: 5, backoff: 500ms, multiplier: 1.5}
    timeout: 1h
  scribe: {transport: mcp, script: [{say: hi}]}
setup:
  - {shell: "gh pr diff ${{ inputs.pr }}", as: diff, timeout: 5s}
  - {shell: make}
kickoff: "@coder ${{ diff }}"
notify: {shell: notify-send moot, timeout: 1s}
limits: {hops: 9, ping_pong: false}
result: ${{ diff }}
"""
    coder = AgentDefinition(
        name="coder",
        backend="codex",
        model="openai/gpt-5",
        system_prompt="Write code for ${{ workflow.name }}.",
        system_prompt_mode="replace",
        description="writes",
        tools=("channel", "documents"),
        permissions=Permissions(shell="deny"),
        workspace="worktree",
        budget=Budget(cost=1, time=timedelta(minutes=10), turns=5),
        retry=Retry(5, timedelta(milliseconds=500), 1.5),
        timeout=timedelta(hours=1),
    )
    scribe = AgentDefinition(name="scribe", backend="scripted", transport="mcp", script=({"say": "hi"},))
    assert load(tmp_path, text) == Workflow(
        name="code-review",
        file=str(tmp_path / "review.yaml"),
        agents=(coder, scribe),
        inputs=(
            Input("pr", "number", is_required=True, description="Which one."),
            Input("level", default="low", options=("low", "high")),
            Input("free"),
        ),
        env={"API_KEY": None},
        context=Context(True, "memory", "named", "scribe", "talk", "c.md", "d.md", ("e.md",)),
        setup=(SetupTask("gh pr diff ${{ inputs.pr }}", "diff", timedelta(seconds=5)), SetupTask("make")),
        kickoff="@coder ${{ diff }}",
        notify=Notify("notify-send moot", timedelta(seconds=1)),
        budget=Budget(cost=2.5, time=timedelta(minutes=60), tokens=1000),
        limits=Limits(9, None),
        result="${{ diff }}",
        warnings=(f"{tmp_path}/review.yaml:12:12: dir is not used, because provider: memory keeps no files.",),
    )


@pytest.mark.parametrize(
    ("context", "found"),
    [
        ("", Context()),
        ("context:", Context()),
        ("context: null", Context()),
        ("context: true", Context()),
        ("context: {}", Context()),
        ("context: false", Context(is_on=False)),
        ("context: {provider: file}", Context()),
        ("context: {provider: memory}", Context(provider="memory")),
        ("context: {document_owner: scribe}", Context(owner_rule="named", owner="scribe")),
        ("context: {documentOwner: scribe}", Context(owner_rule="named", owner="scribe")),
        ("context: {document_owner: human}", Context(owner_rule="named", owner="human")),
        ("context: {document_owner: elect}", Context(owner_rule="elect")),
        ("context: {document_owner: none}", Context(owner_rule="none")),
        ("context: {document_owner: false}", Context(owner_rule="none")),
        ("context: {document_owner: null, config: null}", Context()),
        (
            "context: {config: {dir: ./my-context/, channel: talk.md, document: w.md, documents: [a.md]}}",
            Context(dir="./my-context/", channel="talk.md", document="w.md", documents=("a.md",)),
        ),
    ],
)
def test_context_has_many_forms(tmp_path: Path, context: str, found: Context) -> None:
    assert load(tmp_path, TEAM + context).context == found


def test_a_folder_for_what_is_not_kept_is_told(tmp_path: Path) -> None:
    found = load(tmp_path, TEAM + "context: {provider: memory, config: {dir: ./talk/}}")
    assert found.warnings == (
        f"{tmp_path}/review.yaml:2:38: dir is not used, because provider: memory keeps no files.",
    )
    assert load(tmp_path, TEAM + "context: {provider: memory, config: {document: d.md}}").warnings == ()


def test_an_owner_in_the_wrong_place_is_taken_with_a_warning(tmp_path: Path) -> None:
    found = load(tmp_path, TEAM + "context: {config: {documentOwner: scribe}}")
    assert (found.context.owner_rule, found.context.owner) == ("named", "scribe")
    assert found.warnings == (f"{tmp_path}/review.yaml:2:20: document_owner belongs one level higher, under context.",)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("read-only", Permissions("deny", "deny", "deny")),
        ("ask", Permissions("ask", "ask", "ask")),
        ("edit", Permissions("allow", "ask", "ask")),
        ("full", Permissions("allow", "allow", "allow")),
        ("{network: allow}", Permissions("ask", "ask", "allow")),
    ],
)
def test_permissions_are_a_preset_or_answers(tmp_path: Path, written: str, found: Permissions) -> None:
    (agent,) = load(tmp_path, f"agents: {{a: {{model: sonnet, permissions: {written}}}}}").agents
    assert agent.permissions == found
    spelled = written if written in PRESETS else "network: allow"
    assert agent.permissions.spelling == spelled


def test_a_prompt_is_a_file_if_it_is_one_word_that_ends_like_one(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "lead.md").write_text("\ufeffYou lead.\n\n")
    text = (
        "agents: {a: {model: sonnet, systemPrompt: prompts/lead.md}, b: {model: sonnet, system_prompt: Read lead.md}}"
    )
    assert [one.system_prompt for one in load(tmp_path, text).agents] == ["You lead.", "Read lead.md"]


def test_an_agent_file_is_a_head_and_a_prompt(tmp_path: Path) -> None:
    (tmp_path / "lead.md").write_text(
        "---\nname: x\ndescription: leads\nmodel: opus\ntools: [inbox]\n---\n\nYou lead.\n"
    )
    (tmp_path / "bare.md").write_text("Just a prompt.\n---\nwith a line")
    text = """
agents:
  lead: {from: lead.md, permissions: read-only}
  other: {from: lead, description: other, tools: [], system_prompt: Not that.}
  bare: {from: ./bare.md, model: haiku}
"""
    lead, other, bare = load(tmp_path, text).agents
    assert (lead.model, lead.description, lead.tools, lead.system_prompt) == (
        "anthropic/opus", "leads", ("inbox",), "You lead.",
    )  # fmt: skip
    assert (other.description, other.tools, other.system_prompt) == ("other", (), "Not that.")
    assert bare.system_prompt == "Just a prompt.\n---\nwith a line"


def test_what_is_wrong_in_an_agent_file_of_two_agents_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\nmodle: opus\n---\nFor ${{ instanc }}")
    assert faults(tmp_path, "agents: {a: {from: a.md}, b: {from: a.md}}") == [
        "a.md:2:1: `modle` is no key of this file. Did you mean `model`?",
        "a.md:4:5: there is no variable `instanc`. Did you mean `instance`?",
    ]


def test_what_is_wrong_in_an_agent_file_is_told_with_its_own_line(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\n# a head\nmodle: opus\nchatt: true\n---\n\nFor\nthe ${{ nothing }}")
    (tmp_path / "b.md").write_text("\n${{ instanc }}\n")
    text = "agents:\n  a: {from: a.md, model: sonnet}\n  b: {model: sonnet, system_prompt: b.md}"
    found = faults(tmp_path, text)
    assert found[:2] == [
        "a.md:3:1: `modle` is no key of this file. Did you mean `model`?",
        "a.md:4:1: `chatt` is no key of this file. Did you mean `chat`?",
    ]
    assert found[2].startswith("a.md:8:5: there is no variable `nothing`. Known are: context.channel, ")
    assert found[3:] == ["b.md:2:1: there is no variable `instanc`. Did you mean `instance`?"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # keys
        ("nam: x\n" + TEAM, "review.yaml:1:1: `nam` is no key of this file. Did you mean `name`?"),
        (
            TEAM + "budget: {costs: 5}",
            "review.yaml:2:10: `costs` is no key of `budget`. Did you mean `cost`?",
        ),
        (
            "agents:\n  a: {model: sonnet, zzz: 1}",
            (
                "review.yaml:2:22: `zzz` is no key of `agents.a`. Known are: advisors, agents, answers, backend, "
                "base_url, budget, capabilities, chat, command, context_window, description, env, from, handoff, "
                "input, isolated, max_depth, max_output_tokens, max_tool_calls_per_turn, max_turns, mcp_servers, "
                "model, output, permissions, resume, retry, router, script, system_prompt, system_prompt_mode, team, "
                "temperature, timeout, tools, transport, workspace."
            ),
        ),
        (
            "agents:\n  a: {model: sonnet, system_prompt: x, systemPrompt: y}",
            "review.yaml:2:40: `systemPrompt` and `system_prompt` are the same key. Keep one.",
        ),
        (
            TEAM + "inputs: {n: {options: [a], enum: [b]}}",
            "review.yaml:2:28: `enum` and `options` are the same key. Keep one.",
        ),
        (
            TEAM + "max_parallel_task: 2\nmaxParallelTask: 3",
            "review.yaml:2:1: `max_parallel_task` is no key of this file. Did you mean `max_parallel_tasks`?",
        ),
        (
            TEAM + "stateSchema: {}",
            "review.yaml:2:1: `stateSchema` is no key of this file. Did you mean `state_schema`?",
        ),
        (
            "steps: [{type: exit}]\nkickoff: hi",
            "review.yaml:1:1: `agents` is missing in this file. Say who takes part.",
        ),
        (
            "steps: [{type: exit}]\ntasks: [{name: a}]",
            "review.yaml:1:1: `agents` is missing in this file. Say who takes part.",
        ),
        (
            "default_state: {raw: {}}",
            "review.yaml:1:1: `steps` is missing in this file. Say what is done, one step after the other.",
        ),
        # what an agent cannot do without
        (
            "agents:\n  a: {backend: command}",
            (
                "review.yaml:2:16: `agents.a` is run by a command, and none is said. "
                "Write command: [./agent.sh], or a line for the shell."
            ),
        ),
        (
            "defaults: {backend: command}\nagents: {a: {}}",
            "review.yaml:1:21: `agents.a` is run by a command, and none is said.",
        ),
        # addresses
        (
            'agents:\n  a: {model: openai/x, base_url: "127.0.0.1:9311/v1"}',
            (
                "review.yaml:2:34: `agents.a.base_url`: '127.0.0.1:9311/v1' does not begin with http:// or https://. "
                "Write http:// or https:// in front of it, as in http://127.0.0.1:9311/v1."
            ),
        ),
        (
            'agents:\n  a: {model: openai/x, base_url: "https://me:hunter22@h.example/v1"}',
            "review.yaml:2:34: `agents.a.base_url`: an address must not hold a user or a password. Name the key's",
        ),
        (
            'agents:\n  a: {model: openai/x, base_url: "https://h.example/v1?v=2&Api-Key=hunter22"}',
            "review.yaml:2:34: `agents.a.base_url`: an address must not hold a key. Leave it out and name the key's",
        ),
        (
            'agents:\n  a: {model: openai/x, base_url: "https://h.example/sk-abcdefgh123/v1"}',
            "review.yaml:2:34: `agents.a.base_url`: an address must not hold a key. Leave it out and name the key's",
        ),
        (
            'agents:\n  a: {model: openai/x, base_url: "https://h.example/v1;key=hunter22"}',
            "review.yaml:2:34: `agents.a.base_url`: an address must not hold a key. Leave it out and name the key's",
        ),
        (
            'agents:\n  a: {model: openai/x, base_url: "https://h.example/token=hunter22/v1"}',
            "review.yaml:2:34: `agents.a.base_url`: an address must not hold a key. Leave it out and name the key's",
        ),
        (
            'agents:\n  a: {model: openai/x, base_url: "https://[::1/v1"}',
            "review.yaml:2:34: `agents.a.base_url`: 'https://[::1/v1' is no address",
        ),
        (
            'agents:\n  a: {model: openai/x, base_url: "https://h.example:99999/v1"}',
            "review.yaml:2:34: `agents.a.base_url`: 'https://h.example:99999/v1' is no address",
        ),
        (
            'agents:\n  a: {model: openai/x, base_url: "https://h.example:0/v1"}',
            "review.yaml:2:34: `agents.a.base_url`: 'https://h.example:0/v1' is no address",
        ),
        (
            'agents:\n  a: {model: openai/x, base_url: "https://h.example:port/v1"}',
            "review.yaml:2:34: `agents.a.base_url`: 'https://h.example:port/v1' is no address",
        ),
        (
            'agents:\n  a: {model: openai/x, base_url: "http:///v1"}',
            "review.yaml:2:34: `agents.a.base_url`: 'http:///v1' is no address",
        ),
        # types
        (TEAM + "kickoff: [a]", "review.yaml:2:10: `kickoff` must be text, not a list. Write it as one text."),
        (TEAM + "name: 3", "review.yaml:2:7: `name` must be text, not a number. Put it in quotes."),
        ("agents: [a]", "review.yaml:1:9: `agents` must be keys and values, not a list."),
        (TEAM + "together: yes", "review.yaml:2:11: `together` must be true or false, not text."),
        (
            TEAM + "tasks: [{name: a, neme: b}]",
            "review.yaml:2:19: `neme` is no key of `tasks item 1`. Did you mean `name`?",
        ),
        (
            TEAM + "context: none",
            (
                "review.yaml:2:10: `context` must be true or false or keys and values, not text. "
                "Write false, without quotes."
            ),
        ),
        (
            TEAM + "context: {provider: fil}",
            "review.yaml:2:21: `context.provider` must be one of file, memory. Did you mean file?",
        ),
        (
            TEAM + "setup: [{shell: a, timeout: 30}]",
            (
                "review.yaml:2:29: `setup item 1, timeout`: '30' is not a duration. "
                "Write a number and a unit: 500ms, 30s, 5m, 2h, 1d."
            ),
        ),
        (
            TEAM + "setup: [{shell: a, timeout: 0s}]",
            "review.yaml:2:29: `setup item 1, timeout`: '0s' is not a duration.",
        ),
        (TEAM + "setup: [{as: x}]", "review.yaml:2:9: `shell` is missing in `setup item 1`. Add it."),
        (TEAM + "setup: [{shell: a, as: a b}]", "review.yaml:2:24: `setup item 1, as` does not have the form"),
        (
            TEAM + "budget: {cost: -1}",
            "review.yaml:2:16: `budget.cost`: this must be a number above 0. Write digits without quotes; false is no",
        ),
        (TEAM + "budget: {attempts: 1.5}", "`budget.attempts`: this must be a whole number above 0."),
        (TEAM + "limits: {hops: true}", "`limits.hops`: this must be a whole number above 0."),
        (TEAM + "inputs: {n: {type: int}}", "`inputs.n.type` must be one of string, number, boolean, array, object."),
        (TEAM + "inputs: {n: {type: number, default: x}}", "2:37: `inputs.n.default` must be a number."),
        (TEAM + "inputs: {n: {options: [a], default: b}}", "2:37: `inputs.n.default` must be one of a."),
        ("agents:\n  a: {}", "review.yaml:2:3: `agents.a` has neither a model nor a backend, answers or a script."),
        ("agents:\n  a:", "review.yaml:2:3: `agents.a` has neither a model nor a backend, answers or a script."),
        (
            "agents: {a: {backend: human, script: [{say: hi}]}}",
            "`agents.a.script`: only scripted agents have one, and this is human. Leave it out.",
        ),
        # what is named
        (
            TEAM + "context: {document_owner: scrib}",
            (
                "review.yaml:2:27: `context.document_owner` names `scrib`, who is not among the agents. "
                "Did you mean `scribe`?"
            ),
        ),
        (TEAM + "context: {document_owner: true}", "`context.document_owner` must be a name, elect or none."),
        (
            "agents: {a: {model: sonnet, system_prompt: absent.md}}",
            "review.yaml:1:44: `agents.a.system_prompt`: there is no file",
        ),
        ("agents: {a: {model: sonnet, system_prompt: ./.md}}", "`agents.a.system_prompt`: there is no file"),
        ("agents: {a: {from: absent}}", "review.yaml:1:20: `agents.a.from`: there is no agent file `absent`."),
        ("agents: {a: {script: absent.yaml}}", "review.yaml:1:22: `agents.a.script`: There is no file"),
        ("agents: {a: {model: palm/x}}", "review.yaml:1:21: `agents.a.model`: there is no provider `palm`."),
        # variables
        (
            TEAM + "setup: [{shell: a, as: diff}]\nkickoff: ${{ dif }}",
            "review.yaml:3:10: `kickoff`: there is no variable `dif`. Did you mean `diff`?",
        ),
        (TEAM + "kickoff: ${{ inputs.x }}", "`kickoff`: there is no variable `inputs.x`."),
        (
            TEAM + "kickoff: |\n  hello\n  and ${{ inputs.x }}",
            "review.yaml:4:7: `kickoff`: there is no variable `inputs.x`.",
        ),
        (TEAM + "kickoff: ${{ env.NOT_SET }}", "`kickoff`: NOT_SET is not set in the environment."),
        (TEAM + "kickoff: ${{ env.API_KEY }}", "`kickoff`: API_KEY may be a secret, and what agents read is kept."),
        (TEAM + "env: [ABSENT]\nkickoff: ${{ env.ABSENT }}", "`kickoff`: ABSENT is not set in the environment."),
        (TEAM + "kickoff: ${{ a", "`kickoff`: `${{` is not closed on its line."),
        (
            TEAM + "kickoff: '{{ instance }}'",
            "`kickoff`: `{{ }}` is for steps, and nothing fills it in here. Write ${{ instance }};",
        ),
        (TEAM + "result: '{{ failures.length }}'", "`result`: `{{ }}` is for steps, and nothing fills it in here."),
        (
            "agents: {a: {model: sonnet, system_prompt: 'In {{ instance }}'}}",
            "`agents.a.system_prompt`: `{{ instance }}` is not filled in here. Write ${{ instance }}.",
        ),
        (
            TEAM + "setup: [{shell: 'echo ${{ b }}'}, {shell: b, as: b}]",
            "`setup item 1, shell`: `b` is not set yet at this command.",
        ),
        (TEAM + "setup: [{shell: 'echo ${{ b }}', as: b}]", "`b` is not set yet at this command."),
        (TEAM + "setup: [{shell: a, as: b}, {shell: a, as: b}]", "2:43: `b` is set a second time."),
        (TEAM + "setup: [{shell: a, as: inputs}]", "2:24: `inputs` is kept for other variables."),
        (
            TEAM + """setup: [{shell: 'echo "${{ instance }}"'}]""",
            (
                "2:17: `setup item 1, shell`: a variable stands in double quotes. "
                "Write it without quotes around it: moot quotes the value."
            ),
        ),
        (TEAM + """notify: 'echo "${{ instance }}"'""", "2:9: `notify`: a variable stands in double quotes."),
        (TEAM + "context: {config: {dir: '${{ context.channel }}'}}", "there is no variable `context.channel`."),
        (
            "agents: {a: {model: sonnet, description: '${{ instance }}'}}",
            "`agents.a.description`: variables are not filled in here.",
        ),
    ],
)
def test_a_mistake_is_told_with_its_place_and_a_remedy(tmp_path: Path, text: str, said: str) -> None:
    found = faults(tmp_path, text)
    assert any(said in one for one in found), found
    assert len(found) == 1


def test_all_mistakes_are_told_at_once_and_none_that_only_follows_from_another(tmp_path: Path) -> None:
    text = """
nam: x
budget: {cost: free}
agents:
  lead: {model: sonet, permissions: edt}
  coder: {model: sonnet, system_prompt: absent.md}
setup:
  - {shell: a, as: told, timeout: 3}
kickoff: "${{ told }} ${{ tol }}"
"""
    assert [one.split(": ")[0] for one in faults(tmp_path, text)] == [
        "review.yaml:2:1",
        "review.yaml:3:16",
        "review.yaml:5:17",
        "review.yaml:5:37",
        "review.yaml:6:41",
        "review.yaml:8:35",
        "review.yaml:9:10",
    ]


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("agents: {a: {model: sonnet}}\nagents: {}", YamlInvalid, "2:1: 'agents' stands here a second time."),
        ("agents: {a: {model: sonnet, model: opus}}", YamlInvalid, "'model' stands here a second time."),
        ("name: !!python/object/apply:os.system ['true']\n" + TEAM, YamlInvalid, "not YAML"),
        ("name: !custom x\n" + TEAM, YamlInvalid, "not YAML"),
        ("a: &a [x,x]\nb: &b [*a,*a]\n" + "".join(f"k{i}: [*b,*b]\n" for i in range(80)), YamlInvalid, "aliases"),
        ("name: NO\nagents: {a: {model: sonnet}}", None, "NO"),
        ("name: on\nagents: {a: {model: sonnet}}", None, "on"),
        ("name: 2026-01-02\nagents: {a: {model: sonnet}}", None, "2026-01-02"),
        ("name: 0o10\nagents: {a: {model: sonnet}}", None, "0o10"),
        ("name: 12:30:45\nagents: {a: {model: sonnet}}", None, "12:30:45"),
        ("name: 0x10\nagents: {a: {model: sonnet}}", WorkflowInvalid, "`name` must be text, not a number."),
        ("just text", WorkflowInvalid, "must be keys and values, not text"),
        ("1: 2", WorkflowInvalid, "must be text"),
        ("\tname: x", YamlInvalid, "Indent with spaces"),
        ("name: a\0b", YamlInvalid, ""),
        ("--- {}\n--- {}", YamlInvalid, ""),
    ],
)
def test_odd_yaml_is_text_or_refused(tmp_path: Path, text: str, error: type[MootError] | None, said: str) -> None:
    if error is None:
        assert load(tmp_path, text).name == said
        return
    with pytest.raises(error) as caught:
        load(tmp_path, text)
    assert said in str(caught.value)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    (tmp_path / "nul.md").write_bytes(b"a\0b")
    (tmp_path / "huge.md").write_bytes(b"a" * 1_000_001)
    (tmp_path / "folder.md").mkdir()
    agents = "".join(
        f"  {n}: {{model: sonnet, system_prompt: {n}.md}}\n" for n in ("pipe", "latin", "nul", "huge", "folder")
    )
    found = "\n".join(faults(tmp_path, "agents:\n" + agents))
    for fact in ("pipe.md.", "latin.md is not UTF-8", "nul.md holds a NUL", "huge.md has more than", "folder.md."):
        assert fact in found


def test_the_examples_of_the_specification_are_read(tmp_path: Path) -> None:
    text = """
name: code-review
context:
  provider: file
  config:
    document: workspace.md
    documents:
      - goals.md
  documentOwner: scribe
agents:
  reviewer:
    model: anthropic/claude-sonnet-4-5
    system_prompt: |
      You review code.
  scribe:
    model: anthropic/claude-haiku-3-5
    system_prompt: You write.
setup:
  - shell: gh pr diff
    as: diff
kickoff: |
  PR diff:
  ${{ diff }}

  @reviewer please review these changes.
"""
    found = load(tmp_path, text)
    assert [one.model for one in found.agents] == ["anthropic/claude-sonnet-4-5", "anthropic/claude-haiku-3-5"]
    assert found.context.owner == "scribe"


@pytest.mark.parametrize("text", ["${{ ", "${{ x }} ", "{{ x }} ", "${{ '", "${{" + " " * 200_000])
def test_a_long_text_is_read_in_time(tmp_path: Path, text: str) -> None:
    (tmp_path / "long.md").write_text(text * (999_000 // len(text)))
    (tmp_path / "review.yaml").write_text("agents: {a: {model: sonnet, system_prompt: long.md}}")
    draft = reading.draft(tmp_path / "review.yaml")
    assert len(draft.faults.found) <= 100
