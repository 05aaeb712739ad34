"""A tree is put together from paths alone: what belongs to what, and what has no record is made up."""

from dataclasses import replace
from datetime import datetime, timedelta

from moot.core.clock import EPOCH
from moot.core.ids import AttemptId
from moot.core.tree_path import TreePath
from moot.ledger import branches
from moot.ledger import nodes as rolling
from moot.ledger.branches import Place
from moot.ledger.nodes import Amounts, Node
from moot.ledger.traces import Step

FIRST, SECOND = AttemptId("at_1"), AttemptId("at_2")
PLACE = Place(None, "jb", "lead", "opus")


def at(second: float) -> datetime:
    return EPOCH + timedelta(seconds=second)


def step(path: str, kind: str = "model", second: float = 0, *, name: str = "", trigger: str = "turn") -> Step:
    agent = name if kind == "session" else "lead"
    place, moments = TreePath(path), (at(second), at(second + 1))
    return Step("jb", place, 1, kind, name, agent, trigger, "done", FIRST, "", None, None, 0, 0, 0, 0, 0, 0, 0, False,
                *moments)  # fmt: skip


def drawn(nodes: list[Node], parent: str | None = None, depth: int = 0) -> list[str]:
    lines: list[str] = []
    for one in nodes:
        if one.parent == parent:
            trigger = f" {one.trigger}" if one.trigger else ""
            lines += [f"{'  ' * depth}{one.kind} {one.name}{trigger}", *drawn(nodes, one.id, depth + 1)]
    return lines


def test_every_pattern_hangs_where_it_belongs() -> None:
    nodes = branches.nodes(
        [
            step("adv/legal", "session", 0, name="legal", trigger="advisor"),
            step("adv/legal/t1/m", second=0.5, name="haiku"),
            step("", "session", 2, name="lead", trigger="root"),
            step("t1/m", second=2),
            step("t1/c1", "tool", 3, name="channel_send"),
            step("t1/c2/s", "session", 3, name="helper", trigger="subagent"),
            step("t1/c2/s/t1/m", second=3.5),
            step("t2/m", second=5),
            step("t1/c2/s/q1", "session", 6, name="helper", trigger="clarification"),
            step("t1/c2/s/t2/m", second=6),
            step("r", "session", 8, name="expert", trigger="router"),
            step("r/t1/m", second=8),
            step("r/h", "session", 9, name="editor", trigger="handoff"),
        ],
        PLACE,
    )
    assert drawn(nodes) == [
        "session lead root",
        "  session legal advisor",
        "    turn turn 1",
        "      model haiku",
        "  turn turn 1",
        "    model opus",
        "    tool channel_send",
        "    session helper subagent",
        "      turn turn 1",
        "        model opus",
        "      session helper clarification",
        "        turn turn 2",
        "          model opus",
        "  turn turn 2",
        "    model opus",
        "  session expert router",
        "    turn turn 1",
        "      model opus",
        "    session editor handoff",
    ]


def test_who_has_not_begun_is_made_up_and_lasts_as_long_as_what_is_below() -> None:
    nodes = branches.nodes(
        [
            step("team/ann", "session", 1, name="ann", trigger="member"),
            step("team/ann/t1/m", second=1),
            step("boss", "session", 4, name="boss", trigger="supervisor"),
            step("adv/x/team/bob/t1/m", second=0),
            step("h", "session", 5, name="panel", trigger="handoff"),
            step("h/team/eve", "session", 5, name="eve", trigger="member"),
        ],
        PLACE,
    )
    assert drawn(nodes) == [
        "session lead",
        "  session x advisor",
        "    session bob member",
        "      turn turn 1",
        "        model opus",
        "  session ann member",
        "    turn turn 1",
        "      model opus",
        "  session boss supervisor",
        "  session panel handoff",
        "    session eve member",
    ]
    (lead,) = [one for one in nodes if one.parent is None]
    assert (lead.started_at, lead.ended_at, lead.state) == (at(0), at(6), "done")


def test_what_is_under_way_keeps_all_above_it_open() -> None:
    open_call = replace(step("t1/m"), state="started", ended_at=None)
    nodes = branches.nodes([step("", "session", name="lead"), open_call], PLACE)
    (turn,) = [one for one in nodes if one.kind == "turn"]
    assert (turn.state, turn.ended_at) == ("started", None)


