from collections.abc import Sequence

from moot.core.formats import Format
from moot.session.hearing import Deaf, Heard
from moot.session.journal import Done, Intent, Memory
from moot.session.report import Report
from tests.session.staging import Hall, agent, calls, reports


async def test_the_report_is_the_request_of_the_next_and_nothing_else_is() -> None:
    hall = Hall()
    report = await hall.report(
        agent("draft", {"say": "Let me see.", "calls": [{"final_report": {"report": "# Plan"}}]}, handoff="approve"),
        agent("approve", reports("Approved.")),
    )
    assert report == Report("Approved.", "approve")
    assert hall.told("approve") == "# Plan"


async def test_a_chain_of_three_ends_with_the_last() -> None:
    hall = Hall()
    report = await hall.report(
        agent("a", reports("from a"), handoff="b"),
        agent("b", reports("from b"), handoff="c"),
        agent("c", {"say": "from c"}),
    )
    assert (report.text, report.agent) == ("from c", "c")
    assert hall.order() == ["a", "b", "c"]
    assert (hall.told("b"), hall.told("c")) == ("from a", "from b")


class Written(Memory):
    """Keeps what was written on each page: the ends, then the beginnings."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: list[tuple[list[str], list[str]]] = []

    async def note(self, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
        self.pages.append(([one.path for one in done], [one.path for one in begun]))
        await super().note(done, begun)


async def test_how_a_stage_ended_is_written_with_how_the_next_begins() -> None:
    hall = Hall(journal=Written())
    await hall.report(agent("a", {"say": "from a"}, handoff="b"), agent("b", {"say": "from b"}))
    assert isinstance(hall.journal, Written)
    assert hall.journal.pages == [
        ([], ["", "t1/m"]),
        (["t1/m", ""], ["h", "h/t1/m"]),
        (["h/t1/m", "h"], []),
    ]


async def test_whoever_is_advised_first_begins_when_the_stage_before_is_on_record() -> None:
    hall = Hall(journal=Written())
    await hall.report(
        agent("a", {"say": "from a"}, handoff="b"),
        agent("b", {"say": "from b"}, advisors=("x",)),
        agent("x", {"say": "from x"}),
    )
    assert isinstance(hall.journal, Written)
    assert hall.journal.pages[1] == (["t1/m", ""], [])


async def test_json_is_handed_over_as_json() -> None:
    hall = Hall()
    shape = Format("json", {"type": "object", "required": ["risk"]})
    await hall.report(agent("a", reports({"risk": 3}), handoff="b", output=shape), agent("b", reports("ok")))
    assert hall.told("b") == '{"risk":3}'


async def test_a_chain_that_breaks_says_where_and_goes_no_further() -> None:
    hall = Hall()
    report = await hall.report(
        agent("a", reports("from a"), handoff="b"),
        agent("b", {"fail": "auth"}, handoff="c"),
        agent("c", reports("never")),
    )
    assert report.failure == "auth"
    assert report.error.startswith("the chain broke at b (a → b): ")
    assert hall.order() == ["a", "b"]


async def test_a_failure_that_is_reported_breaks_the_chain() -> None:
    hall = Hall()
    report = await hall.report(
        agent("a", reports("There is no such file.", status="failure"), handoff="b"), agent("b", reports("never"))
    )
    assert (report.failure, hall.order()) == ("reported", ["a"])
    assert "There is no such file." in report.error


async def test_an_agent_with_a_handoff_still_has_its_own_tools() -> None:
    hall = Hall()
    await hall.report(
        agent("a", calls("agent_x", prompt="look"), reports("seen"), handoff="b", agents=("x",)),
        agent("b", reports("ok")),
        agent("x", reports("found")),
    )
    assert hall.order() == ["a", "x", "a", "b"]


class Noted(Deaf):
    """Keeps when somebody began to listen, and ended."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def begin(self) -> None:
        self.notes.append("begins")

    async def stop(self) -> Heard | None:
        self.notes.append("stops")


async def test_whoever_is_next_goes_on_listening() -> None:
    hall, noted = Hall(), Noted()
    hall.hearing = noted
    await hall.report(agent("a", {"say": "from a"}, handoff="b"), agent("b", {"say": "from b"}))
    assert noted.notes == ["begins", "begins", "stops"]


async def test_nobody_listens_for_a_chain_that_broke() -> None:
    hall, noted = Hall(), Noted()
    hall.hearing = noted
    await hall.report(agent("a", reports("No.", status="failure"), handoff="b"), agent("b", {"say": "from b"}))
    assert noted.notes == ["begins", "stops"]
