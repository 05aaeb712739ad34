"""Requests: who may answer what, once, and what an approval is good for."""

from dataclasses import replace
from datetime import timedelta

import pytest

from moot.core.ids import MessageId, RequestId, StreamId
from moot.requests import requests
from moot.requests.errors import (
    AnswerRefused,
    NotAddressee,
    NotRequester,
    OwnRequest,
    RequestClosed,
    RequestNotFound,
    RequestRefused,
)
from moot.requests.requests import Verdict
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.plans import plan_on_sqlite
from tests.requests.desk import Desk, open_desk


async def used(desk: Desk, hash: str) -> bool:
    return await desk.house.write(lambda tx: requests.use(tx, desk.ann.id, hash)) is not None


async def test_a_question_is_open_until_it_is_answered(store: Store) -> None:
    desk = await open_desk(store)
    request = await desk.ask(desk.new())
    assert (request.state, request.answer, request.answered_by) == ("open", "", None)
    assert await desk.house.read(lambda tx: requests.open_of(tx, desk.house.stream)) == [request]
    answered = await desk.answer(request.id, "answered", " blue ", desk.bob)
    assert (answered.state, answered.answer, answered.answered_by) == (
        "answered",
        "blue",
        "bob",
    )
    assert await desk.house.read(lambda tx: requests.open_of(tx, desk.house.stream)) == []
    assert await desk.house.read(lambda tx: requests.latest(tx, desk.house.stream, 9)) == [answered]
    assert await desk.kinds() == ["request_opened", "request_answered"]


async def test_the_same_asked_again_while_it_is_open_is_the_same_request(store: Store) -> None:
    desk = await open_desk(store)
    first = await desk.ask(desk.new())
    assert await desk.ask(desk.new()) == first
    assert (await desk.ask(desk.new(desk.ana))).id != first.id
    assert (await desk.ask(replace(desk.new(), body="of the door"))).id != first.id
    await desk.answer(first.id, "denied", "", desk.bob)
    assert (await desk.ask(desk.new())).id != first.id
    assert (await desk.kinds()).count("request_opened") == 4


async def test_only_the_addressee_answers_and_the_operator_for_people(store: Store) -> None:
    desk = await open_desk(store)
    carl = await desk.house.join("carl")
    to_bob, to_ana = await desk.ask(desk.permission()), await desk.ask(desk.permission(desk.ana))
    with pytest.raises(OwnRequest):
        await desk.answer(to_bob.id, "approved", "", desk.ann)
    with pytest.raises(OwnRequest):
        await desk.answer(to_ana.id, "approved", "", desk.ann, is_operator=True)
    with pytest.raises(NotAddressee):
        await desk.answer(to_bob.id, "approved", "", carl)
    with pytest.raises(NotAddressee):
        await desk.answer(to_bob.id, "approved", "", carl, is_operator=True)
    with pytest.raises(NotAddressee):
        await desk.answer(to_ana.id, "approved", "", carl)
    assert (await desk.answer(to_ana.id, "approved", "", carl, is_operator=True)).answered_by == "carl"
    assert (await desk.answer(to_bob.id, "denied", "no", desk.bob)).state == "denied"


async def test_nobody_asks_themselves(store: Store) -> None:
    desk = await open_desk(store)
    with pytest.raises(RequestRefused):
        await desk.ask(desk.new(desk.ann))


async def test_an_answer_is_final_and_another_is_refused_though_it_is_the_same(
    store: Store, clock: ManualClock
) -> None:
    desk = await open_desk(store)
    request = await desk.ask(desk.permission())
    first = await desk.answer(request.id, "approved", "go on", desk.bob)
    clock.advance(3600)
    with pytest.raises(RequestClosed, match="was approved by bob"):
        await desk.answer(request.id, "approved", "go on", desk.bob)
    assert await desk.house.read(lambda tx: requests.get(tx, request.id)) == first
    with pytest.raises(RequestClosed, match="was approved by bob"):
        await desk.answer(request.id, "denied", "", desk.bob)
    with pytest.raises(RequestClosed):
        await desk.answer(request.id, "approved", "otherwise", desk.bob)
    assert (await desk.kinds()).count("request_answered") == 1


