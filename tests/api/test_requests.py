"""What waits for a person, and which of it a line is an answer to."""

from pathlib import Path

import pytest

from moot.api import requests
from moot.core.json import Json
from moot.proposals.errors import OptionUnknown
from moot.store.store import Store
from moot.tools import dispatch
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


async def test_an_answer_to_what_is_put_to_the_vote_is_a_vote(store: Store, tmp_path: Path) -> None:
    ann = await desk.join(store, "ann")
    await desk.say(store, ann, "hello")  # the person is known from here on
    new: dict[str, Json] = {"type": "approval", "title": "Ready?", "electors": ["human", "ann"]}
    made = await dispatch.perform(store, desk.as_agent(store, tmp_path, ann).caller, "proposal_create", new, None)
    assert not made.is_error, made.text
    person = desk.person(store, tmp_path)
    (asked,) = await requests.waiting(person, None, limit=9)
    with pytest.raises(OptionUnknown):
        await requests.reply(person, asked, "perhaps")
    assert await requests.reply(person, asked, "YES, the tests pass") == 'voted for "Approve"'
    assert await requests.waiting(person, None, limit=9) == []
    (said,) = [one.body for one in await person.latest(9) if one.sender == "human"]
    assert said == '[VOTE:prop-001] I vote for "Approve" (the tests pass)'
