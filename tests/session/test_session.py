import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.tool import ToolAnswer
from moot.models.model import Answer, Call, Piece, Progress, Request, Results, Said, Usage
from moot.session.agent import Agent, Limits
from moot.session.events import Called, Used, Warned, Wrote
from moot.session.hearing import Heard
from moot.session.report import Report
from moot.testing.clock import ManualClock
from tests.session import talking
from tests.session.talking import Toolbox, script

LOOK: Json = {"calls": [{"weather": {"city": "Bern"}}]}


@dataclass
class Recorded:
    """Answers as it is told, and keeps what it was asked."""

    answers: list[Answer]
    asked: list[Request] = field(default_factory=list[Request])

    async def ask(self, request: Request) -> AsyncGenerator[Progress]:
        self.asked.append(request)
        await asyncio.sleep(0)
        yield self.answers[len(self.asked) - 1]


async def test_what_the_model_says_is_the_answer() -> None:
    events, report = await talking.run(script({"say": "All is well."}))
    assert report == Report("All is well.", "ann")
    assert events == [Wrote("All is well."), Used(Usage())]


async def test_calls_are_made_and_their_results_told() -> None:
    model = Recorded([Answer(calls=(Call("c1", "weather", '{"city":"Bern"}'),), stop="tools"), Answer("sunny")])
    toolbox = Toolbox()
    events, report = await talking.run(model, toolbox)
    assert report == Report("sunny", "ann")
    assert toolbox.calls == [("weather", {"city": "Bern"})]
    assert Called("weather", is_error=False) in events
    results = model.asked[1].messages[-1]
    assert isinstance(results, Results)
    assert [(one.call.id, one.text, one.is_error) for one in results.results] == [("c1", "sunny in Bern", False)]


async def test_the_model_is_told_of_its_tools_and_its_system_prompt() -> None:
    model = Recorded([Answer("ok")])
    await talking.run(model)
    (asked,) = model.asked
    assert (asked.system, asked.messages) == ("Be kind.", (Said("Do it."),))
    (tool,) = asked.tools
    schema: Json = {"properties": {"city": {"default": "Bern", "type": "string"}}, "type": "object"}
    assert (tool.name, tool.words, tool.schema) == ("weather", "Tells the weather.", schema)


async def test_calls_of_one_answer_are_made_at_once_and_answered_in_order() -> None:
    begun = asyncio.Barrier(3)

    async def together(name: str, arguments: Mapping[str, Json]) -> ToolAnswer:
        await begun.wait()  # hangs unless all three are under way
        return ToolAnswer(str(arguments["city"]), {})

    cities: list[Json] = [{"weather": {"city": name}} for name in ("a", "b", "c")]
    model = script({"calls": cities}, {"say": "done"})
    toolbox = Toolbox(together)
    events, report = await talking.run(model, toolbox)
    assert report.text == "done"
    assert [str(call[1]["city"]) for call in toolbox.calls] == ["a", "b", "c"]
    assert len(talking.all_of(events, Called)) == 3


async def test_a_call_that_is_refused_is_told_to_the_model() -> None:
    async def refuse(name: str, arguments: Mapping[str, Json]) -> ToolAnswer:
        return ToolAnswer("NOT_ALLOWED: no.", {}, is_error=True)

    model = Recorded([Answer(calls=(Call("c1", "weather", "{}"),), stop="tools"), Answer("oh")])
    events, report = await talking.run(model, Toolbox(refuse))
    assert (report.failure, report.text) == (None, "oh")
    assert [one.why for one in events if isinstance(one, Called)] == ["NOT_ALLOWED: no."]
    results = model.asked[1].messages[-1]
    assert isinstance(results, Results)
    assert (results.results[0].text, results.results[0].is_error) == ("NOT_ALLOWED: no.", True)


@pytest.mark.parametrize("arguments", ['{"city": "Be', "[1]", "nothing", '"text"', '{"city": "Bern", "city": "Rome"}'])
async def test_arguments_that_are_no_object_or_two_at_once_reach_no_tool(arguments: str) -> None:
    model = Recorded([Answer(calls=(Call("c1", "weather", arguments),), stop="tools"), Answer("sorry")])
    toolbox = Toolbox()
    _, report = await talking.run(model, toolbox)
    assert (toolbox.calls, report.text) == ([], "sorry")
    results = model.asked[1].messages[-1]
    assert isinstance(results, Results)
    assert results.results[0].is_error
    assert "Nothing was done" in results.results[0].text


