"""`moot doc`: the documents of an instance; list, show, edit, write, history, delete."""

import os
import sys
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from moot.api import documents
from moot.api.access import Access, access
from moot.cli import inside, loop, terminal
from moot.cli.options import instance_option, json_option, limit_option, store_option
from moot.cli.transcript import date_and_time
from moot.core.errors import InvalidInput, MootError
from moot.documents.documents import Document, Version, Written
from moot.documents.errors import DocumentNotFound
from moot.store.errors import StoreNotFound

if TYPE_CHECKING:
    from moot.api.distant import Distant

_MOST_VERSION = 2**53
F = TypeVar("F", bound=Callable[..., Any])
NONE = "no documents yet; make one with: moot doc edit notes.md"
STDIN = "-"
HEADING = ("DOCUMENT", "VERSION", "BY", "CHANGED")
LEAST_WIDTHS = (19, 7, 8)
PAST_HEADING = ("VERSION", "ACTION", "BY", "CHANGED")
PAST_WIDTHS = (7, 8, 8)


class EditorFailed(MootError):
    """What was typed there is not taken."""

    code = "EDITOR_FAILED"


def _where(function: F) -> F:
    return instance_option(store_option(json_option(function)))


@click.group(invoke_without_command=True)
@_where
@click.pass_context
def command(ctx: click.Context, instance: str | None, store: str | None, as_json: bool) -> None:
    """The documents that the agents of an instance keep together. Without a command: list them."""
    if ctx.invoked_subcommand is None:
        _list(instance, store, as_json=as_json)
    else:
        assert isinstance(ctx.command, click.Group)
        given = {"instance": instance, "store": store, "as_json": as_json or None}
        chosen = {name: value for name, value in given.items() if value is not None}
        ctx.default_map = dict.fromkeys(ctx.command.commands, chosen)


@command.command("list")
@_where
def list_all(instance: str | None, store: str | None, as_json: bool) -> None:
    """List the documents."""
    _list(instance, store, as_json=as_json)


@command.command()
@click.argument("file", required=False)
@click.option("--version", "version", type=click.IntRange(1, _MOST_VERSION), metavar="N", help="An old version.")
@_where
def show(file: str | None, version: int | None, instance: str | None, store: str | None, as_json: bool) -> None:
    """Print a document; without FILE the entry point."""

    async def work() -> Document:
        async with access("document_read", store=store, instance=instance) as opened:
            await documents.refresh(opened)
            return await documents.read(opened, file, version)

    async def instead(distant: "Distant") -> Document:
        distant.check(instance)
        return await distant.read(file, version)

    found = inside.run(work(), instead)
    if as_json:
        terminal.document(documents.plain_document(found))
    elif terminal.is_terminal(sys.stdout):
        terminal.say(found.content.removesuffix("\n"))
    else:
        click.echo(found.content.encode(), nl=False)  # as it is: a program reads it


@command.command()
@click.argument("file", required=False)
@limit_option(50, "The last N versions.")
@_where
def history(file: str | None, limit: int, instance: str | None, store: str | None, as_json: bool) -> None:
    """Who changed a document and when, oldest first."""

    async def work() -> list[Version]:
        async with access("document_history", store=store, instance=instance) as opened:
            await documents.refresh(opened)
            return await documents.history(opened, file, limit)

    async def instead(distant: "Distant") -> list[Version]:
        distant.check(instance)
        return await distant.history(file, limit)

    found = inside.run(work(), instead)
    if as_json:
        terminal.document([documents.plain_version(one) for one in found])
        return
    rows = [(str(one.version), one.action, one.author, date_and_time(one.at)) for one in found]
    terminal.table([PAST_HEADING, *rows], PAST_WIDTHS)


@command.command()
@click.argument("file", required=False)
@_where
def edit(file: str | None, instance: str | None, store: str | None, as_json: bool) -> None:
    """Change a document with $VISUAL or $EDITOR; without FILE the entry point."""

    async def work() -> None:
        async with access("document_write", store=store, instance=instance, create=True) as opened:
            await documents.refresh(opened)
            name, version, before = await _before(opened, file)
            after = _edited(name, before)
            if after is None or after == before:
                terminal.note(f"{name} was not changed")
                return
            try:
                written = await documents.write(opened, name, after, version)
            except MootError as error:
                raise _rescued(error, name, after) from error
            await documents.refresh(opened)
        _report(written, as_json=as_json)

    loop.run(work())


