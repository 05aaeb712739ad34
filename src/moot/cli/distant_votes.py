"""`moot vote` of an agent that reaches only its server: the same, by the tools."""

from typing import TYPE_CHECKING, Any

from moot.cli import terminal
from moot.core.json import Json

if TYPE_CHECKING:
    from moot.api.distant import Distant

NONE = "nothing to vote on"
HEADING = ("ID", "STATUS", "VOTES", "TITLE")
LEAST_WIDTHS = (8, 8, 5)


async def listed(instance: str | None, distant: "Distant", *, as_json: bool) -> None:
    distant.check(instance)
    found = (await distant.ask("proposal_status"))["proposals"]
    if as_json:
        terminal.document(found)
    elif not found:
        terminal.say(NONE)
    else:
        terminal.table([HEADING, *(_row(one) for one in found)], LEAST_WIDTHS)


async def shown(instance: str | None, id: str, distant: "Distant", *, as_json: bool) -> None:
    distant.check(instance)
    one = (await distant.ask("proposal_status", proposal=id))["proposal"]
    if as_json:
        terminal.document(one)
        return
    terminal.say(terminal.paint(one["id"], "bold"), f"  {one['status']}  {terminal.one_line(one['title'])}")
    if one["description"]:
        terminal.say(one["description"])
    counts, votes = one["result"]["counts"], one["result"]["votes"]
    rows = [
        (str(counts[option["id"]]), option["id"], option["label"], _voters(votes, option["id"]))
        for option in one["options"]
    ]
    terminal.table([("VOTES", "OPTION", "LABEL", "VOTERS"), *rows], (5, 8, 10))


async def voted(instance: str | None, ballot: dict[str, Json], distant: "Distant", *, as_json: bool) -> None:
    distant.check(instance)
    found = await distant.ask("vote", **ballot)
    if as_json:
        is_new = found["status"] != "already recorded"
        terminal.document({"choice": found["choice"], "recorded": is_new, "proposal": found["proposal"]})
        return
    match found["status"]:
        case "decided":
            terminal.say(f'decided for "{found["label"]}"')
        case "recorded":
            terminal.say(f'voted for "{found["label"]}"; {found["votes"]}/{found["quorum"]} votes received')
        case _:
            terminal.say(f'vote already recorded for "{found["label"]}"')


async def cancelled(instance: str | None, id: str, reason: str, distant: "Distant", *, as_json: bool) -> None:
    distant.check(instance)
    one = await distant.ask("proposal_cancel", proposal=id, reason=reason)
    if as_json:
        terminal.document(one)
    else:
        terminal.say(f"cancelled {one['id']}")


def _row(one: dict[str, Any]) -> tuple[str, str, str, str]:
    counted = f"{len(one['result']['votes'])}/{one['resolution']['quorum']}"
    return one["id"], one["status"], counted, one["title"]


def _voters(votes: dict[str, str], option: str) -> str:
    return ", ".join(voter for voter, choice in votes.items() if choice == option)