async def test_an_answer_fits_the_question(store: Store) -> None:
    desk = await open_desk(store)
    question = await desk.ask(replace(desk.new(), options=("Red", "Blue")))
    permission = await desk.ask(desk.permission())
    unfit: tuple[tuple[RequestId, Verdict, str], ...] = (
        (question.id, "approved", ""),
        (question.id, "answered", "green"),
        (question.id, "answered", " "),
        (permission.id, "answered", "yes"),
    )
    for id, verdict, text in unfit:
        with pytest.raises(AnswerRefused):
            await desk.answer(id, verdict, text, desk.bob)
    assert (await desk.answer(question.id, "answered", "blue", desk.bob)).answer == "Blue"


async def test_a_late_answer_is_refused_though_nobody_has_noted_the_end(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    request = await desk.ask(desk.permission())
    assert request.expires_at == clock.now() + timedelta(minutes=1)
    assert await desk.house.write(lambda tx: requests.expire(tx, request.id)) is None
    clock.advance(60)
    with pytest.raises(RequestClosed, match="time"):
        await desk.answer(request.id, "approved", "", desk.bob)
    expired = await desk.house.write(lambda tx: requests.expire(tx, request.id))
    assert expired is not None
    assert expired.state == "expired"
    assert await desk.house.write(lambda tx: requests.expire(tx, request.id)) is None
    with pytest.raises(RequestClosed, match="was expired"):
        await desk.answer(request.id, "approved", "", desk.bob)


async def test_who_has_asked_may_take_it_back(store: Store) -> None:
    desk = await open_desk(store)
    request = await desk.ask(desk.new())
    with pytest.raises(NotRequester):
        await desk.house.write(lambda tx: requests.cancel(tx, request.id, desk.bob.id))
    cancelled = await desk.house.write(lambda tx: requests.cancel(tx, request.id, desk.ann.id))
    assert (cancelled.is_new, cancelled.request.state) == (True, "cancelled")
    assert not (await desk.house.write(lambda tx: requests.cancel(tx, request.id, None))).is_new
    with pytest.raises(RequestClosed):
        await desk.answer(request.id, "answered", "blue", desk.bob)


async def test_an_answer_is_used_once_and_for_exactly_what_was_asked(store: Store) -> None:
    desk = await open_desk(store)
    request = await desk.ask(desk.permission())
    assert not await used(desk, request.hash)
    await desk.answer(request.id, "approved", "", desk.bob)
    assert not await used(desk, requests.hash_of(replace(desk.permission(), body="rm -rf /")))
    assert await desk.house.write(lambda tx: requests.use(tx, desk.bob.id, request.hash)) is None
    assert await used(desk, request.hash)
    assert not await used(desk, request.hash)
    second = await desk.ask(desk.permission())
    assert not await used(desk, request.hash)
    await desk.answer(second.id, "denied", "", desk.bob)
    denied = await desk.house.write(lambda tx: requests.use(tx, desk.ann.id, request.hash))
    assert denied is not None
    assert (denied.id, denied.state) == (second.id, "denied")
    assert not await used(desk, request.hash)


async def test_a_request_is_found_by_id_and_by_the_message_it_was_asked_by(store: Store) -> None:
    desk = await open_desk(store)
    request = await desk.ask(desk.new())
    await desk.house.write(lambda tx: requests.asked(tx, request.id, MessageId("ms_1")))
    found = await desk.house.read(lambda tx: requests.of_message(tx, MessageId("ms_1")))
    assert found is not None
    assert found.id == request.id
    assert await desk.house.read(lambda tx: requests.of_message(tx, MessageId("ms_2"))) is None
    with pytest.raises(RequestNotFound):
        await desk.house.read(lambda tx: requests.get(tx, RequestId("rq_unknown")))
    with pytest.raises(RequestNotFound):
        await desk.house.read(lambda tx: requests.get(tx, request.id, StreamId("in_other")))


@pytest.mark.parametrize("name", ["alike", "get", "of_message", "open_of", "latest", "unused"])
def test_requests_are_found_by_an_index_on_sqlite(name: str) -> None:
    plan = plan_on_sqlite(getattr(requests.sql, name))
    assert "SCAN" not in plan
    assert "TEMP B-TREE" not in plan or name == "unused"
