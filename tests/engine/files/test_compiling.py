"""A definition is made from texts alone, and what is wrong is told of the text in which it stands."""

import pytest

from moot.core.library import Files
from moot.core.yaml import YamlInvalid
from moot.engine.files import compiling
from moot.engine.files.compiling import DefinitionInvalid

SHARED = """
workflow:
  name: shared:check
  inputs: {files: {type: array, required: true}, level: {default: low}}
  state_schema: {computed: {total: {from: raw.found, transform: input.length}}}
  steps:
    - {id: note, type: state_update, path: raw.found, value: "{{ inputs.files }}"}
"""
MAIN = """
imports: [shared/check.yaml]
steps:
  - type: conditional
    condition: "{{ true }}"
    then:
      - {id: checks, type: include_workflow, workflow: "shared:check", inputs: {files: [a]}}
  - {id: again, type: include_workflow, workflow: "shared:check", inputs: {files: [b]}}
sub_agent_tasks:
  batch: {steps: [{id: inner, type: include_workflow, workflow: "shared:check", inputs: {files: []}}]}
error_handling: {on_failure: [{id: after, type: include_workflow, workflow: "shared:check", inputs: {files: []}}]}
"""
EXIT = "steps: [{type: exit}]"


def include(workflow: str) -> str:
    return f"steps: [{{id: x, type: include_workflow, workflow: {workflow}}}]"


def foreach(task: str) -> str:
    return f"steps: [{{id: x, type: parallel_foreach, items: [1], sub_agent_task: {task}}}]"


def tasks(**steps: str) -> str:
    return f"sub_agent_tasks: {{{', '.join(f'{name}: {{{said}}}' for name, said in steps.items())}}}"


def refused(*files: tuple[str, str]) -> list[str]:
    with pytest.raises(DefinitionInvalid) as caught:
        compiling.compiled(files)
    told = str(caught.value).removesuffix(" Mend them and try again.").splitlines()
    return told if len(told) == 1 else [one.strip() for one in told[1:]]


def test_included_workflows_are_inside_the_steps_that_include_them() -> None:
    definition = compiling.compiled((("flows/main.yaml", MAIN), ("flows/shared/check.yaml", SHARED)))
    assert definition.name == "main"
    choice, again = definition.steps
    steps = (
        choice.blocks["then"][0],
        again,
        definition.tasks["batch"].steps[0],
        definition.errors.on_failure[0],
    )
    for step in steps:
        included = step.detail.definition
        assert (included.name, [one.name for one in included.inputs]) == ("shared:check", ["files", "level"])
        assert step.blocks == {"workflow": included.steps, "on_failure": included.errors.on_failure}
        assert [one.name for one in included.steps] == ["note"]


def test_a_name_that_is_not_imported_is_found_in_the_library_in_its_order() -> None:
    main = ("main.yaml", include("a:b"))
    kept = {
        "~/.aromcp/workflows/a/b.yml": "name: fourth\n" + EXIT,
        "~/.moot/workflows/a/b.yaml": "name: third\n" + EXIT,
        ".aromcp/workflows/a:b.yaml": "name: second\n" + EXIT,
        ".moot/workflows/a/b.yaml": "name: first\n" + EXIT,
    }
    names: list[str] = []
    while kept:
        (step,) = compiling.compiled((main, *kept.items())).steps
        names.append(step.detail.definition.name)
        kept.popitem()
    assert names == ["first", "second", "third", "fourth"]


def test_an_imported_workflow_goes_before_the_library() -> None:
    main = ("main.yaml", "imports: [other.yaml]\n" + include("a"))
    files = (main, ("other.yaml", "name: a\nversion: own\n" + EXIT), (".moot/workflows/a.yaml", EXIT))
    assert compiling.compiled(files).steps[0].detail.definition.version == "own"


