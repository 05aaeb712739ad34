"""How far it has come and what it has cost, as lines with bars."""

from datetime import timedelta

from rich.text import Text

from moot.api.tallies import Tally
from moot.api.whereabouts import Whereabouts
from moot.cli import flow_lines, money
from moot.cli.live.glance import Glance
from moot.cli.live.paper import Section, joined, meter, spelled, words
from moot.core.clock import MICROSECOND
from moot.ledger import budgets
from moot.ledger.budgets import Share

_NEAR = 0.8  # of a limit


def heading(seen: Glance, columns: int) -> Section:
    """`── default · review · live, talk · 3 m 20 s ──────`"""
    status = seen.overview.status
    run, facts = status.run, [status.instance.name]
    if run is not None:
        phase = f", {'paused' if run.is_paused else run.phase}" if run.state == "live" else ""
        took = (run.ended_at or seen.overview.at + seen.age) - run.started_at
        facts += [run.name, f"{run.state}{phase}", spelled(took)]
    told = joined(("── ", "dim"), words(" · ".join(facts), "bold"), " ")
    return Section(1, (told.append("─" * max(0, columns - told.cell_len), "dim"),))


def plans(seen: Glance, columns: int) -> Section:
    found = seen.overview.status.plans
    return Section(min(1, len(found)), tuple(_plan(one, columns) for one in found))


def _plan(one: Tally, columns: int) -> Text:
    parts = [(one.done, "█", "green"), (one.at_work, "▓", "cyan"), (one.failed, "✗", "red")]
    return joined(meter(parts, one.total, _wide(columns)), " ", words(f"{one.spelled}  {one.board.name}"))


def flows(seen: Glance, columns: int) -> Section:
    found = seen.overview.status.flows
    lines = [line for one in found for line in _flow(one, seen.lengths.get(one.flow.id, 0), columns)]
    return Section(min(2, len(lines)), tuple(lines))


def _flow(one: Whereabouts, length: int, columns: int) -> list[Text]:
    """A bar of the file's own steps, or of the tasks that it waits for, and what is being done."""
    first, *rest = flow_lines.moving(one) or [one.flow.name]
    done, total = (one.tasks_over, one.tasks) if one.tasks else (one.at, length)
    bar = joined(meter([(done, "█", "green")], total, _wide(columns)), " ") if total else Text()
    place = f"  step {min(one.at + 1, length)} of {length}" if length else ""
    return [joined(bar, words(f"{first}{place}")), *(words(line, "dim") for line in rest)]


def obstacles(seen: Glance) -> Section:
    """What is in the way, where nobody works."""
    found = () if seen.is_moving else seen.overview.status.obstacles
    return Section(0, tuple(joined(("! ", "yellow"), words(one)) for one in found))


def spending(seen: Glance, columns: int) -> Section:
    """`██░░░░ $1.20 of $10.00 · 3 m of 60 m · 4 of 200 attempts`"""
    used, shares = seen.overview.used, {one.kind: one for one in seen.overview.budget}
    spent = money.dollars(used.cost, is_estimated=used.is_estimated)
    cost = shares.pop("cost", None)
    first = joined(words(spent, "bold"))
    if cost is not None:
        bar = meter([(cost.used, "█", _colour(cost))], cost.limit, _wide(columns))
        first = joined(bar, " ", words(spent, "bold"), f" of {budgets.spell('cost', cost.limit)}")
    others = [joined(" · ", (_share(seen, one), _colour(one, calm=""))) for one in shares.values()]
    tokens = f" · {used.tokens:,} tokens" if used.tokens and "tokens" not in shares else ""
    return Section(1, (joined(first, *others, tokens),) if seen.overview.status.run or used.attempts else ())


def _share(seen: Glance, one: Share) -> str:
    if one.kind != "time":
        return f"{one.used:,} of {budgets.spell(one.kind, one.limit)}"
    used = one.used * MICROSECOND + (seen.age if seen.is_live else timedelta(0))
    return f"{_minutes(used)} of {_minutes(one.limit * MICROSECOND)}"


def _minutes(duration: timedelta) -> str:
    """Whole minutes, where there are some: the seconds stand above."""
    minutes = int(duration.total_seconds()) // 60
    return spelled(duration) if minutes < 1 else f"{minutes} m"


def _colour(one: Share, calm: str = "green") -> str:
    return "red" if one.is_reached else "yellow" if one.used >= _NEAR * one.limit else calm


def _wide(columns: int) -> int:
    return max(6, min(24, columns // 4))
