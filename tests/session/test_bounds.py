"""Limits always hold, and always end in a report."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta

import pytest

from moot.core.formats import Format
from moot.core.json import Json
from moot.core.tool import Effect
from moot.core.wakes import Signal, Wakes
from moot.models import reserving, scripted
from moot.models.model import Answer, ModelFailed, Progress, Request, ToolSpec, Usage
from moot.models.reserving import FREE, Price
from moot.models.retrying import Retrying
from moot.models.scripted import ScriptedModel
from moot.session.acting import ToolsAlike
from moot.session.agent import Agent, Limits
from moot.session.events import Warned
from moot.session.journal import Done, Intent, Memory, OverBudget, Recalled
from moot.session.report import Report
from moot.session.source import Leave, Outcome
from moot.testing.clock import ManualClock
from tests.session.staging import Hall, agent, calls, reports


class Shelf:
    """Gives whatever it is asked for, as long as it is asked to be."""

    is_recorded = True
    is_final = False
    fetched = 0

    def specs(self) -> Sequence[ToolSpec]:
        return (ToolSpec("fetch", "Fetches letters.", {"type": "object"}),)

    def effect(self, name: str) -> Effect:
        return "none"

    def leave(self, name: str, arguments: Mapping[str, Json]) -> Leave | None: ...

    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> Outcome:
        count = arguments["count"]
        assert isinstance(count, int)
        self.fetched += 1
        return Outcome("".join(str(place % 10) for place in range(count)))


class Signs(Shelf):
    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> Outcome:
        return Outcome((await super().call(name, arguments, path)).text.translate(dict.fromkeys(range(128), "字")))


def fetch(count: int) -> Json:
    return calls("fetch", count=count)


async def test_the_last_turn_is_told_and_leaves_only_the_ways_out() -> None:
    hall = Hall(sources=(Shelf(),))
    report = await hall.report(agent("a", fetch(1), reports("what I have"), limits=Limits(turns=2)))
    assert report == Report("what I have", "a")
    assert "This is your last turn (the limit of 2 turns)" in hall.told("a", 2)
    assert (hall.tools("a", 1), hall.tools("a", 2)) == (["final_report", "fetch"], ["final_report"])


async def test_who_goes_on_in_its_last_turn_has_a_failure_for_a_report() -> None:
    hall = Hall(sources=(Shelf(),))
    report = await hall.report(agent("a", *[fetch(1)] * 5, limits=Limits(turns=2)))
    assert (report.failure, len(hall.asked)) == ("limit", 2)


async def test_one_turn_is_enough_for_an_answer() -> None:
    hall = Hall()
    assert (await hall.report(agent("a", reports("ok"), limits=Limits(turns=1)))).text == "ok"


async def test_calls_beyond_the_limit_of_a_turn_are_not_made() -> None:
    hall = Hall(sources=(Shelf(),))
    three: list[Json] = [{"fetch": {"count": count}} for count in (1, 2, 3)]
    await hall.report(agent("a", {"calls": three}, reports("ok"), limits=Limits(calls=2)))
    assert hall.told("a", 2).splitlines() == [
        "0",
        "01",
        "Nothing was done: one turn may make 2 calls. Make the others in the next one.",
    ]


async def test_a_tool_that_does_not_exist_is_said_not_to() -> None:
    hall = Hall()
    await hall.report(agent("a", calls("fly"), reports("ok")))
    assert hall.told("a", 2) == "Nothing was done: there is no tool 'fly'. There are: final_report."


async def test_no_two_tools_of_one_name_are_offered() -> None:
    with pytest.raises(ToolsAlike, match=r"several tools of one name: fetch\."):
        await Hall(sources=(Shelf(), Shelf())).report(agent("a", reports("ok")))


async def test_time_has_a_limit() -> None:
    hall = Hall()
    hall.held = {"a": asyncio.Event()}
    report = await hall.report(agent("a", reports("late"), limits=Limits(timeout=timedelta(seconds=0.05))))
    assert report.failure == "timeout"


async def test_who_is_asked_to_stop_comes_to_an_end_with_a_report() -> None:
    hall = Hall()
    hall.asked_for = "stop"
    report = await hall.report(agent("a", reports("so far")))
    assert report.text == "so far"
    assert "This is your last turn (moot was asked to stop)" in hall.told("a")


async def test_who_is_resumed_after_it_was_stopped_and_cut_off_has_turns_again() -> None:
    memory, stopped = Memory(), Hall(held={"a": asyncio.Event()}, asked_for="stop", sources=(Shelf(),))
    stopped.journal = memory
    cast = agent("a", fetch(1), reports("in peace"))
    cut = asyncio.ensure_future(stopped.report(cast))
    await stopped.until(lambda: bool(stopped.asked))
    cut.cancel()
    await asyncio.wait([cut])
    resumed = Hall(memory, sources=(Shelf(),))
    assert (await resumed.report(cast)).text == "in peace"
    assert "last turn" not in resumed.told("a")


async def test_who_is_stopped_and_reports_nothing_ends_for_that_reason() -> None:
    report = await Hall(sources=(Shelf(),), asked_for="stop").report(agent("a", fetch(1), reports("never")))
    assert (report.failure, report.error) == ("stopped", "it gave no report in its last turn (moot was asked to stop)")


async def test_the_only_turn_is_the_last_one() -> None:
    hall = Hall(sources=(Shelf(),))
    report = await hall.report(agent("a", fetch(1), limits=Limits(turns=1)))
    assert (report.failure, report.error) == ("limit", "it gave no report in its last turn (the limit of 1 turn)")
    assert "This is your last turn (the limit of 1 turn)" in hall.told("a")
    assert hall.tools("a") == ["final_report"]


async def test_nothing_is_begun_when_moot_is_shut_down_and_it_goes_on_from_there() -> None:
    """An answer that came meanwhile is kept, and its calls are made later; a report is made of it at once."""
    shelf, memory = Shelf(), Memory()
    cast = agent("a", fetch(1), fetch(2), reports("ok"))
    first = Hall(memory, (shelf,), ends_with="a")
    assert (await first.report(cast)).failure == "shutdown"
    assert [path for path, one in memory.all().items() if one.state == "done"] == ["t1/m"]
    assert (memory.all()[""].state, shelf.fetched) == ("started", 0)

    second = Hall(memory, (shelf,))
    assert (await second.report(cast)).text == "ok"
    assert (first.order(), second.order(), shelf.fetched) == (["a"], ["a", "a"], 2)
    assert "last turn" not in "".join(str(request.messages) for _, request in second.asked)

    assert (await Hall(ends_with="a").report(agent("a", reports("ok")))).text == "ok"


async def test_a_long_result_is_read_on_by_its_handle() -> None:
    hall = Hall(sources=(Shelf(),))
    read = calls("result_read", handle="t1/c1", offset=150_000, length=10)
    await hall.report(agent("a", fetch(200_000), read, reports("ok")))
    assert "200,000 characters in all; read on with result_read, handle 't1/c1'" in hall.told("a", 2)
    assert len(hall.told("a", 2)) < 3_000
    assert hall.told("a", 3) == "0123456789\n… (49,990 more characters from offset 150010)"
    assert "result_read" not in hall.tools("a", 1)


@pytest.mark.parametrize("window", [None, 40_000])
async def test_as_much_is_read_on_as_fits(window: int | None) -> None:
    hall = Hall(sources=(Shelf(),))
    read = calls("result_read", handle="t1/c1", offset=3, length=100_000)
    await hall.report(agent("a", fetch(200_000), read, reports("ok"), limits=Limits(context_tokens=window)))
    shown, _, rest = hall.told("a", 3).partition("\n… ")
    assert shown.startswith("3456789")
    assert len(shown) > (99_000 if window is None else 50_000)
    end = 3 + len(shown)
    assert rest == f"({200_000 - end:,} more characters from offset {end})"


async def test_signs_of_other_scripts_take_as_much_of_the_window_as_they_have_bytes() -> None:
    hall = Hall(sources=(Signs(),))
    read = calls("result_read", handle="t1/c1", length=100_000)
    await hall.report(agent("a", fetch(45_000), read, reports("ok"), limits=Limits(context_tokens=40_000)))
    assert "45,000 characters in all" in hall.told("a", 2)
    shown, _, rest = hall.told("a", 3).partition("\n… ")
    assert 30_000 < len(shown) < 34_000
    assert rest == f"({45_000 - len(shown):,} more characters from offset {len(shown)})"


@pytest.mark.parametrize("wrong", [{"handle": "t9"}, {}, {"handle": "t1/c1", "offset": -1}])
async def test_a_wrong_handle_is_refused(wrong: dict[str, Json]) -> None:
    hall = Hall(sources=(Shelf(),))
    await hall.report(agent("a", fetch(200_000), {"calls": [{"result_read": wrong}]}, reports("ok")))
    assert hall.told("a", 3).startswith(("There is no handle", "Nothing was read"))


async def test_what_does_not_fit_into_the_window_is_kept_aside() -> None:
    hall = Hall(sources=(Shelf(),))
    await hall.report(agent("a", fetch(20_000), reports("ok"), limits=Limits(context_tokens=12_000)))
    assert "20,000 characters in all" in hall.told("a", 2)


async def test_a_conversation_that_is_nearly_full_comes_to_an_end() -> None:
    hall = Hall(sources=(Shelf(),))
    report = await hall.report(
        agent("a", *[fetch(1_900)] * 20, limits=Limits(context_tokens=10_000)),
    )
    assert report.failure == "limit"
    assert "nearly as long as the model can hold" in report.error
    assert len(hall.asked) < 10


SHAPE = Format("json", {"type": "object", "properties": {"risk": {"type": "integer"}}, "required": ["risk"]})


async def test_a_report_of_the_wrong_shape_is_refused_and_made_again() -> None:
    hall = Hall()
    report = await hall.report(agent("a", reports({"risk": "high"}), reports({"risk": 3}), output=SHAPE))
    assert report.text == '{"risk":3}'
    assert hall.told("a", 2) == "Nothing was reported: 'high' is not of type 'integer' (at risk). Call it again."


async def test_words_are_no_report_where_json_is_wanted() -> None:
    hall = Hall()
    report = await hall.report(agent("a", {"say": "It is risky."}, {"say": '{"risk": 3}'}, output=SHAPE))
    assert report.text == '{"risk": 3}'
    assert "That is no report: it is no JSON" in hall.told("a", 2)


async def test_a_report_that_never_has_its_shape_is_a_failure() -> None:
    report = await Hall().report(agent("a", *[{"say": "Risky."}] * 9, output=SHAPE))
    assert report.failure == "invalid"


@pytest.mark.parametrize("wrong", [{}, {"report": "  "}])
async def test_an_empty_report_is_none(wrong: dict[str, Json]) -> None:
    hall = Hall()
    report = await hall.report(agent("a", {"calls": [{"final_report": wrong}]}, reports("ok")))
    assert report.text == "ok"
    assert hall.told("a", 2).startswith("Nothing was reported: ")


SILENT: Json = {"say": " "}


async def test_an_empty_answer_is_no_report_either() -> None:
    hall = Hall()
    report = await hall.report(agent("a", SILENT, reports("ok"), handoff="b"), agent("b", SILENT, {"say": "done"}))
    assert (report.text, hall.told("b").splitlines()[0]) == ("done", "ok")
    assert "That is no report: it is empty. Call final_report" in hall.told("a", 2)
    alone = Hall()
    assert (await alone.report(agent("a", SILENT, {"say": "I am here."}, reports=False))).text == "I am here."
    assert "That is no report: it is empty. Answer in words." in alone.told("a", 2)


async def test_who_never_answers_has_failed() -> None:
    report = await Hall().report(agent("a", *[SILENT] * 9, handoff="b"), agent("b"))
    assert (report.failure, report.error.rpartition(": ")[2]) == ("invalid", "it is empty")


async def test_who_may_be_silent_has_answered() -> None:
    assert await Hall().report(agent("a", SILENT, reports=False, may_be_silent=True)) == Report(" ", "a")


async def test_the_next_model_is_asked_when_one_fails() -> None:
    hall = Hall()
    failing, good = [{"fail": "unavailable"}], [reports("from the second")]
    one = agent("a", models=("first", "second"), settings={"answers:first": failing, "answers:second": good})
    assert await hall.report(one) == Report("from the second", "a")
    warned = [event.text for _, event in hall.events if isinstance(event, Warned)]
    assert warned == ["first: The script fails here (unavailable)."]


async def test_when_all_models_fail_the_last_one_says_why() -> None:
    first, second = [{"fail": "unavailable"}], [{"fail": "auth"}]
    one = agent("a", models=("first", "second"), settings={"answers:first": first, "answers:second": second})
    assert (await Hall().report(one)).failure == "auth"


async def test_a_model_that_cannot_be_asked_at_all_is_passed_over() -> None:
    def keyless(one: Agent, name: str, request: Request) -> Price:
        if name == "first":
            raise ModelFailed("auth", "There is no key.")
        return FREE

    journal = Memory()
    settings = {"answers:second": [reports("from the second")]}
    one = agent("a", models=("first", "second"), settings=settings)
    assert await Hall(journal, price=keyless).report(one) == Report("from the second", "a")
    known = journal.known("t1/m")
    assert known is not None
    assert (known.state, known.tries) == ("done", 1)  # nothing was asked of the first


class Poor(Memory):
    """There is money for so many requests."""

    def __init__(self, requests: int) -> None:
        super().__init__()
        self.left = requests

    async def note(self, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
        free = [one for one in begun if one.kind != "model"]
        await super().note(done, free)
        for one in begun:
            if one.kind == "model":
                if not self.left:
                    raise OverBudget("The budget of $1.00 is used up.")
                self.left -= 1
                await super().note(begun=[one])


class Tight(Poor):
    """A journal that has so much for a request, once nobody else is being answered."""

    def __init__(self, dollars: float) -> None:
        super().__init__(1)
        self.dollars = dollars
        self.others = 2
        self.ended = Wakes()

    def given_back(self) -> AbstractContextManager[Signal]:
        return self.ended.listen()

    async def note(self, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
        models = [one for one in begun if one.kind == "model"]
        if not models or (not self.others and models[0].reserve <= self.dollars):
            await super().note(done, begun)
            return
        await super().note(done, [one for one in begun if one not in models])
        if self.others:
            self.others -= 1
            self.ended.ring()
            raise OverBudget("not now", is_passing=True)
        raise OverBudget("not so much", left=self.dollars)


async def test_an_answer_is_held_to_what_is_set_aside_for_it() -> None:
    hall = Hall(Memory(), price=lambda agent, model, request: Price(1, 1 / 1_000))
    await hall.report(agent("a", {"say": "done"}), agent("b"))
    assert [request.bound for _, request in hall.asked] == [32_000]


async def test_who_finds_little_left_waits_for_the_others_and_asks_for_a_shorter_answer() -> None:
    hall = Hall(Tight(6.0), price=lambda agent, model, request: Price(1, 1 / 1_000))
    report = await hall.report(agent("a", {"say": "done"}))
    assert (report.failure, [request.bound for _, request in hall.asked]) == (None, [5_000])


class Purse(Memory):
    """So much may be spent. What is set aside is not there, and what was spent on the way neither."""

    def __init__(self, dollars: float) -> None:
        super().__init__()
        self.left = dollars
        self.aside = dict[str, float]()

    async def note(self, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
        for one in done:
            self.left -= one.usage.cost
            self.aside.pop(one.path, None)
        await super().note(done, [one for one in begun if one.kind != "model"])
        for one in begun:
            if one.kind == "model":
                left = self.left - sum(self.aside.values())
                if one.reserve > left:
                    raise OverBudget("not so much", left=left if (one.least or 0.0) <= left else 0.0)
                self.aside[one.path] = one.reserve
                await super().note(begun=[one])


async def test_who_asks_again_after_an_answer_that_broke_off_asks_for_a_shorter_one() -> None:
    class Breaking:
        """Its answer breaks off, and costs something."""

        def __init__(self) -> None:
            self.bounds = list[int | None]()

        async def ask(self, request: Request) -> AsyncGenerator[Progress]:
            self.bounds.append(request.bound)
            if len(self.bounds) == 1:
                raise ModelFailed("unavailable", "The line broke.", used=Usage(cost=1.0))
            yield Answer("done")

    async def pause(seconds: float) -> None:
        waiting.append((purse.open_below(""), dict(purse.aside)))

    waiting, breaking, purse = list[object](), Breaking(), Purse(6.0)
    hall = Hall(purse, price=lambda agent, model, request: Price(1, 1 / 1_000))
    hall.model = Retrying(breaking, ManualClock(), sleep=pause)
    report = await hall.report(agent("a"))
    assert (report.text, breaking.bounds) == ("done", [5_000, 4_000])
    assert waiting == [([], {})]  # before the second try nothing is under way, and nothing set aside


async def test_a_pause_that_others_were_asked_for_meanwhile_is_kept_before_the_next_try() -> None:
    class Paused(Memory):
        async def note(self, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
            await super().note(done, [one for one in begun if one.kind != "model"])
            for one in begun:
                if one.kind == "model" and self.known(one.path) is not None:
                    raise ModelFailed("rate_limit", "The provider asked to wait.")
                if one.kind == "model":
                    await super().note(begun=[one])

    async def no_pause(seconds: float) -> None: ...

    hall, clock = Hall(Paused()), ManualClock()
    answers = scripted.parse([{"fail": "unavailable"}, {"say": "never asked"}])
    hall.model = Retrying(ScriptedModel(answers, clock), clock, sleep=no_pause)
    assert (await hall.report(agent("a"))).failure == "rate_limit"


@pytest.mark.parametrize("is_next_model", [True, False])
async def test_nothing_is_tried_again_when_moot_is_shut_down_meanwhile(is_next_model: bool) -> None:
    async def ends(seconds: float) -> None:
        hall.asked_for = "shutdown"

    class Ending:
        """Moot ends while it fails."""

        async def ask(self, request: Request) -> AsyncGenerator[Progress]:
            asked.append(request)
            await ends(0)
            raise ModelFailed("unavailable", "The line broke.")
            yield Answer()

    hall, asked = Hall(Memory()), list[Request]()
    hall.model = Ending() if is_next_model else Retrying(Ending(), ManualClock(), sleep=ends)
    report = await hall.report(agent("a", models=("first", "second")))
    assert (report.failure, len(asked)) == ("shutdown", 1)
    assert isinstance(hall.journal, Memory)
    assert (hall.journal.all()["t1/m"].state, hall.journal.all()[""].state) == ("failed", "started")


async def test_results_of_one_turn_share_what_room_there_is() -> None:
    hall = Hall(sources=(Shelf(),))
    eight: Json = {"calls": [{"fetch": {"count": 12_000}}] * 8}
    await hall.report(agent("a", eight, reports("done"), limits=Limits(context_tokens=20_000)))
    _, last = hall.asked[-1]
    assert reserving.tokens(last) < 20_000


@pytest.mark.parametrize(
    "cast", [agent("a", reports("ok"), prompt="x" * 60_000), agent("a", reports("ok"), prompt="漢" * 20_000)]
)
async def test_what_is_told_with_every_request_counts(cast: Agent) -> None:
    hall = Hall()
    await hall.report(replace(cast, limits=Limits(context_tokens=20_000)))
    assert "nearly as long as the model can hold" in hall.told("a")


async def test_tools_count_as_what_is_told_with_every_request() -> None:
    class Catalogue(Shelf):
        def specs(self) -> Sequence[ToolSpec]:
            return (ToolSpec("fetch", "x" * 60_000, {"type": "object"}),)

    hall = Hall(sources=(Catalogue(),))
    await hall.report(agent("a", reports("ok"), limits=Limits(context_tokens=20_000)))
    assert "nearly as long as the model can hold" in hall.told("a")


async def test_who_waits_for_the_others_leaves_off_when_moot_is_shut_down() -> None:
    class Interrupted(Tight):
        async def note(self, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
            hall.asked_for = "shutdown"
            await super().note(done, begun)

    hall = Hall(Interrupted(6.0), price=lambda agent, model, request: Price(1.0))
    report = await hall.report(agent("a", {"say": "never asked"}))
    assert (report.failure, hall.asked) == ("shutdown", [])


async def test_who_waits_for_the_others_when_moot_is_to_stop_has_its_last_turn_all_the_same() -> None:
    class Stopped(Tight):
        """It was stopped while it waits for the first time, and does not know."""

        async def note(self, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
            hall.asked_for = "stop" if self.others < 2 else None
            if hall.asked_for and any(one.kind == "model" and not one.is_last for one in begun):
                await super().note(done, [one for one in begun if one.kind != "model"])
                raise Recalled
            await super().note(done, begun)

    hall = Hall(Stopped(6.0), price=lambda agent, model, request: Price(1.0))
    report = await hall.report(agent("a", {"say": "in short"}, tools=()))
    assert (report.failure, report.text) == (None, "in short")
    assert hall.told("a").count("This is your last turn (moot was asked to stop)") == 1


async def test_nobody_sits_out_the_pause_before_a_second_try_when_moot_ends() -> None:
    async def sit_out(seconds: float) -> None:
        hall.asked_for = "shutdown"
        hall.ends.set()
        await asyncio.Event().wait()

    hall, clock = Hall(Memory()), ManualClock()
    answers = scripted.parse([{"fail": "unavailable"}])
    hall.model = Retrying(ScriptedModel(answers, clock), clock, sleep=sit_out)
    assert (await hall.report(agent("a"))).failure == "shutdown"


async def test_what_is_longer_than_the_model_can_hold_is_not_asked() -> None:
    hall = Hall()
    report = await hall.report(agent("a", reports("never"), limits=Limits(context_tokens=9_000)), prompt="x" * 40_000)
    assert (report.failure, hall.asked) == ("limit", [])
    assert "longer than its model can hold (about 10," in report.error


async def test_where_there_is_too_little_for_one_model_the_next_is_asked() -> None:
    hall = Hall(Purse(1.0), price=lambda agent, model, request: Price(2.0 if model == "large" else 0.5))
    settings = {"answers:large": [reports("never")], "answers:small": [reports("from the small one")]}
    one = agent("a", models=("large", "small"), settings=settings)
    assert await hall.report(one) == Report("from the small one", "a")
    assert await Hall(Purse(0.1), price=hall.price).report(one) == Report("", "a", "budget", "not so much")


async def test_what_costs_nothing_is_given_no_bounds() -> None:
    hall = Hall()
    await hall.report(agent("a", {"say": "done"}))
    assert [request.bound for _, request in hall.asked] == [None]


async def test_what_may_cost_too_much_is_not_begun() -> None:
    hall = Hall(Poor(2), (Shelf(),))
    report = await hall.report(agent("a", *[fetch(1)] * 5))
    assert (report.failure, report.error) == ("budget", "The budget of $1.00 is used up.")
    assert len(hall.asked) == 2


async def test_every_cost_is_counted_once_wherever_it_arises() -> None:
    def cost(answer: Json, dollars: float) -> Json:
        assert isinstance(answer, dict)
        return {**answer, "usage": {"input_tokens": 10, "output_tokens": 1, "cost": dollars}}

    hall = Hall()
    await hall.report(
        agent("a", cost(calls("agent_x", prompt="?"), 1.0), cost(reports("a's"), 2.0), agents=("x",), handoff="b",
              advisors=("y",)),
        agent("x", cost(reports("x's"), 4.0)),
        agent("y", cost(reports("y's"), 8.0)),
        agent("b", cost(reports("b's"), 16.0)),
    )  # fmt: skip
    used = hall.used()
    assert sum(one.cost for _, one in used) == 31.0
    assert [name for name, _ in used] == ["y", "a", "x", "a", "b"]
    assert used[0][1] == Usage(10, 1, cost=8.0)