async def test_a_call_that_was_cut_off_is_not_made() -> None:
    cut = Answer(calls=(Call("c1", "weather", "{}"), Call("c2", "weather", '{"ci')), stop="max_tokens")
    model = Recorded([cut, Answer("done")])
    toolbox = Toolbox()
    await talking.run(model, toolbox)
    results = model.asked[1].messages[-1]
    assert isinstance(results, Results)
    assert [one.is_error for one in results.results] == [False, True]
    assert "cut off" in results.results[1].text
    assert toolbox.calls == [("weather", {})]


async def test_an_answer_that_was_cut_off_is_gone_on_with() -> None:
    cut: Json = {"say": "one, two, ", "stop": "max_tokens"}
    events, report = await talking.run(script(cut, cut, {"say": "three"}))
    assert report == Report("one, two, one, two, three", "ann")
    assert len(talking.all_of(events, Warned)) == 2


async def test_cuts_without_end_are_said() -> None:
    events, report = await talking.run(script(*[{"say": "and ", "stop": "max_tokens"}] * 20))
    assert (report.failure, report.text) == ("limit", "and " * 6)
    assert "cut off 6 times" in report.error
    assert len(talking.all_of(events, Used)) == 6


async def test_a_pause_is_followed_by_the_next_request() -> None:
    model = Recorded([Answer("let me ", stop="pause"), Answer("think")])
    _, report = await talking.run(model)
    assert report == Report("let me think", "ann")
    assert model.asked[1].messages == (Said("Do it."), Answer("let me ", stop="pause"))


async def test_a_refusal_is_a_failure_with_the_models_words() -> None:
    toolbox = Toolbox()
    model = Recorded([Answer("not that", (Call("c1", "weather", "{}"),), "refusal")])
    _, report = await talking.run(model, toolbox)
    assert (report.failure, report.error) == ("refused", "the model refused to go on: not that")
    assert toolbox.calls == []


async def test_a_conversation_that_does_not_fit_is_a_limit() -> None:
    _, report = await talking.run(Recorded([Answer("so fa", stop="context")]))
    assert report.failure == "limit"


async def test_an_end_that_nobody_explains_is_warned_of() -> None:
    events, report = await talking.run(Recorded([Answer("done?", stop="other")]))
    assert report == Report("done?", "ann")
    assert talking.all_of(events, Warned) == [Warned("The model ended without saying why.")]


async def test_turns_have_a_limit() -> None:
    toolbox = Toolbox()
    agent = Agent("ann", reports=False, limits=Limits(turns=3))
    _, report = await talking.run(script(*[LOOK] * 10), toolbox, agent)
    assert (report.failure, report.error) == ("limit", "it gave no report in its last turn (the limit of 3 turns)")
    assert len(toolbox.calls) == 2


async def test_words_before_a_call_are_not_the_answer() -> None:
    first: Json = {"say": "Let me look.", "calls": [{"weather": {}}]}
    _, report = await talking.run(script(first, {"say": "It is sunny."}))
    assert report.text == "It is sunny."


async def test_usage_of_every_request_is_told() -> None:
    used: Json = {"input_tokens": 10, "output_tokens": 2, "cost": 0.5}
    look: Json = {"calls": [{"weather": {}}], "usage": used}
    events, _ = await talking.run(script(look, {"say": "x", "usage": used}))
    assert talking.all_of(events, Used) == [Used(Usage(10, 2, cost=0.5))] * 2


async def test_a_failure_of_the_model_ends_the_session_with_its_kind() -> None:
    _, report = await talking.run(script(LOOK, {"fail": "auth"}))
    assert (report.failure, report.error) == ("auth", "The script fails here (auth).")


async def test_a_rate_limit_keeps_its_moment() -> None:
    _, report = await talking.run(script({"fail": "rate_limit", "wait": "5m"}))
    assert (report.failure, report.until) == ("rate_limit", ManualClock().now() + timedelta(minutes=5))


async def test_asking_again_is_warned_of() -> None:
    events, report = await talking.run(script({"fail": "unavailable", "fails": 2, "say": "at last"}))
    assert report == Report("at last", "ann")
    assert len(talking.all_of(events, Warned)) == 2


