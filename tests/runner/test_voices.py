from moot.backends.backend import Called, Counted, Progress, Usage, Warned, Wrote
from moot.models import model
from moot.runner.voices import Voices
from moot.session import events
from moot.session.streaming import Told


def told(*given: tuple[str, events.Event], is_counted: bool = False) -> list[Progress]:
    voices = Voices("ann", is_counted=is_counted)
    return [one for agent, event in given for one in voices.tell(Told(agent, event))]


def test_the_agent_itself_is_heard_as_it_speaks() -> None:
    assert told(("ann", events.Wrote("Let ")), ("ann", events.Wrote("me see"))) == [Wrote("Let "), Wrote("me see")]


def test_others_are_heard_line_by_line_with_their_names() -> None:
    heard = told(
        ("ben", events.Wrote("one, ")),
        ("carl", events.Wrote("uno")),
        ("ben", events.Wrote("two\nthree")),
        ("ben", events.Called("file_read", is_error=False)),
        ("carl", events.Used(model.Usage(10, 2, cost=0.5))),
    )
    assert heard == [
        Wrote("ben: one, two\n"),
        Wrote("ben: three\n"),
        Called("ben/file_read", is_error=False),
        Wrote("carl: uno\n"),
        Usage(10, 2, 1, 0.5),
    ]


def test_warnings_name_who_they_are_about() -> None:
    assert told(("ann", events.Warned("slow")), ("ben", events.Warned("slow"))) == [Warned("slow"), Warned("ben: slow")]


def test_what_is_counted_elsewhere_is_marked() -> None:
    assert told(("ben", events.Used(model.Usage(10, 2))), is_counted=True) == [Counted(10, 2, 1)]
