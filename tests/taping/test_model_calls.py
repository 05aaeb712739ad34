"""What models are asked goes onto the tape once, and of one attempt no more than a tape should hold."""

from dataclasses import replace

from moot.backends.backend import Assignment, Briefing, Manner
from moot.core.caller import Caller
from moot.core.ids import InstanceName
from moot.core.tool import ToolAnswer
from moot.models import model
from moot.models.model import Again, Answer, ModelFailed, Request, Results, Said, ToolSpec
from moot.taping.recording.model_calls import ModelCalls
from moot.taping.recording.recorded_model import Failed
from moot.taping.tape import Asked, Line, Progress, Replied, Result, Unanswered, Wanted
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
        self.one: Assignment = replace(assignment([], "hi"), manner=Manner(model="openai/x"))
        self.calls.briefed(self.one.attempt, Briefing("Do it.", "Be kind."))

    def answered(self, text: str) -> None:
        caller = Caller("ann", "member", InstanceName(self.one.instance), None, attempt=self.one.attempt)
        answered = Answered(caller, "channel_send", {}, is_keyed=True, answer=ToolAnswer(text, {}), operation=None)
        self.calls.called(self.one.attempt, answered)


def request(*messages: model.Message) -> Request:
    return Request((Said("Do it."), *messages), "Be kind.", TOOLS)


def test_of_each_request_only_what_is_new_is_written() -> None:
    book = Book()
    attempt = book.one.attempt
    answer = Answer("", (SEND, BROKEN), "tools", model.Usage(10, 2))
    assert book.calls.asked(book.one, request()) == 1
    book.calls.replied(book.one, 1, answer, 0.25)
    book.answered("sent")
    told = Results(
        (model.Result(SEND, "sent\n\nand mail"), model.Result(BROKEN, "Nothing was done", is_error=True)), "!"
    )
    assert book.calls.asked(book.one, request(answer, told)) == 2
    results = (
        Result("channel_send", 0, "\n\nand mail"),
        Result("channel_send", None, "Nothing was done", is_error=True),
    )
    wanted = (Wanted("c1", "channel_send", {"message": "hi"}), Wanted("c2", "channel_send", BROKEN.arguments))
    assert book.lines == [
        Asked(attempt, 1, "openai/x", is_briefed=True, tools=("channel_send", "vote")),
        Replied(attempt, 1, "", wanted, "tools", model.Usage(10, 2), 0.25),
        Asked(attempt, 2, "openai/x", results, "!"),
    ]
    assert book.written == [attempt]


def test_what_differs_from_the_briefing_is_written_in_full() -> None:
    book = Book()
    book.calls.asked(book.one, Request((Said("Do that."),), "Be curt.", (), 100))
    assert book.lines == [
        Asked(book.one.attempt, 1, "openai/x", (), "Do that.", system="Be curt.", tools=(), max_tokens=100)
    ]


def test_each_failure_is_written_with_what_is_done_about_it() -> None:
    book = Book()
    attempt = book.one.attempt
    book.calls.asked(book.one, request())
    book.calls.failed(book.one, 1, Failed(Again("rate_limit", "Too many.", 2.0), "I w", 0.1))
    book.calls.failed(book.one, 1, Failed(ModelFailed("auth", "No key.", "Set one."), "", 0.2))
    assert book.lines[1:] == [
        Unanswered(attempt, 1, "rate_limit", "Too many.", "", "I w", 2.0, 0.1),
        Unanswered(attempt, 1, "auth", "No key.", "Set one.", "", None, 0.2),
    ]


def test_of_an_attempt_that_asks_too_much_the_beginning_is_kept_and_that_is_said() -> None:
    book = Book(most=20)
    book.calls.asked(book.one, request())
    book.calls.replied(book.one, 1, Answer("x" * 15), 0.0)
    book.calls.asked(book.one, request(Answer("x" * 15), Said("and on")))
    book.calls.replied(book.one, 2, Answer("y"), 0.0)
    book.calls.asked(book.one, request(Answer("x" * 15), Said("and on"), Answer("y"), Said("z")))
    assert [type(line) for line in book.lines] == [Asked, Replied, Progress]
    told = "of its requests to models and their answers 20 characters are kept, up to call 2"
    assert book.lines[-1] == Progress(book.one.attempt, "cut", told)
    assert book.written == [book.one.attempt]  # of the second answer the text is to be written elsewhere
