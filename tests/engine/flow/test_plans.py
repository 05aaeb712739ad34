"""What a flow has done is found by an index, however much that is."""

import pytest

from moot.core.tx import Query
from moot.engine.flow import history, inbox, strands
from tests.plans import plan_on_sqlite


def test_a_step_that_an_agent_names_is_not_looked_for_among_all_that_were_taken() -> None:
    plan = plan_on_sqlite(history.sql.last_of_agent)
    assert "flow_steps_of_agents (flow=? AND strand=? AND step_id=?)" in plan
    assert "PRIMARY KEY (flow=? AND number=?)" in plan


@pytest.mark.parametrize("query", [strands.sql.of_flow, strands.sql.held, inbox.sql.waiting, inbox.sql.first])
def test_of_other_flows_nothing_is_looked_at(query: Query) -> None:
    assert "SCAN" not in plan_on_sqlite(query)
