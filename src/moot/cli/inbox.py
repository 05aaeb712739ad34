"""`moot inbox`: what waits for somebody; looking changes nothing."""

import click

from moot.api import plain, targets
from moot.api.connection import connect
from moot.bus.mailbox import Mail
from moot.cli import loop, terminal
from moot.cli.options import instance_option, json_option, limit_option, store_option
from moot.cli.transcript import Transcript
from moot.core.errors import InvalidInput
from moot.core.ids import InstanceName
from moot.store.errors import StoreNotFound


@click.command()
@click.argument("agent", required=False)
@click.option("--unread", is_flag=True, help="Only what is unread; that is the default.")
@click.option("--ack", is_flag=True, help="Acknowledge exactly what is printed; only in your own inbox.")
@limit_option(100, "At most so many, the oldest first.")
@instance_option
@store_option
@json_option
def command(  # noqa: PLR0913  # one for each option
    *,
    agent: str | None,
    unread: bool,
    ack: bool,
    limit: int,
    instance: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """What waits for you, or for AGENT (agent or agent@instance): mail that is queued, delivered or parked."""
    name, where = _whose(agent, instance)
    try:
        loop.run(_inbox(name, where, store, limit, ack=ack, as_json=as_json))
    except StoreNotFound:
        _show([], name, as_json=as_json)


def _whose(agent: str | None, instance: str | None) -> tuple[str | None, InstanceName | None]:
    if agent is None:
        return None, InstanceName(instance) if instance else None
    target = targets.parse(agent, instance=instance or targets.DEFAULT)
    if target.agent is None:
        raise InvalidInput(f"{agent!r} is a whole instance.", "Write agent or agent@instance.")
    if instance not in (None, target.instance):
        raise InvalidInput(f"{agent} is not in the instance {instance}.", "Leave --instance away.")
    return target.agent, target.instance if "@" in agent or instance else None


async def _inbox(
    name: str | None, instance: InstanceName | None, store: str | None, limit: int, *, ack: bool, as_json: bool
) -> None:
    async with connect(store=store, instance=instance) as connection:
        if ack:
            connection.check_own(name)
        mail = await connection.inbox(name, limit=limit)
        _show(mail, name, as_json=as_json)
        terminal.flush()  # only what has been read is acknowledged
        if ack and mail:
            await connection.acknowledge(mail)


def _show(mail: list[Mail], name: str | None, *, as_json: bool) -> None:
    if as_json:
        terminal.document([plain.mail(one) for one in mail])
        return
    if not mail:
        terminal.say(f"nothing waits for {name or 'you'}")
    transcript = Transcript()
    for one in mail:
        transcript.message(one)
        marks = [one.id, *(["high"] if one.priority == "high" else []), *(["parked"] if one.state == "parked" else [])]
        transcript.aside("  ".join(marks))