@command.command()
@click.argument("file")
@click.argument("source", default=STDIN)
@click.option("--append", is_flag=True, help="Behind what is there.")
@click.option("--if-version", type=click.IntRange(0), metavar="N", help="Only over this version; 0: only if it is new.")
@_where
def write(  # noqa: PLR0913  # one for each option
    *,
    file: str,
    source: str,
    append: bool,
    if_version: int | None,
    instance: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Write a document from the file SOURCE, or from stdin."""
    content = _source(source)

    async def work() -> Written:
        async with access(
            "document_append" if append else "document_write", store=store, instance=instance, create=True
        ) as opened:
            await documents.refresh(opened)
            change = documents.append if append else documents.write
            written = await change(opened, file, content, if_version)
            await documents.refresh(opened)
        return written

    async def instead(distant: "Distant") -> Written:
        distant.check(instance)
        return await distant.write(file, content, if_version, is_appended=append)

    _report(inside.run(work(), instead), as_json=as_json)


@command.command()
@click.argument("file")
@_where
def rm(file: str, instance: str | None, store: str | None, as_json: bool) -> None:
    """Delete a document; its versions stay readable."""

    async def work() -> Written:
        async with access("document_delete", store=store, instance=instance) as opened:
            await documents.refresh(opened)
            written = await documents.delete(opened, file)
            await documents.refresh(opened)
        return written

    async def instead(distant: "Distant") -> Written:
        distant.check(instance)
        return await distant.delete(file)

    _report(inside.run(work(), instead), as_json=as_json)


def _list(instance: str | None, store: str | None, *, as_json: bool) -> None:
    async def work() -> documents.Shelf:
        async with access("document_list", store=store, instance=instance) as opened:
            await documents.refresh(opened)
            return await documents.shelf(opened)

    async def instead(distant: "Distant") -> documents.Shelf:
        distant.check(instance)
        return await distant.shelf()

    try:
        found = inside.run(work(), instead)
    except StoreNotFound:
        found = documents.Shelf("", None, [])
    if as_json:
        terminal.document([documents.plain_listing(one, found.entry_point) for one in found.documents])
    elif not found.documents:
        terminal.say(NONE)
    else:
        rows = [(one.file, str(one.version), one.author, date_and_time(one.at)) for one in found.documents]
        terminal.table([HEADING, *rows], LEAST_WIDTHS)
        if found.owner:
            terminal.say(f"only {found.owner} and you can write them")


async def _before(opened: Access, file: str | None) -> tuple[str, int, str]:
    """Name, version and text of what is going to be edited; nothing yet, if it is new."""
    try:
        found = await documents.read(opened, file)
    except DocumentNotFound:
        assert file is not None
        return file, 0, ""
    return found.file, found.version, found.content


def _edited(name: str, before: str) -> str | None:
    try:
        return click.edit(before, extension=os.path.splitext(name)[1] or ".txt")
    except click.ClickException as error:
        fact = f"The editor ended with an error ({error.message}); nothing was changed."
        raise EditorFailed(fact, "See $VISUAL and $EDITOR.") from error


def _rescued(error: MootError, name: str, text: str) -> MootError:
    """What somebody has typed is not thrown away because it could not be written."""
    stem, ending = os.path.splitext(os.path.basename(name))
    descriptor, kept = tempfile.mkstemp(prefix=f"{stem}-", suffix=ending)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    error.remedy = f"Your text is in {kept}. {error.remedy}"
    return error


def _source(source: str) -> str:
    try:
        with click.open_file(source, "rb") as file:
            return file.read().decode()
    except OSError as error:
        raise InvalidInput(f"{source} cannot be read: {error.strerror}.", "Check the path.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput("The text is not UTF-8.", "Convert it, and write it again.") from error


def _report(written: Written, *, as_json: bool) -> None:
    if as_json:
        terminal.document(documents.plain_written(written))
    elif written.is_new:
        terminal.say(f"{written.action} {written.file} (version {written.version})")
    else:
        terminal.say(f"{written.file} is as it was (version {written.version})")
