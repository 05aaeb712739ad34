"""What the variables of a workflow stand for, and which of the environment may be read."""

import pytest

from moot.workflow import templates, variables
from moot.workflow.variables import EnvironmentRefused
from moot.workflow.workflow import AgentDefinition, Context, SetupTask, Workflow


def workflow(kickoff: str, env: dict[str, str | None] | None = None) -> Workflow:
    return Workflow("review", "/p/review.yaml", (AgentDefinition("a"),), kickoff=kickoff, env=env or {})


def test_the_variables_of_the_seed_are_there() -> None:
    text = (
        "${{ workflow.name }} ${{ workflow.instance }} ${{ instance }} ${{ context.channel }} ${{ context.document }}"
    )
    found = workflow(text)
    values = variables.values(found, "pr-1", {}, {})
    assert templates.expand(text, values).text == ("review pr-1 pr-1 .workflow/pr-1/channel.md .workflow/pr-1/notes.md")


def test_the_files_are_named_as_the_file_says() -> None:
    context = Context(dir="talk/${{ inputs.n }}", channel="${{ instance }}.md", document="a/b.md")
    found = Workflow("w", "/w.yaml", (), context=context)
    values = variables.values(found, "x", {"n": 3}, {})
    assert (values["context.channel"], values["context.document"]) == ("talk/3/x.md", "talk/3/a/b.md")


def test_of_the_environment_only_what_is_asked_for_is_taken_along() -> None:
    environ = {"USER": "ana", "LANG": "C", "API_KEY": "s3cret"}
    assert "env.USER" in variables.values(workflow("${{ env.USER }}"), "i", {}, environ)
    values = variables.values(workflow("hello"), "i", {}, environ)
    assert not [name for name in values if name.startswith("env.")]


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "MY_SECRET",
        "DB_PASSWORD",
        "PGPASSWORD",
        "AWS_CREDENTIALS",
        "DATABASE_URL",
        "passphrase",
        "GH_PAT",
        "SENTRY_DSN",
        "SESSION_ID",
        "BASIC_AUTH",
        "JWT",
        "Cookie",
        "PRIVATE",
        "EXTRA_HEADERS",
    ],
)
def test_what_looks_secret_must_be_declared(name: str) -> None:
    with pytest.raises(EnvironmentRefused, match="may be a secret") as caught:
        variables.of_environment({}, name, {name: "s3cret"})
    assert "s3cret" not in str(caught.value)
    assert f"env: [{name}]" in caught.value.remedy
    assert variables.of_environment({name: None}, name, {name: "s3cret"}) == "s3cret"


@pytest.mark.parametrize("name", ["HOME", "USER", "GITHUB_REF", "CI", "PATH", "GIT_AUTHOR_NAME", "BUILD_NUMBER"])
def test_what_does_not_look_secret_can_be_read(name: str) -> None:
    assert variables.of_environment({}, name, {name: "x"}) == "x"


def test_what_is_not_set_is_refused_unless_something_stands_in() -> None:
    for declared in ({}, {"CI": None}):
        with pytest.raises(EnvironmentRefused, match="CI is not set"):
            variables.of_environment(declared, "CI", {})
    assert variables.of_environment({"CI": "no"}, "CI", {}) == "no"
    assert variables.of_environment({"CI": "no"}, "CI", {"CI": "yes"}) == "yes"


def test_a_setup_command_knows_only_what_was_set_before_it() -> None:
    tasks = (SetupTask("a", "one"), SetupTask("b"), SetupTask("c", "two"))
    found = Workflow("w", "/w.yaml", (), setup=tasks)
    assert "one" in variables.known(found, before=1)
    assert "two" not in variables.known(found, before=2)
    assert {"one", "two"} <= variables.known(found)
