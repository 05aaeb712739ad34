"""`moot log`: the conversation, or every event, so far and as it goes on."""

from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING

import click

from moot.api import history, plain, targets
from moot.api.access import wait_for_store
from moot.api.connection import Connection, connect
from moot.bus.messages import Message
from moot.cli import audience, hints, inside, loop, terminal
from moot.cli.options import instance_option, json_option, limit_option, store_option
from moot.cli.transcript import Transcript, clock_time
from moot.core.events import StoredEvent
from moot.core.records import record
from moot.registry.names import fold
from moot.store.errors import StoreNotFound
from moot.tools.talk import Words

if TYPE_CHECKING:
    from moot.api.distant import Distant

QUIET = 'nothing was said yet; begin with: moot send "hello @name"'
Shown = Message | StoredEvent


@record
class View:
    """What to show, and how."""

    limit: int
    follow: bool
    as_json: bool
    receipts: bool
    events: bool
    agent: str | None  # only what it has said or heard

    def shows(self, one: Message) -> bool:
        name = None if self.agent is None else fold(self.agent)
        return name is None or name in map(fold, (one.sender, *one.mentions))


@click.command()
@click.option("--follow", "-f", is_flag=True, help="Go on with what comes, until Ctrl-C.")
@limit_option(50, "The last N.")
@click.option("--receipts", is_flag=True, help="How far each message has come with its recipients.")
@click.option("--events", is_flag=True, help="Every event instead of what was said.")
@click.option("--raw", metavar="AGENT", help="All that an agent writes and does on its way, as it ran on this machine.")
@click.option("--to", metavar="TARGET", help="Only what an agent has said or heard: agent, agent@instance, @instance.")
@instance_option
@store_option
@json_option
def command(  # noqa: PLR0913  # one for each option
    *,
    follow: bool,
    limit: int,
    receipts: bool,
    events: bool,
    raw: str | None,
    to: str | None,
    instance: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """The conversation, in local time. With --json one document; with --json -f one a line."""
    if receipts and events:
        raise click.UsageError("--receipts belongs to messages and cannot be used with --events.")
    if to is not None and (events or raw is not None):
        raise click.UsageError("--to belongs to messages and cannot be used with --events or --raw.")
    if raw is not None:
        _raw(raw, instance, store, limit, follow=follow, as_json=as_json, has_others=receipts or events)
        return
    target = None if to is None else targets.within(to, instance)
    if to is not None and target is not None and "@" in to:
        instance = target.instance
    view = View(limit, follow, as_json, receipts, events, target.agent if target else None)
    try:
        work = _log(view, instance, store)
        if follow or receipts or events:
            loop.run(audience.while_read(work) if follow else work)
        else:
            inside.run(work, partial(_log_distant, view, instance))
    except StoreNotFound:
        if follow:
            raise
        _nothing(view)


def _raw(  # noqa: PLR0913  # one for each option
    agent: str, instance: str | None, store: str | None, limit: int, *, follow: bool, as_json: bool, has_others: bool
) -> None:
    from moot.cli import raw

    if has_others:
        raise click.UsageError("--raw shows one agent's work and cannot be used with --receipts or --events.")
    target = targets.within(agent, instance)
    if target is None or target.agent is None:
        raise click.UsageError(f"{agent} names no agent; write --raw agent or --raw agent@instance.")
    work = raw.show(target, store, limit, is_followed=follow, as_json=as_json)
    loop.run(audience.while_read(work) if follow else work)


async def _log(view: View, instance: str | None, store: str | None) -> None:
    if view.follow:
        await wait_for_store(store, hints.no_store)
    async with connect("channel_read", store=store, instance=instance, waits=view.follow) as opened:
        is_placed = instance is not None or view.agent is None
        connection = opened if is_placed else await opened.for_words(Words("", to=(view.agent or "",)))
        found: list[Message] | list[StoredEvent] = (
            await history.latest(connection, view.limit)
            if view.events
            else await connection.latest(view.limit, view.agent)
        )
        if view.as_json and not view.follow:
            terminal.document([await _plain(connection, view, one) for one in found])
            return
        if not found and not view.follow:
            _nothing(view)
        transcript = Transcript()
        for one in found:
            await _show(connection, view, transcript, one)
        if view.follow:
            terminal.flush()
            async for one in _coming(connection, view, found[-1].seq if found else 0):
                if isinstance(one, StoredEvent) or view.shows(one):
                    await _show(connection, view, transcript, one)
                    terminal.flush()


async def _log_distant(view: View, instance: str | None, distant: "Distant") -> None:
    distant.check(instance)
    found = [one for one in await distant.latest(view.limit) if view.shows(one)]
    if view.as_json:
        terminal.document([plain.message(one) for one in found])
        return
    if not found:
        _nothing(view)
    transcript = Transcript()
    for one in found:
        transcript.message(one)


def _coming(connection: Connection, view: View, after: int) -> AsyncIterator[Message] | AsyncIterator[StoredEvent]:
    return history.follow(connection, after) if view.events else connection.follow(after)


def _nothing(view: View) -> None:
    if view.as_json:
        terminal.document([])
    else:
        terminal.say(QUIET)


async def _show(connection: Connection, view: View, transcript: Transcript, one: Shown) -> None:
    if view.as_json:
        terminal.line(await _plain(connection, view, one))
        return
    if isinstance(one, StoredEvent):
        transcript.event(one)
        return
    transcript.message(one)
    if view.receipts:
        for name, receipt in await connection.receipts(one):
            moment = receipt.acked_at or receipt.delivered_at
            transcript.aside(f"-> {name} {receipt.state}{f' {clock_time(moment)}' if moment else ''}")


async def _plain(connection: Connection, view: View, one: Shown) -> plain.Plain:
    if isinstance(one, StoredEvent):
        return plain.event(one)
    found = plain.message(one)
    if view.receipts:
        found["receipts"] = [plain.receipt(name, receipt) for name, receipt in await connection.receipts(one)]
    return found
