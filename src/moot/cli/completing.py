"""What a shell offers behind TAB where a name is wanted. Whatever goes wrong offers nothing: a prompt is no place for
errors."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from moot.core.tx import ReadTx

T = TypeVar("T")
Offer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def _names(function: Callable[[click.Context], Iterable[str]]) -> Offer:
    @wraps(function)
    def offer(context: click.Context, _: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        try:
            found = sorted(set(function(context)))
        except Exception:  # noqa: BLE001  # the boundary to a shell, which is in the middle of a line
            return []
        return [CompletionItem(one) for one in found if one.startswith(incomplete)]

    return offer


def _or_file(names: Offer) -> Offer:
    def offer(context: click.Context, parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        return names(context, parameter, incomplete) or [CompletionItem(incomplete, type="file")]

    return offer


@_names
def _workflow_names(context: click.Context) -> Iterable[str]:
    from moot.api.access import find_project
    from moot.app import shelves
    from moot.workflow import finding

    return finding.workflow_names(shelves.folders_of(find_project()))


@_names
def _agent_names(context: click.Context) -> Iterable[str]:
    from moot.api.access import find_project
    from moot.app import shelves

    return [file.stem for folder in shelves.folders_of(find_project()).people for file in folder.glob("agents/*.md")]


@_names
def instances(context: click.Context) -> Iterable[str]:
    from moot.registry import instances as known

    return [one.name for one in _read(context, known.all_of)]


@_names
def agents(context: click.Context) -> Iterable[str]:
    """Those of all instances, but for moot's own addresses."""
    from moot.registry import agents as members
    from moot.registry import instances as known

    streams = _read(context, lambda tx: [members.members(tx, one.stream) for one in known.all_of(tx)])
    return [one.name for found in streams for one in found if one.backend != "service"]


@_names
def examples(context: click.Context) -> Iterable[str]:
    from moot.api.examples import ALL

    return [one.name for one in ALL]


workflows = _or_file(_workflow_names)
agent_files = _or_file(_agent_names)


def _read(context: click.Context, look: "Callable[[ReadTx], T]") -> "T":
    """Something from the store of this project, if there is one."""
    import asyncio

    from moot.api.access import find_project
    from moot.app.stores import open_store

    async def work() -> "T":
        store = open_store(find_project().store_url(context.params.get("store")), create=False)
        try:
            return await store.read(look)
        finally:
            await store.close()

    return asyncio.run(work())
