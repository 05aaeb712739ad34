"""What `--budget` takes, and what it says to the rest."""

from datetime import timedelta

import pytest

from moot.app import budgets
from moot.app.budgets import BudgetInvalid
from moot.workflow.workflow import RUN_BUDGET, Budget


def test_what_is_named_is_changed_and_the_rest_stays() -> None:
    changes = budgets.parse("cost=20.5, attempts=400,time=2h")
    assert budgets.changed(RUN_BUDGET, changes) == Budget(20.5, timedelta(hours=2), 400)
    assert budgets.changed(RUN_BUDGET, budgets.parse(None)) == RUN_BUDGET
    assert budgets.changed(RUN_BUDGET, budgets.parse("tokens=5,turns=6")) == Budget(
        10.0, timedelta(minutes=60), 200, 5, 6
    )


def test_none_is_no_limit() -> None:
    assert budgets.changed(RUN_BUDGET, budgets.parse("none")) == Budget()
    assert budgets.changed(RUN_BUDGET, budgets.parse("cost=none")) == Budget(None, timedelta(minutes=60), 200)


@pytest.mark.parametrize(
    ("spelling", "fact", "remedy"),
    [
        ("", "There is no budget for ''.", "Known are: attempts, cost, time, tokens, turns."),
        ("atempts=3", "There is no budget for 'atempts'.", "Did you mean `attempts`?"),
        ("attempts=0", "attempts: '0' is not a whole number above 0.", "Write attempts=20, or attempts=none."),
        ("attempts=1.5", "attempts: '1.5' is not a whole number above 0.", "Write attempts=20, or attempts=none."),
        ("attempts", "attempts: '' is not a whole number above 0.", "Write attempts=20, or attempts=none."),
        ("cost=-1", "cost: '-1' is not a number above 0.", "Write cost=20, or cost=none."),
        ("cost=nan", "cost: 'nan' is not a number above 0.", "Write cost=20, or cost=none."),
        ("cost=inf", "cost: 'inf' is too large.", "Write fewer digits, or cost=none."),
        ("time=5", "time: '5' is not a duration.", "Write a number and a unit: 500ms, 30s, 5m, 2h, 1d."),
        ("time=0s", "time: it must be longer than nothing.", "Write a number and a unit: 30m, 2h."),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(spelling: str, fact: str, remedy: str) -> None:
    with pytest.raises(BudgetInvalid) as refused:
        budgets.parse(spelling)
    assert (refused.value.code, refused.value.exit_code) == ("BUDGET_INVALID", 2)
    assert (refused.value.fact, refused.value.remedy) == (fact, remedy)
