"""What waits for a person, and which of it a line is an answer to."""

from pathlib import Path

from moot.api import requests
from moot.store.store import Store
from tests.api import desk


async def test_a_line_answers_what_was_shown_however_long_something_else_waits(store: Store, tmp_path: Path) -> None:
    ann = await desk.join(store, "ann")
    before, first, second = [(await desk.say(store, ann, f"@human {word}?")).message for word in ("a", "b", "c")]
    person = desk.person(store, tmp_path)
    found = await requests.longest(person, {second.id, first.id})
    assert found is not None
    assert found.mail.id == first.id
    await person.acknowledge([found.mail])
    rest = await requests.longest(person, {second.id, first.id})
    assert rest is not None
    assert rest.mail.id == second.id
    assert await requests.longest(person, {first.id}) is None
    assert [one.mail.id for one in await requests.waiting(person, None, limit=9)] == [before.id, second.id]
