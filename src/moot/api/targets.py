"""Targets as people write them: `agent`, `agent@instance`, `@instance`."""

from dataclasses import dataclass

from moot.core.ids import DEFAULT_INSTANCE, InstanceName
from moot.registry import names
from moot.registry.errors import NameRefused

DEFAULT = DEFAULT_INSTANCE


@dataclass(frozen=True, slots=True)
class Target:
    """An agent in an instance, or the whole instance."""

    agent: str | None
    instance: InstanceName


def parse(text: str, *, instance: str = DEFAULT) -> Target:
    """`instance` is used when the text names none."""
    agent, at, named = text.partition("@")
    if at and not named:
        raise NameRefused(f"{text[:80]!r} names no instance after the @.", "Write agent@instance, or just agent.")
    return Target(agent or None, InstanceName(names.check_instance(named or instance)))


def instance(text: str | None) -> InstanceName:
    """An instance as people write it, with or without the @; by default the default one."""
    return DEFAULT if text is None else InstanceName(names.check_instance(text.removeprefix("@")))
