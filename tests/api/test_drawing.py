"""Plans as pictures: each task to the right of what it needs, and names that cannot break out of the picture."""

from xml.etree import ElementTree as xml

from moot.api import drawing
from moot.api.plans import Drawn
from moot.board import tasks
from moot.core.tx import ReadTx
from moot.store.store import Store
from tests.board import desk
from tests.board.desk import ANN


async def drawn(store: Store, *lines: str) -> list[Drawn]:
    made = await desk.desk(store, *lines)

    def look(tx: ReadTx) -> list[Drawn]:
        found = tasks.page(tx, made.board.id)
        return [Drawn(one, tuple(tasks.needs(tx, one.id)), "ann" if one.holder else "") for one in found]

    return await store.read(look)


def names(columns: list[list[Drawn]]) -> list[list[str]]:
    return [[one.task.name for one in column] for column in columns]


async def test_a_task_stands_to_the_right_of_all_that_it_needs(store: Store) -> None:
    found = await drawn(store, "d: c a", "c: b", "b: a", "a", "e", "f: ~d")
    assert names(drawing.columns(found)) == [["a", "e"], ["b"], ["c"], ["d"], ["f"]]


def test_nothing_is_an_empty_picture() -> None:
    assert drawing.columns([]) == []
    root = xml.fromstring(drawing.svg("none", []))
    assert root.find("{*}rect") is None


async def test_what_is_not_in_the_picture_is_not_waited_for(store: Store) -> None:
    """Of a large plan only a part is drawn."""
    found = await drawn(store, "a", "b: a", "c: b")
    assert names(drawing.columns([one for one in found if one.task.name != "a"])) == [["b"], ["c"]]
    assert drawing.svg("part", [one for one in found if one.task.name != "b"]).count("<rect") == 2


async def test_a_picture_has_a_box_for_each_task_and_a_line_for_each_need(store: Store) -> None:
    root = xml.fromstring(drawing.svg("a plan", await drawn(store, "a", "b: a", "c: a ~b")))
    assert root.findtext("{*}title") == "a plan"
    boxes = root.findall("{*}g/{*}rect")
    assert len({(one.get("x"), one.get("y")) for one in boxes}) == 3
    lines = root.findall("{*}path")
    assert [one.get("stroke-dasharray") for one in lines].count("4") == 1
    assert len(lines) == 3
    assert [one.text for one in root.findall("{*}g/{*}text[1]")] == ["a", "b", "c"]
    assert [one.text for one in root.findall("{*}g/{*}text[2]")] == ["pending", "blocked", "blocked"]
    assert all(int(one.get("x", "")) + 180 <= int(root.get("width", "")) for one in boxes)


async def test_names_are_shown_as_they_are_and_long_ones_cut(store: Store) -> None:
    odd, long = '<b>&"x"</b>]]>', "x" * 100
    root = xml.fromstring(drawing.svg("</title><script>", await drawn(store, odd, long)))
    assert [one.text for one in root.findall("{*}g/{*}text[1]")] == [odd, f"{'x' * 21}…"]
    assert root.findtext("{*}title") == "</title><script>"
    assert root.find(".//{*}script") is None
    assert [one.text for one in root.findall("{*}g/{*}title")] == [f"{odd}: do {odd}", f"{long}: do {long}"]


async def test_signs_that_no_picture_may_have_are_left_out(store: Store) -> None:
    root = xml.fromstring(drawing.svg("a\x1b[31mb", await drawn(store, "red\x1b[31m\x07")))
    assert root.findtext("{*}g/{*}text") == "red[31m"
    assert root.findtext("{*}title") == "a[31mb"


async def test_who_is_at_work_and_every_state_is_shown(store: Store) -> None:
    made = await desk.desk(store, "a", "b", "c", "d", "e: c", "f")
    await made.claim("a")
    await made.do("b")
    await made.claim("c")
    await made.fail("c")
    await made.skip("d")
    await made.claim("f")

    def look(tx: ReadTx) -> list[Drawn]:
        return [Drawn(one, (), ANN.name if one.holder else "") for one in tasks.page(tx, made.board.id)]

    root = xml.fromstring(drawing.svg("states", await store.read(look)))
    assert [one.text for one in root.findall("{*}g/{*}text[2]")] == [
        "planning, ann", "completed", "failed", "skipped", "blocked", "planning, ann",
    ]  # fmt: skip
    assert len({one.get("fill") for one in root.findall("{*}g/{*}rect")}) == 5
