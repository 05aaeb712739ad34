"""Who works on what, as lines: one for each agent, with a sign that turns while it works."""

from collections import Counter
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from moot.api.status import Doing
from moot.cli import terminal
from moot.cli.live.glance import Glance
from moot.cli.live.paper import Section, joined, spelled, words
from moot.cli.transcript import colour_of
from moot.core import text
from moot.registry.agents import PERSON

_TURNING = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_TURN_SECONDS = 0.1
_SIGNS = {"running": ("", "cyan"), "stopped": ("■", "red"), "offline": ("○", "dim"), "person": ("☺", "")}
_IDLE = ("·", "dim")
_WIDEST = 16  # columns of a name
_LETTERS = 300  # of last words


def section(seen: Glance) -> Section:
    doing = [one for one in seen.overview.status.agents if one.agent.name != PERSON]
    # Those who work first, where not all can be seen; nobody changes place with every attempt where they can.
    urgent = sorted(doing, key=lambda one: (one.since is None, not one.tasks, not one.unread))
    wide = min(_WIDEST, max((cell_len(one.agent.name) for one in doing), default=0))

    def shortened(rows: int) -> tuple[Text, ...]:
        return (*(_line(seen, one, wide) for one in urgent[: rows - 1]), _rest(urgent[rows - 1 :], rows > 1))

    return Section(min(1, len(doing)), tuple(_line(seen, one, wide) for one in doing), shortened)


def _line(seen: Glance, one: Doing, wide: int) -> Text:
    name = set_cell_size(terminal.one_line(one.agent.name), wide)
    said = seen.around.words.get(one.agent.name)
    last = f"  {text.shortened(said.body[: 4 * _LETTERS], _LETTERS)}" if said else ""
    return joined(
        _sign(seen, one), " ", (name, colour_of(one.agent.name)), "  ", words(_state(seen, one)), words(last, "dim")
    )


def _sign(seen: Glance, one: Doing) -> tuple[str, str]:
    if one.since is None:
        return _SIGNS.get(one.state, _IDLE)
    turned = (seen.moment + seen.age.total_seconds()) / _TURN_SECONDS
    return _TURNING[int(turned) % len(_TURNING)], "cyan"


def _state(seen: Glance, one: Doing) -> str:
    """`on fix, 12 s, turn 3`"""
    facts = [f"on {', '.join(one.tasks)}"] if one.tasks else []
    if one.since is not None:
        facts += [] if facts else ["at work"]
        facts.append(spelled(one.since + seen.age))
        facts += [f"attempt {one.attempt}"] if one.attempt and one.attempt > 1 else []
    elif not facts:
        facts.append(one.state)
    turns = seen.around.used_by(one.agent).turns
    facts += [text.counted(turns, "turn")] if turns else []
    facts += [f"{one.unread} unread"] if one.unread else []
    facts += [f"{one.parked} parked"] if one.parked else []
    return ", ".join(facts)


def _rest(others: Sequence[Doing], has_more: bool) -> Text:
    counts = Counter("at work" if one.since is not None else one.state for one in others)
    told = ", ".join(f"{count} {state}" for state, count in counts.most_common())
    who = f"and {len(others)} more" if has_more else text.counted(len(others), "agent")
    return joined(("  ", ""), words(f"{who}: {told}", "dim"))
