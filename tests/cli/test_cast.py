"""A run's first lines and `moot check` say the same of an agent."""

from moot.cli import cast
from moot.workflow.workflow import AgentDefinition, Budget


def test_who_runs_by_model_shows_its_limits_in_the_singular() -> None:
    lead = AgentDefinition("lead", model="anthropic/sonnet", budget=Budget(cost=1, attempts=1))
    assert cast.row(lead) == ("lead", "(by model)", "anthropic/sonnet", "ask", "shared", "$1.00, 1 attempt")
    assert cast.brief(lead) == (
        "  lead",
        "(by model)",
        "anthropic/sonnet",
        "ask, shared, at most $1.00, 1 attempt",
    )


def test_of_people_nothing_is_said_that_does_not_apply() -> None:
    ana = AgentDefinition("ana", backend="human")
    assert cast.row(ana) == ("ana", "human", "-", "-", "-", "-")
    assert cast.brief(ana) == ("  ana", "human", "", "")
