"""What needs the person, as lines: one thing with exactly what is asked and how to answer it, the others by a line."""

from collections.abc import Iterable, Iterator
from itertools import islice

from rich.cells import chop_cells
from rich.text import Text

from moot.api.needs import Need
from moot.bus.mailbox import Mail
from moot.cli import terminal
from moot.cli.live.attention import Attention
from moot.cli.live.paper import Section, joined, words
from moot.cli.transcript import colour_of
from moot.core import text
from moot.proposals.proposals import Proposal
from moot.requests.requests import Kind, Request

_ROWS = 12  # of what is asked; all of it stands in the conversation
_OTHERS = 3
_WANTS: dict[Kind, str] = {
    "permission": "wants to do this",
    "plan_approval": "wants a plan approved",
    "shutdown": "wants to stop",
    "mode_set": "wants other permissions",
    "question": "asks",
}
_MORE = "… more of it stands above"


def section(attention: Attention, columns: int) -> Section:
    current, others = attention.current, attention.others
    if current is None:
        return Section(0, tuple(_earlier(attention)))
    body = list(islice(_folded(_body(current), columns - 2), _ROWS + 1))
    heading, answering = _heading(current), _answering(attention)
    more = [*(_line(one) for one in others[:_OTHERS]), *_earlier(attention)]

    def shortened(rows: int) -> tuple[Text, ...]:
        """The heading and the answer always; then what is asked, and what else waits if there is room for it all."""
        room = rows - 2
        if room < 1:
            return (heading, answering)[:rows]
        shown = body if len(body) <= min(room, _ROWS) else [*body[: min(room, _ROWS) - 1], Text(f"  {_MORE}", "dim")]
        return (heading, *shown, answering, *more[: room - len(shown)])

    lines = shortened(len(body) + len(more) + 2)
    return Section(min(4, len(lines)), lines, shortened)


def _heading(need: Need) -> Text:
    match need:
        case Request():
            who, what, title = need.requester, _WANTS[need.kind], need.title
        case Proposal():
            who, what, title = need.terms.creator, "puts it to the vote", need.terms.title
        case Mail():
            who, what, title = need.sender, "wrote to you", ""
    told = words(f"{what}: {title}" if title else what, "bold")
    return joined(("● ", "bold yellow"), words(who, f"bold {colour_of(who)}"), " ", told)


def _line(need: Need) -> Text:
    title = _heading(need).plain[2:]
    about = f": {text.shortened(need.body, 200)}" if isinstance(need, Mail) else ""
    return joined(("○ ", "yellow"), words(f"{title}{about}", "dim"))


def _earlier(attention: Attention) -> list[Text]:
    told = f"{text.counted(attention.earlier, 'message')} from before: moot inbox"
    return [joined(("○ ", "yellow"), (told, "dim"))] if attention.earlier else []


def _body(need: Need) -> str:
    match need:
        case Request():
            mode = f"Mode: {need.mode}" if need.mode else ""
            return "\n".join(part for part in (need.body, mode) if part)
        case Proposal():
            return need.terms.description
        case Mail():
            return need.body


def _folded(body: str, columns: int) -> Iterator[Text]:
    """Every character of it, on as many lines as that takes."""
    for line in _lines(body.strip("\n")):
        for piece in chop_cells(terminal.inert(line).replace("\t", "    "), columns) or [""]:
            yield joined("  ", Text(piece))


def _lines(body: str) -> Iterable[str]:
    return body.split("\n") if body.strip() else ()


def _answering(attention: Attention) -> Text:
    others = len(attention.others)
    turn = f" · Tab: the next of {others + 1}" if others and not attention.is_over else ""
    how = "nobody waits for it any more" if attention.is_over else _how(attention.current)
    return joined("  ", words(f"→ {how}{turn}", "yellow"))


def _how(need: Need | None) -> str:
    match need:
        case Request(kind="question"):
            empty = ", or Enter alone" if need.may_be_empty else ""
            return f"answer with {_either(need.choices)}{empty}" if need.choices else f"type your answer{empty}"
        case Request():
            return "yes or no, and why if you like"
        case Proposal():
            return f"vote for {_either(list(need.terms.options.values()))}, and why if you like"
        case _:
            return "type an answer; Enter alone: read"


def _either(choices: Iterable[str]) -> str:
    *first, last = choices
    return f"{', '.join(first)} or {last}" if first else last