def test_an_attempt_sees_what_it_began_and_what_leads_there() -> None:
    steps = [
        step("", "session", name="lead", trigger="root"),
        step("t1/m"),
        step("t1/c1/s", "session", 2, name="helper", trigger="subagent"),
        replace(step("t1/c1/s/t1/m", second=3), state="unknown"),
        replace(step("t1/c1/s/t1/m", second=9), number=2, attempt=SECOND),
        replace(step("t2/m", second=11), attempt=SECOND),
    ]
    assert drawn(branches.nodes(steps, replace(PLACE, within=SECOND))) == [
        "session lead root",
        "  turn turn 1",
        "    session helper subagent",
        "      turn turn 1",
        "        model opus",
        "  turn turn 2",
        "    model opus",
    ]
    whole = branches.nodes(steps, PLACE)
    assert [(one.number, one.state) for one in whole if one.path == "t1/c1/s/t1/m"] == [(1, "unknown"), (2, "done")]
    assert len({one.id for one in whole}) == len(whole)


def test_who_is_answered_for_takes_as_long_as_the_others_in_the_time_of_each_attempt() -> None:
    steps = [
        step("adv/law", "session", 1, name="law", trigger="advisor"),
        step("", "session", 3, name="lead", trigger="root"),
        step("h", "session", 7, name="panel", trigger="handoff"),
        replace(step("h/t1/m", second=7), attempt=SECOND),
    ]

    def lead(place: Place) -> tuple[datetime, datetime | None]:
        return next((one.started_at, one.ended_at) for one in branches.nodes(steps, place) if one.parent is None)

    assert lead(PLACE) == (at(1), at(8))
    assert lead(replace(PLACE, within=FIRST, since=at(0), until=at(5))) == (at(1), at(5))
    assert lead(replace(PLACE, within=SECOND, since=at(6), until=at(9))) == (at(6), at(8))


def test_turn_ten_comes_after_turn_nine() -> None:
    nodes = branches.nodes([step("t10/m"), step("t9/m"), step("", "session", name="lead")], PLACE)
    assert [one.name for one in nodes if one.kind == "turn"] == ["turn 9", "turn 10"]


def test_a_tool_that_refused_has_failed_with_its_words() -> None:
    refused = replace(step("t1/c1", "tool", name="doc"), refusal='{"text":"No \\"x\\" here.","is_error":true}')
    cut = replace(step("t1/c2", "tool", name="doc"), refusal='{"text":"No such')
    found = [one for one in branches.nodes([refused, cut], PLACE) if one.kind == "tool"]
    assert [(one.state, one.error) for one in found] == [("failed", 'No "x" here.'), ("failed", "No such")]


def test_calls_without_a_record_are_known_from_the_answers() -> None:
    def asking(path: str, second: float, *calls: str) -> Step:
        told = ",".join(f'["id","{name}","{{}}"]' for name in calls)
        return replace(step(path, second=second), answer=f'{{"text":"","calls":[{told}]}}')

    steps = [
        step("", "session", name="lead", trigger="root"),
        asking("t1/m", 0, "final_report", "agent_helper", "no_such_tool"),
        step("t1/c2/s", "session", 1, name="helper", trigger="subagent"),
        asking("t1/c2/s/t1/m", 1, "final_report"),
        step("t1/c2/s/q1", "session", 3, name="helper", trigger="clarification"),
        asking("t1/c2/s/t2/m", 3, "final_report"),
        asking("t2/m", 4, "ask_clarification", "file_read"),
        step("t2/c2", "tool", 5, name="file_read"),
        asking("t3/m", 6, "final_report"),
    ]
    found = [one for one in branches.nodes(steps, PLACE) if one.kind == "tool"]
    assert [(one.path, one.name, one.error) for one in found] == [
        ("t1/c1", "final_report", "it was not taken"),
        ("t1/c3", "no_such_tool", "nothing was done"),
        ("t1/c2/s/t1/c1", "final_report", ""),
        ("t1/c2/s/t2/c1", "final_report", ""),
        ("t2/c1", "ask_clarification", ""),
        ("t2/c2", "file_read", ""),
        ("t3/c1", "final_report", ""),
    ]
    cut_off = [replace(steps[0], state="started"), asking("t1/m", 0, "shell")]
    assert not [one for one in branches.nodes(cut_off, PLACE) if one.kind == "tool"]


def test_what_is_used_below_is_counted_once_above() -> None:
    dear = replace(step("t1/m"), cost=5, input_tokens=2)
    deep = replace(step("t1/c1/s/t1/m", second=1), cost=7, is_estimated=True)
    nodes = branches.nodes([step("", "session", name="lead"), dear, deep], PLACE)
    totals = rolling.totals(nodes)
    (root,) = [one for one in nodes if one.parent is None]
    assert totals[root.id] == Amounts(2, 2, cost=12, is_estimated=True)
