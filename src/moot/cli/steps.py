"""The plan of a workflow's steps, as lines: what is done when, by whom, and what the state is made from."""

from collections.abc import Iterator, Mapping, Sequence

from moot.cli import terminal
from moot.engine import explaining
from moot.engine.explaining import Plan, Planned

_NAMED: Mapping[str, str] = {"include_workflow": "includes", "mcp_call": "calls", "parallel_foreach": "each does"}
_LEAST_WIDTHS = (12, 14)
_SECTIONS = ("then", "else")
_MOST = 60  # letters of an expression


def show(plan: Plan) -> None:
    _show("steps", plan.steps)
    for name, steps in plan.tasks.items():
        _show(f"sub-agent task {name}", steps)
    _show("on failure", plan.on_failure)
    show_state(plan)
    terminal.say("")
    for heading, line in (("takes", explaining.duration(plan)), ("tools", ", ".join(plan.tools) or "none")):
        terminal.say(terminal.paint(f"{heading:<9}", "bold"), "  ", terminal.one_line(line))


def show_state(plan: Plan) -> None:
    _heading("state")
    terminal.table([(one.key, f"from {', '.join(one.sources)}" if one.sources else "") for one in plan.fields], (12,))


def _show(heading: str, steps: Sequence[Planned]) -> None:
    if steps:
        _heading(heading)
        terminal.table(_rows(steps, 0), _LEAST_WIDTHS)


def _heading(text: str) -> None:
    terminal.say("")
    terminal.say(terminal.paint(text, "bold"))


def _rows(steps: Sequence[Planned], depth: int) -> Iterator[tuple[str, str, str]]:
    for one in steps:
        yield f"{'  ' * depth}{one.name}", one.type, _facts(one)
        for key, block in one.blocks.items():
            if key in _SECTIONS:
                yield f"{'  ' * (depth + 1)}{key}", "", ""
            yield from _rows(block, depth + 1 + (key in _SECTIONS))


def _facts(one: Planned) -> str:
    facts = [
        f"{'while' if one.type == 'while' else 'if'} {_short(one.conditions[-1])}" if _decides(one) else "",
        f"for each of {_short(one.items)}" if "each" in one.type else _short(one.items),
        f"{_NAMED.get(one.type, 'asks')} {one.named}" if one.named else "",
        f"writes {', '.join(one.writes)}" if one.writes else "",
        f"({one.who})" if one.who != "moot" else "",
    ]
    return "  ".join(fact for fact in facts if fact)


def _decides(one: Planned) -> bool:
    return one.type in ("conditional", "while") and bool(one.conditions)


def _short(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"
