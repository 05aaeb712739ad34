"""What models are asked goes onto the tape once, and of one attempt no more than a tape should hold."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from moot.backends.backend import Assignment, Briefing
from moot.core.caller import Caller
from moot.core.ids import InstanceName
from moot.core.json import Json
from moot.core.tool import ToolAnswer
from moot.models import model
from moot.models.model import Again, Answer, ModelFailed, Request, Results, Said, ToolSpec
from moot.runner.api_agents import Asking
from moot.runner.refusals import Noted, Reached, Refused
from moot.session.agent import Agent
from moot.session.journal import OverBudget
from moot.session.stage import Question
from moot.taping import tape
from moot.taping.recording.model_calls import ModelCalls
from moot.taping.recording.recorded_model import Failed, Place
from moot.taping.tape import Asked, Heard, Line, Progress, Replied, Result, Unanswered, Wanted
from moot.tools.witness import Answered
from tests.backends.test_scripted import assignment

SEND = model.Call("c1", "channel_send", '{"message": "hi"}')
BROKEN = model.Call("c2", "channel_send", '{"message": ')
TOOLS = (ToolSpec("channel_send", "Say something.", {}), ToolSpec("vote", "Vote.", {}))


class Book:
    """Model calls of one attempt, and what was written of them."""

    def __init__(self, most: int = 1000) -> None:
        self.lines: list[Line] = []
        self.written: list[str] = []
        self.calls = ModelCalls(self.lines.append, self.written.append, most)
        self.one: Assignment = assignment([], "hi")
        self.calls.briefed(self.one.attempt, Briefing("Do it.", "Be kind."))

    def asked(self, request: Request, path: str = "t1/m", facts: Mapping[str, Json] | None = None) -> Place:
        asking = Asking(Agent("ann"), "openai/x", Question(path, request, facts or {}))
        return self.calls.asked(self.one, asking)

    def answered(self, text: str, path: str = "t1/c1") -> None:
        caller = Caller("ann", "member", InstanceName(self.one.instance), None, attempt=self.one.attempt)
        answer = ToolAnswer(text, {})
        answered = Answered(caller, "channel_send", {}, is_keyed=True, answer=answer, made=None, path=path)
        self.calls.called(self.one.attempt, answered)

    def noted(self, seq: int, *paths: str) -> None:
        self.calls.noted(self.one.attempt, Noted(seq, paths, None))

    def line(self, path: str, number: int, *more: object, **said: object) -> Asked:
        return Asked(self.one.attempt, "ann", path, number, "openai/x", *more, **said)  # pyright: ignore[reportArgumentType]


def request(*messages: model.Message) -> Request:
    return Request((Said("Do it."), *messages), "Be kind.", TOOLS)


def test_of_each_request_only_what_is_new_is_written() -> None:
    book = Book()
    attempt = book.one.attempt
    answer = Answer("", (SEND, BROKEN), "tools", model.Usage(10, 2))
    first = book.asked(request())
    book.calls.replied(first, answer, 0.25)
    book.noted(7, "t1/m")
    book.answered("sent")
    told = Results(
        (model.Result(SEND, "sent\n\nand mail"), model.Result(BROKEN, "Nothing was done", is_error=True)), "!"
    )
    second = book.asked(request(answer, told), "t2/m")
    assert (first, second) == (Place(attempt, "t1/m", 1), Place(attempt, "t2/m", 2))
    results = (
        Result("channel_send", 0, "\n\nand mail"),
        Result("channel_send", None, "Nothing was done", is_error=True),
    )
    wanted = (Wanted("c1", "channel_send", {"message": "hi"}), Wanted("c2", "channel_send", BROKEN.arguments))
    assert book.lines == [
        book.line("t1/m", 1, is_briefed=True, tools=("channel_send", "vote")),
        Replied(attempt, "t1/m", 1, "", wanted, "tools", model.Usage(10, 2), 0.25, 7),
        book.line("t2/m", 2, results, "!"),
    ]
    assert book.written == [attempt]


def test_sessions_that_go_on_at_once_are_each_written_for_themselves() -> None:
    book = Book()
    one, other = (f"adv/{name}" for name in ("risk", "law"))
    send = Answer("", (SEND,), "tools")
    for path, system in ((one, "Be wary."), (other, "Be kind.")):
        book.asked(replace(request(), system=system), f"{path}/t1/m")
    book.answered("sent first", f"{other}/t1/c1")
    book.answered("sent second", f"{one}/t1/c1")
    for path, system, text in ((one, "Be wary.", "sent second"), (other, "Be kind.", "sent first")):
        told = request(send, Results((model.Result(SEND, text),)))
        book.asked(replace(told, system=system), f"{path}/t2/m")
    tools = ("channel_send", "vote")
    assert book.lines == [
        book.line(f"{one}/t1/m", 1, is_briefed=True, system="Be wary.", tools=tools),
        book.line(f"{other}/t1/m", 1, is_briefed=True, tools=tools),
        book.line(f"{one}/t2/m", 2, (Result("channel_send", 1),)),
        book.line(f"{other}/t2/m", 2, (Result("channel_send", 0),)),
    ]


def test_what_a_session_heard_on_its_way_stands_by_itself() -> None:
    book = Book()
    book.asked(request())
    heard: Json = {"text": "News.\n", "broadcasts": ["ben#1"]}
    told = Results((model.Result(SEND, "sent"),), "Well.\n\nNews.\n\nThis is your last turn.")
    book.asked(request(Answer("", (SEND,)), told), "t2/m", {"heard": heard, "called_back": True})
    wanted = Heard("News.\n", {"broadcasts": ["ben#1"]}, is_called_back=True)
    results, more = (Result("channel_send", None, "sent"),), "\n\nThis is your last turn."
    assert book.lines[-1] == book.line("t2/m", 2, results, "Well.\n\n", heard=wanted, more_words=more)


def test_what_differs_from_the_briefing_is_written_in_full() -> None:
    book = Book()
    book.asked(Request((Said("Do that."),), "Be curt.", (), 100))
    assert book.lines == [book.line("t1/m", 1, (), "Do that.", system="Be curt.", tools=(), max_tokens=100)]


def test_each_failure_is_written_with_what_is_done_about_it() -> None:
    book = Book()
    place = book.asked(request())
    used = model.Usage(10, 2)
    book.calls.failed(place, Failed(Again("rate_limit", "Too many.", 2.0, used), "I w", 0.1))
    book.noted(3, "t1/m")
    book.calls.failed(place, Failed(ModelFailed("auth", "No key.", "Set one.", used=used), "", 0.2))
    book.noted(4, "t1/m")
    assert book.lines[1:] == [
        Unanswered(place.attempt, "t1/m", 1, "rate_limit", "Too many.", "", "I w", 2.0, 0.1, used, 3),
        Unanswered(place.attempt, "t1/m", 1, "auth", "No key.", "Set one.", "", None, 0.2, used, 4),
    ]


def test_an_answer_is_written_when_it_is_on_record_or_nobody_can_tell_any_more() -> None:
    book = Book()
    for path in ("t1/m", "adv/law/t1/m", "adv/risk/t1/m"):
        book.calls.replied(book.asked(request(), path), Answer(), 0.0)
    assert not [one for one in book.lines if isinstance(one, Replied)]
    book.noted(5, "adv/law/t1/m")
    book.answered("sent", "t1/c1")
    book.calls.over(book.one.attempt)
    found = [(one.path, one.seq) for one in book.lines if isinstance(one, Replied)]
    assert found == [("adv/law/t1/m", 5), ("t1/m", None), ("adv/risk/t1/m", None)]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OverBudget("stopped at the budget"), "budget"),
        (ModelFailed("rate_limit", "the lab asked to wait"), "rate_limit"),
    ],
)
def test_a_request_that_was_not_made_is_written_with_why(error: OverBudget | ModelFailed, kind: str) -> None:
    book = Book()
    heard: Json = {"text": "News.", "mail": ["ms_1"]}
    reached = Reached("budget: $1.00")
    refused = Refused("t2/m", "", {"heard": heard, "called_back": True}, error, reached)
    book.calls.noted(book.one.attempt, Noted(9, (), refused))
    told = Heard("News.", {"mail": ["ms_1"]}, is_called_back=True)
    assert [tape.plain(one) for one in book.lines] == [
        tape.plain(tape.Refused(book.one.attempt, "t2/m", "scripted", kind, error.fact, reached, 9, told))  # pyright: ignore[reportArgumentType]
    ]


def test_of_an_attempt_that_asks_too_much_the_beginning_is_kept_and_that_is_said() -> None:
    book = Book(most=20)
    book.calls.replied(book.asked(request()), Answer("x" * 8), 0.0)
    book.noted(1, "t1/m")
    second = book.asked(request(Answer("x" * 8), Said("and on")), "t2/m")
    book.calls.replied(second, Answer("y"), 0.0)
    book.asked(request(Answer("x" * 8), Said("and on"), Answer("y"), Said("z")), "adv/risk/t1/m")
    assert [type(line) for line in book.lines] == [Asked, Replied, Asked, Progress]
    told = "of its requests to models and their answers 20 characters are kept, up to call 2"
    assert book.lines[-1] == Progress(book.one.attempt, "cut", told)
    assert book.written == [book.one.attempt]  # of the second answer the text is to be written elsewhere
