"""A run's first lines and `moot check` say the same of an agent."""

from moot.app.choosing import Choice
from moot.cli import cast
from moot.workflow.workflow import AgentDefinition, Budget


def test_of_an_agent_is_shown_what_runs_it_and_on_whose_account() -> None:
    lead = AgentDefinition("lead", "claude", "anthropic/sonnet", budget=Budget(cost=1, attempts=1))
    choice = Choice("claude", "anthropic/sonnet", "claude is installed", "your login")
    assert cast.row(lead, choice) == (
        "lead", "claude", "anthropic/sonnet", "your login", "ask", "shared", "$1.00, 1 attempt",
    )  # fmt: skip
    assert cast.brief(lead, choice) == (
        "  lead",
        "claude",
        "anthropic/sonnet",
        "your login, ask, shared, at most $1.00, 1 attempt",
    )


def test_what_an_api_calls_the_model_is_shown_beside_what_was_written() -> None:
    lead = AgentDefinition("lead", "api", "anthropic/claude-sonnet-5-5")
    choice = Choice("api", "anthropic/sonnet", "ANTHROPIC_API_KEY is set", "key ANTHROPIC_API_KEY")
    assert cast.brief(lead, choice)[2] == "anthropic/sonnet (claude-sonnet-5-5)"
    same = AgentDefinition("lead", "api", "openai/qwen/qwen3")
    assert cast.part(same, Choice("api", "openrouter/qwen/qwen3", "")).model == "openrouter/qwen/qwen3"


def test_of_people_nothing_is_said_that_does_not_apply() -> None:
    ana = AgentDefinition("ana", backend="human")
    choice = Choice("human", None, "agents.ana.backend in w.yaml")
    assert cast.row(ana, choice) == ("ana", "human", "-", "-", "-", "-", "-")
    assert cast.brief(ana, choice) == ("  ana", "human", "", "")


def test_who_cannot_be_run_is_shown_without_a_backend() -> None:
    lead = AgentDefinition("lead", model="anthropic/sonnet")
    assert cast.row(lead, None)[:4] == ("lead", "(none)", "anthropic/sonnet", "-")
