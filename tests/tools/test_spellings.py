"""Two spellings of the tools for workflows with steps: each name of one is one of the other, and of a tool that is
there."""

import pytest

from moot.runner.flows import deeds
from moot.tools import spellings
from moot.tools.table import TOOLS


def test_every_other_spelling_is_of_a_tool_and_of_one_only() -> None:
    assert set(spellings.DOTTED) <= set(TOOLS)
    assert len(set(spellings.DOTTED.values())) == len(spellings.DOTTED)
    assert not set(spellings.DOTTED.values()) & set(TOOLS)


def test_all_tools_for_flows_have_one() -> None:
    of_flows = {name for name, tool in TOOLS.items() if tool.group in ("flow", "state", "debug")}
    assert set(spellings.DOTTED) == of_flows | {"workflow_list"}


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_name_comes_back_from_its_other_spelling(name: str) -> None:
    assert spellings.own(spellings.spelled(name, "dotted")) == name
    assert spellings.own(name) == spellings.spelled(name, "underscored") == name


def test_words_that_name_tools_are_spelled_alike() -> None:
    words = "workflow_list, then workflow_state_read; no workflow_listing."
    assert spellings.in_words(words, "dotted") == "workflow.instances, then workflow_state.read; no workflow_listing."
    assert spellings.in_words(words, "underscored") == words


def test_steps_may_call_tools_in_both_spellings() -> None:
    assert deeds.own_name("workflow.list") == "workflow_definitions"
    assert deeds.own_name("workflow_list") == "workflow_list"
    assert deeds.own_name("workflow_state.update") == "workflow_state_update"
    assert deeds.own_name("channel.send") == "channel_send"