def test_imports_are_seen_from_the_file_in_which_they_stand_and_lead_on() -> None:
    files: Files = (
        ("~/.moot/workflows/main.yaml", "imports: [lib/one.yaml]\n" + include("two")),
        ("~/.moot/workflows/lib/one.yaml", "imports: [../more/two.yaml]"),
        ("~/.moot/workflows/more/two.yaml", EXIT),
    )
    assert compiling.compiled(files).steps[0].detail.definition.name == "two"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (
            (("a.yaml", "imports:\n  - lib/b.yaml\n" + EXIT),),
            ["a.yaml:2:5: there is no file lib/b.yaml. Correct the path."],
        ),
        (
            (("a.yaml", "imports: [a.yaml]\n" + EXIT),),
            ["a.yaml:1:11: files import each other: a.yaml → a.yaml. Leave one of the imports out."],
        ),
        (
            (
                ("a.yaml", "imports: [b.yaml]\n" + EXIT),
                ("b.yaml", "imports: [c.yaml]"),
                ("c.yaml", "imports: [b.yaml]"),
            ),
            ["c.yaml:1:11: files import each other: b.yaml → c.yaml → b.yaml. Leave one of the imports out."],
        ),
        (
            (
                ("a.yaml", include("b")),
                (".moot/workflows/b.yaml", "name: bee\n" + include("c")),
                (".moot/workflows/c.yaml", include("b")),
            ),
            [".moot/workflows/c.yaml:1:51: workflows include each other: bee → c → bee. Leave one of the steps out."],
        ),
        (
            (("a.yaml", "imports: [b.yaml]\n" + include("be")), ("b.yaml", "name: bee\n" + EXIT)),
            ["a.yaml:2:51: there is no workflow `be`. Did you mean `bee`?"],
        ),
        (
            (("a.yaml", include("b")),),
            ["a.yaml:1:51: there is no workflow `b`. Import its file."],
        ),
        (
            (
                ("a.yaml", "imports: [b.yaml, c.yaml]\n" + include("x")),
                ("b.yaml", "name: x\n" + EXIT),
                ("c.yaml", "name: x\n" + EXIT),
            ),
            ["a.yaml:2:51: `x` is the name of b.yaml and of c.yaml. Give one of them another name."],
        ),
        (
            (("a.yaml", "imports: [b.yaml]\n" + include("b")), ("b.yaml", "default_state: {raw: {}}")),
            ["a.yaml:2:51: `b` has no steps. Add some, or do not include it."],
        ),
        (
            (
                ("a.yaml", "imports: [b.yaml]\n" + include("b, inputs: {fles: 1}")),
                ("b.yaml", "inputs: {files: {required: true}}\n" + EXIT),
            ),
            [
                "a.yaml:2:9: `b` needs the input `files`. Give it under inputs.",
                "a.yaml:2:69: `b` has no input `fles`. Did you mean `files`?",
            ],
        ),
        (
            (("a.yaml", "imports: [b.yaml]\n" + EXIT), ("b.yaml", "steps:\n  - {type: exi}")),
            ["b.yaml:2:12: there is no kind of step `exi`. Did you mean `exit`?"],
        ),
        (
            (("a.yaml", "imports: [b.yaml]\n" + EXIT), ("b.yaml", "- a")),
            ["b.yaml:1:1: this file is no workflow. Write keys and values, such as steps."],
        ),
        (
            (("a.yaml", "imports: [b.yaml]\n" + EXIT), ("b.yaml", "workflow:\n  steps: [{type: exi}]")),
            ["b.yaml:2:18: there is no kind of step `exi`. Did you mean `exit`?"],
        ),
        (
            (("a.yaml", "imports: b.yaml\n" + EXIT),),
            [
                (
                    "a.yaml:1:10: `imports` must be a list, not text. "
                    "Begin each item on its own line with `- `, or write [one, two]."
                )
            ],
        ),
    ],
)
def test_what_leads_nowhere_or_round_in_a_circle_is_refused_where_it_stands(files: Files, told: list[str]) -> None:
    assert refused(*files) == told


def test_tasks_of_sub_agents_may_stand_in_files_that_are_imported() -> None:
    files = (
        ("a.yaml", "imports: [b.yaml]\n" + foreach("one")),
        ("b.yaml", "imports: [c.yaml]\n" + tasks(one=foreach("two"), not_named=EXIT)),
        ("c.yaml", tasks(two=EXIT)),
    )
    found = compiling.compiled(files).tasks
    assert {name: task.steps[0].type for name, task in found.items()} == {"one": "parallel_foreach", "two": "exit"}


