"""`python -m bench [names…] [--quick] [--json] [--strict]`: answers the questions one after the other."""

import argparse
import gc
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from bench import (
    board_claims,
    board_context,
    board_plan,
    board_postgres,
    board_size,
    cli_start,
    conversation,
    durable_send,
    flow_calls,
    flow_state,
    flow_steps,
    idle_agents,
    inbox_check,
    many_processes,
    mcp_send,
    page_views,
    place,
    quiet_process,
    report,
    sessions,
    team_mail,
    wake,
    web_page,
    web_viewers,
)
from bench.harness import QUICK, Figure, Scale

QUESTIONS: dict[str, Callable[[Scale, Path], list[Figure]]] = {
    "durable_send": durable_send.measure,
    "many_processes": many_processes.measure,
    "quiet_process": quiet_process.measure,
    "wake": wake.measure,
    "inbox_check": inbox_check.measure,
    "mcp_send": mcp_send.measure,
    "conversation": conversation.measure,
    "sessions": sessions.measure,
    "idle_agents": idle_agents.measure,
    "board_size": board_size.measure,
    "board_claims": board_claims.measure,
    "board_postgres": board_postgres.measure,
    "board_context": board_context.measure,
    "board_plan": board_plan.measure,
    "flow_state": flow_state.measure,
    "flow_steps": flow_steps.measure,
    "flow_calls": flow_calls.measure,
    "web_viewers": web_viewers.measure,
    "page_views": page_views.measure,
    "team_mail": team_mail.measure,
    "web_page": web_page.measure,
    "cli_start": cli_start.measure,
}


def main() -> int:
    asked = _parser().parse_args()
    gc.freeze()  # as every command of moot does before its loop runs; here for both sides of a ratio
    gc.set_threshold(50_000)
    scale = QUICK if asked.quick else Scale()
    show = report.plain if asked.json else report.table
    is_missed = has_crashed = False
    for name in asked.names or QUESTIONS:
        try:
            with place.scratch() as folder:
                figures = QUESTIONS[name](scale, folder)
        except Exception:  # noqa: BLE001 the boundary of a question: the others are asked all the same
            print(f"{name} crashed", file=sys.stderr)
            traceback.print_exc()
            has_crashed = True
            continue
        print(show(name, figures), flush=True)
        is_missed |= not all(figure.is_met for figure in figures)
    return int(has_crashed or (asked.strict and is_missed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *QUESTIONS], metavar="name", help=", ".join(QUESTIONS))
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--json", action="store_true", help="one JSON object a figure")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a bar is missed")
    return parser


if __name__ == "__main__":
    sys.exit(main())