async def test_mail_is_told_with_the_results_of_the_next_turn() -> None:
    more, has_come = talking.mail("You have mail from ben.")

    async def with_mail(name: str, arguments: Mapping[str, Json]) -> ToolAnswer:
        has_come.set()
        for _ in range(5):  # so that whoever waits beside us has its turn
            await asyncio.sleep(0)
        return ToolAnswer("ok", {})

    model = Recorded([Answer(calls=(Call("c1", "weather", "{}"),), stop="tools"), Answer("read")])
    _, report = await talking.run(model, Toolbox(with_mail), more=more)
    assert report.text == "read"
    results = model.asked[1].messages[-1]
    assert isinstance(results, Results)
    assert results.text == "You have mail from ben."


async def test_whoever_is_done_and_has_mail_is_not_done() -> None:
    more, has_come = talking.mail("First.", "Second.")
    has_come.set()
    model = Recorded([Answer("one"), Answer("two"), Answer("three")])
    _, report = await talking.run(model, more=more)
    assert report.text == ("three" if len(model.asked) == 3 else "two")
    said = "\n".join(one.text for one in model.asked[-1].messages if isinstance(one, Said))
    assert "First." in said
    assert "Second." in said


async def test_mail_that_comes_in_the_last_moment_is_not_lost() -> None:
    """It is handed out although nobody waits any more, as when a commit cannot be taken back."""
    tries = 0

    async def more() -> Heard | None:
        nonlocal tries
        tries += 1
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if tries == 1:
                return Heard("Just in time.")
            raise
        return None

    model = Recorded([Answer("done"), Answer("really done")])
    _, report = await talking.run(model, more=more)
    assert report.text == "really done"
    assert model.asked[1].messages[-1] == Said("Just in time.")


async def test_what_goes_wrong_while_waiting_for_mail_comes_out() -> None:
    async def more() -> Heard | None:
        raise MootError("The attempt is over.")

    with pytest.raises(MootError, match="attempt is over"):
        await talking.run(Recorded([Answer("x", stop="pause"), Answer("y")]), more=more)


async def test_what_goes_wrong_in_a_toolbox_comes_out_as_it_is() -> None:
    async def broken(name: str, arguments: Mapping[str, Json]) -> ToolAnswer:
        raise MootError("The connection is gone.")

    with pytest.raises(MootError, match="connection is gone"):
        await talking.run(script(LOOK), Toolbox(broken))


@pytest.mark.parametrize("where", ["model", "tool", "mail"])
async def test_cancelling_leaves_nothing_running(where: str) -> None:
    has_begun = asyncio.Event()
    gone: list[str] = []

    async def hang(name: str) -> None:
        try:
            if name == where:
                has_begun.set()
            await asyncio.Event().wait()
        finally:
            gone.append(name)

    class Hanging:
        async def ask(self, request: Request) -> AsyncGenerator[Progress]:
            yield Piece("well")
            if where == "tool":
                yield Answer(calls=(Call("c", "weather", "{}"),) * 2, stop="tools")
            else:
                await hang("model")

    async def call(name: str, arguments: Mapping[str, Json]) -> ToolAnswer:
        await hang("tool")
        return ToolAnswer("", {})

    before = asyncio.all_tasks()
    stream = talking.stream(Hanging(), Toolbox(call), more=lambda: hang("mail"))

    async def listen() -> None:
        async with aclosing(stream):
            async for _ in stream:
                pass

    running = asyncio.ensure_future(listen())
    await has_begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert "mail" in gone
    assert gone.count("tool") == (2 if where == "tool" else 0)
    assert asyncio.all_tasks() == before


async def test_an_empty_result_is_said_to_be_empty() -> None:
    """Providers refuse a text without a letter."""

    async def empty(name: str, arguments: Mapping[str, Json]) -> ToolAnswer:
        return ToolAnswer("", {})

    model = Recorded([Answer(calls=(Call("c1", "weather", "{}"),), stop="tools"), Answer("ok")])
    await talking.run(model, Toolbox(empty))
    results = model.asked[1].messages[-1]
    assert isinstance(results, Results)
    assert results.results[0].text == "(empty)"


async def test_a_huge_result_is_shown_in_part_and_can_be_read_on() -> None:
    async def huge(name: str, arguments: Mapping[str, Json]) -> ToolAnswer:
        return ToolAnswer("x" * 1_000_000, {})

    model = Recorded([Answer(calls=(Call("c1", "weather", "{}"),), stop="tools"), Answer("ok")])
    await talking.run(model, Toolbox(huge))
    results = model.asked[1].messages[-1]
    assert isinstance(results, Results)
    assert len(results.results[0].text) < 3_000
    assert "1,000,000 characters in all" in results.results[0].text
