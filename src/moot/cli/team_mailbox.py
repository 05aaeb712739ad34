"""`team_mailbox.sh`: what lies in the mailboxes of a team, and what waits for an answer."""

from collections.abc import Sequence
from typing import Literal

import click

from moot.api import team_mail
from moot.api.plain import Plain
from moot.api.team_mail import Post
from moot.cli import loop, program, team_place, terminal
from moot.cli.options import json_option, limit_option
from moot.cli.team_place import Place
from moot.core.records import replace

HEADING = ("REQUEST", "TYPE", "FROM", "TO", "STATUS", "TITLE")
KEYS = ("request_id", "type", "from", "to", "status", "title")
LEAST_WIDTHS = (23, 13, 8, 8, 8)
MEMBERS, MEMBER_WIDTHS = ("NAME", "ROLE", "PRESENCE"), (10, 8)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@team_place.options
@click.option(
    "--mode", type=click.Choice(("auto", "fs", "db")), default="auto", help="From the files, or from the store."
)
@click.pass_context
def command(  # noqa: PLR0913  # one for each option
    context: click.Context,
    *,
    db: str | None,
    room: str,
    repo: str | None,
    session: str | None,
    store: str | None,
    mode: Literal["auto", "fs", "db"],
) -> None:
    """Mailboxes of a team: what was read and what was not, and what waits for an answer."""
    place = team_place.found(db, room, repo, session, store)
    context.obj = replace(place, mode="fs" if mode == "fs" else "db")


@command.command()
@click.argument("agent")
@click.option("--unread", is_flag=True, help="Only what was not read.")
@click.option("--mark-read", is_flag=True, help="What is printed counts as read.")
@limit_option(200, "The last N.")
@json_option
@click.pass_obj
def inbox(place: Place, *, agent: str, unread: bool, mark_read: bool, limit: int, as_json: bool) -> None:
    """What lies in the mailbox of AGENT, oldest first."""
    loop.run(_inbox(place, agent, limit, is_unread=unread, marks=mark_read, as_json=as_json))


@command.command("mark-read")
@click.argument("agent")
@click.option("--all", "every", is_flag=True, help="Everything that is unread.")
@click.option("--id", "ids", type=int, multiple=True, metavar="N", help="One message by its number; may be repeated.")
@json_option
@click.pass_obj
def mark_read(place: Place, *, agent: str, every: bool, ids: tuple[int, ...], as_json: bool) -> None:
    """AGENT is done with messages."""
    if every == bool(ids):
        raise click.UsageError("Say --all, or which: --id N.")
    count = loop.run(_mark(place, agent, None if every else ids))
    if as_json:
        terminal.document({"agent": agent, "marked": count})
    else:
        terminal.say(f"marked {count} as read")


@command.command()
@click.argument("agent")
@click.option("--all-status", is_flag=True, help="Also what is answered, or over otherwise.")
@limit_option(200, "The last N.")
@json_option
@click.pass_obj
def pending(place: Place, *, agent: str, all_status: bool, limit: int, as_json: bool) -> None:
    """Control requests that wait for the answer of AGENT."""
    found = loop.run(_pending(place, agent, is_whole=all_status))[-limit:]
    if as_json:
        terminal.document(found)
    elif found:
        terminal.table([HEADING, *(tuple(str(one[key]) for key in KEYS) for one in found)], LEAST_WIDTHS)
    else:
        terminal.say(f"nothing waits for the answer of {agent}")


@command.command()
@json_option
@click.pass_obj
def members(place: Place, *, as_json: bool) -> None:
    """Who is in the team."""
    found = loop.run(_members(place))
    if as_json:
        terminal.document(found)
        return
    rows = [tuple(str(one[key]) for key in ("name", "role", "presence")) for one in found]
    terminal.table([MEMBERS, *rows], MEMBER_WIDTHS)


async def _inbox(place: Place, agent: str, limit: int, *, is_unread: bool, marks: bool, as_json: bool) -> None:
    async with team_place.opened(place, "inbox_check") as connection:
        connection.check_reader(agent)
        own = await team_place.speaking(connection, agent, "inbox_check") if marks else connection
        post = await team_mail.post(own, place.mode)
        found = [one for one in await post.inbox(agent) if not (is_unread and one["read"])][-limit:]
        _show(found, agent, as_json=as_json)
        terminal.flush()  # only what was printed counts as read
        if marks:
            await _acknowledge(post, agent, [int(str(one["seq"])) for one in found])


def _show(found: list[Plain], agent: str, *, as_json: bool) -> None:
    from moot.api import distant
    from moot.cli.transcript import Transcript

    if as_json:
        terminal.document(found)
        return
    if not found:
        terminal.say(f"nothing lies in the mailbox of {agent}")
    transcript = Transcript()
    for one in found:
        transcript.message(distant.message_of({**one, "mentions": one["to"]}))
        marks = [f"no. {one['seq']}", "read" if one["read"] else "unread", str(one["request_id"] or "")]
        transcript.aside("  ".join(filter(None, marks)))


async def _mark(place: Place, agent: str, seqs: tuple[int, ...] | None) -> int:
    async with team_place.opened(place, "inbox_check") as connection:
        own = await team_place.speaking(connection, agent, "inbox_check")
        count = await _acknowledge(await team_mail.post(own, place.mode), agent, seqs)
        await team_mail.post(own, place.mode)  # the files know of it, too
        return count


async def _acknowledge(post: Post, agent: str, seqs: Sequence[int] | None) -> int:
    return await post.connection.acknowledge(await post.unread(agent, seqs))


async def _pending(place: Place, agent: str, *, is_whole: bool) -> list[Plain]:
    async with team_place.opened(place, "request_list") as connection:
        post = await team_mail.post(connection, place.mode)
        if not is_whole:
            return await post.pending(agent)
        return [one for one in await post.control() if one["to"] == post.named(agent)]


async def _members(place: Place) -> list[Plain]:
    async with team_place.opened(place, "agent_list") as connection:
        return (await team_mail.post(connection, place.mode)).members()


def call(name: str, arguments: list[str]) -> int:
    return program.invoke(command, name, arguments)
