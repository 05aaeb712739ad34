"""Targets as people write them."""

import pytest

from moot.api import targets
from moot.api.targets import Target
from moot.core.ids import InstanceName
from moot.registry.errors import NameRefused


@pytest.mark.parametrize(
    ("text", "agent", "instance"),
    [("coder", "coder", "default"), ("coder@pr-1", "coder", "pr-1"), ("@pr-1", None, "pr-1")],
)
def test_agent_instance_or_both(text: str, agent: str | None, instance: str) -> None:
    assert targets.parse(text) == Target(agent, InstanceName(instance))


def test_an_instance_given_elsewhere_is_used_where_none_is_named() -> None:
    assert targets.parse("coder", instance="pr-2") == Target("coder", InstanceName("pr-2"))
    assert targets.parse("coder@pr-1", instance="pr-2") == Target("coder", InstanceName("pr-1"))


@pytest.mark.parametrize("text", ["coder@", "@", "a@b@c", "coder@../x", "coder@ x"])
def test_what_names_no_instance_is_refused(text: str) -> None:
    with pytest.raises(NameRefused):
        targets.parse(text)