def test_a_task_of_the_file_itself_goes_before_one_that_is_imported() -> None:
    own = "sub_agent_tasks: {one: {prompt: own, steps: [{type: exit}]}}\n"
    files = (("a.yaml", "imports: [b.yaml]\n" + own + foreach("one")), ("b.yaml", tasks(one=EXIT)))
    assert compiling.compiled(files).tasks["one"].prompt == "own"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (
            (("a.yaml", foreach("one")),),
            "a.yaml:1:69: there is no sub-agent task `one`. Add it to sub_agent_tasks.",
        ),
        (
            (("a.yaml", foreach("one") + "\n" + tasks(ones=EXIT)),),
            "a.yaml:1:69: there is no sub-agent task `one`. Did you mean `ones`?",
        ),
        (
            (
                ("a.yaml", "imports: [b.yaml, c.yaml]\n" + foreach("one")),
                ("b.yaml", tasks(one=EXIT)),
                ("c.yaml", tasks(one=EXIT)),
            ),
            "a.yaml:2:69: `one` stands in b.yaml and in c.yaml. Rename one of them.",
        ),
        (
            (
                ("a.yaml", "imports: [b.yaml]\n" + tasks(two=EXIT, three=foreach("two")) + "\n" + foreach("one")),
                ("b.yaml", tasks(one=foreach("two"), two=EXIT)),
            ),
            "b.yaml:1:93: `two` would be that of a.yaml and that of b.yaml. Rename one of them.",
        ),
        (
            (("a.yaml", "imports: [b.yaml]\n" + EXIT), ("b.yaml", tasks(one=foreach("two")))),
            "b.yaml:1:93: there is no sub-agent task `two`. Known are: one.",
        ),
    ],
)
def test_a_task_that_nobody_or_everybody_has_is_refused(files: Files, told: str) -> None:
    assert refused(*files) == [told]


def test_yaml_is_read_as_people_expect_it() -> None:
    text = "default_state: {raw: {no: NO, octal: 0o10, day: 2024-01-01, on: on, yes: true}}\n" + EXIT
    assert compiling.compiled((("a.yaml", text),)).default_state["raw"] == {
        "no": "NO",
        "octal": "0o10",
        "day": "2024-01-01",
        "on": "on",
        "yes": True,
    }


BOMB = "\n".join(f"  - &x{n} [{', '.join(['*x' + str(n - 1)] * 10) if n else 'a'}]" for n in range(9))
MANY = "x: &many [" + "{type: exit}, " * 2000 + "]\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("steps: !!python/object/apply:os.system [ls]", "a.yaml:1:8 is not YAML"),
        ("default_state:\n raw:\n  a:\n" + BOMB, "a.yaml:10:5: this is more than 1,000,000 values."),
        ("steps: &a [{type: sequential, steps: *a}]", "a.yaml:1:8: this contains itself."),
        ("steps: []\nsteps: []", "a.yaml:2:1: 'steps' stands here a second time. Keep one."),
        ("steps: " + "[" * 200 + "]" * 200, "a.yaml:1:107: this is more than 100 levels deep."),
        ("a\0: 1", "a.yaml:1:2 is not YAML"),
    ],
)
def test_a_text_that_would_blow_up_is_refused(text: str, told: str) -> None:
    with pytest.raises(YamlInvalid) as caught:
        compiling.compiled((("a.yaml", text),))
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            MANY + "steps:\n" + "".join(f"  - {{id: s{n}, type: sequential, steps: *many}}\n" for n in range(6)),
            "a.yaml:1:27941: there are more than 10,000 steps. Use a loop.",
        ),
        (
            "steps: [{type: state_update, path: raw.__proto__.x, value: 1}]",
            "a.yaml:1:9: `steps item 1`: __proto__ cannot be a key. Choose another.",
        ),
        (
            "steps: [{type: shell_command, command: ls, state_update: {path: computed.x}}]",
            "a.yaml:1:9: `steps item 1`: computed.x is computed and cannot be written. Write what it is computed from.",
        ),
        (
            "state_schema: {raw: {__proto__: string}, computed: {}}\n" + EXIT,
            "a.yaml:1:22: `state_schema.raw.__proto__`: __proto__ cannot be a key. Choose another.",
        ),
        (
            "default_state: {state: {__proto__: {}}}\n" + EXIT,
            "a.yaml:1:25: `default_state.state.__proto__`: __proto__ cannot be a key. Choose another.",
        ),
    ],
)
def test_what_no_state_can_hold_and_no_flow_can_go_through_is_refused(text: str, told: str) -> None:
    assert refused(("a.yaml", text)) == [told]
