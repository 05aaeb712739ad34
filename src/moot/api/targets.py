"""Targets as people write them: `agent`, `agent@instance`, `@instance`; the default instance goes without saying."""

import os

from moot.core.errors import InvalidInput
from moot.core.ids import DEFAULT_INSTANCE, InstanceName
from moot.core.records import record
from moot.registry import names
from moot.registry.errors import NameRefused

DEFAULT = DEFAULT_INSTANCE
QUESTION = "ask-"  # how the instances of questions begin, which nobody means by saying nothing


def home() -> str:
    """The instance that is meant where none is named: an agent's own, else the default one."""
    return os.environ.get("MOOT_INSTANCE") or DEFAULT if os.environ.get("MOOT_TOKEN") else DEFAULT


@record
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


def within(text: str | None, instance: str | None) -> Target | None:
    """What an argument and `--instance` say together; None if neither says anything."""
    if text is None:
        return None if instance is None else Target(None, InstanceName(names.check_instance(instance)))
    target = parse(text, instance=instance or DEFAULT)
    if instance not in (None, target.instance):
        raise InvalidInput(f"{text} is not in the instance {instance}.", "Leave --instance away.")
    return target


def instance(text: str | None, option: str | None = None) -> InstanceName:
    """An instance as people write it, with or without the @, as an argument or as `--instance`."""
    named = None if text is None else InstanceName(names.check_instance(text.removeprefix("@")))
    if option is None:
        return named or DEFAULT
    if named not in (None, option):
        raise InvalidInput(f"{named} and --instance {option} are two instances.", "Name one.")
    return InstanceName(names.check_instance(option))


def agent_in(name: str, instance: str) -> str:
    """`bob`, or `bob@n`."""
    return name if instance == DEFAULT else f"{name}@{instance}"


def joining(name: str, instance: str) -> str:
    """The command by which an agent from outside joins."""
    return f"moot mcp --as {agent_in(name, instance)}"


def whole(command: str, instance: str) -> str:
    """A command for a whole instance: `moot resume`, or `moot resume @n`."""
    return command if instance == DEFAULT else f"{command} @{instance}"


def at(command: str, instance: str) -> str:
    """A command in an instance: `moot inbox`, or `moot inbox --instance n`."""
    return command if instance == DEFAULT else f"{command} --instance {instance}"
