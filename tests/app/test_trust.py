"""Whose commands would have all rights of the user is told, and refused if they would not even ask."""

import pytest

from moot.app import trust
from moot.core.permissions import PRESETS
from moot.process import confinement
from moot.workflow.workflow import AgentDefinition

FREE = AgentDefinition("free", "api", tools=("shell",), permissions=PRESETS["full"])
ASKS = AgentDefinition("asks", "api", tools=("shell",), permissions=PRESETS["ask"])
DENIED = AgentDefinition("denied", "api", tools=("shell",), permissions=PRESETS["read-only"])
WITHOUT = AgentDefinition("without", "api", tools=("files",), permissions=PRESETS["full"])
ALL = (FREE, ASKS, DENIED, WITHOUT)


@pytest.mark.usefixtures("without_landlock")
def test_who_runs_commands_that_cannot_be_confined_is_refused_unless_it_asks() -> None:
    assert trust.unconfined(ALL) == ("free", "asks")
    told = trust.unconfined_refusal(ALL)
    assert told is not None
    assert (told.code, told.exit_code) == ("NOT_CONFINED", 2)
    assert told.fact.endswith("without asking: free.")
    assert trust.unconfined_refusal((ASKS, DENIED, WITHOUT)) is None


@pytest.mark.usefixtures("without_landlock")
def test_a_person_can_be_content_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(confinement.SETTING, "unconfined")
    assert trust.unconfined_refusal(ALL) is None
    assert trust.unconfined(ALL) == ("free", "asks")


@pytest.mark.skipif(confinement.reach() == "unconfined", reason="this kernel has no Landlock of Linux 6.2")
def test_nobody_is_named_where_commands_are_confined() -> None:
    assert trust.unconfined(ALL) == ()
    assert trust.unconfined_refusal(ALL) is None
