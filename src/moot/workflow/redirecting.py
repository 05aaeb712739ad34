"""What the configuration of a project may not say, because it comes with whatever repository one works in: that what is
meant for a known provider, its key above all, goes to another address."""

from collections.abc import Iterator

from moot.core import problems, yaml
from moot.core.problems import Problem
from moot.workflow.catalog import Catalog, ProviderShape
from moot.workflow.shape import ProjectShape

_REMEDY = "Leave it out, or write it into your own ~/.moot/config.yaml if you want that."


def found(said: ProjectShape, known: Catalog) -> Iterator[Problem]:
    """`known` is what moot and the person's own configuration say."""
    for name, one in said.models.providers.items() if said.models else ():
        if (whose := _redirected(name, one, known)) is not None:
            yield _problem(("models", "providers", name), f"would send {whose} to another address")
    if said.defaults is not None and said.defaults.base_url is not None:
        yield _problem(("defaults", "base_url"), "would send what every agent says, and its key, to another address")


def _problem(path: yaml.Path, what: str) -> Problem:
    return Problem(path, f"`{problems.spell(path)}` comes with the project and {what}", _REMEDY, is_key=True)


def _redirected(name: str, said: ProviderShape, known: Catalog) -> str | None:
    for one in known.providers.values():
        if (said.api, said.base_url) == (one.api, one.base_url):
            continue
        if (key := next((key for key in said.keys if key in one.keys), None)) is not None:
            return f"the key of {one.name} ({key})"
        if one.name == name:
            return f"what is meant for {name}"
    return None
