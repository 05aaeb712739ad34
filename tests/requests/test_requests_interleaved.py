"""Two transactions that meet over one request: it is answered once, used once, asked once."""

import pytest

from moot.requests import requests
from moot.requests.errors import RequestClosed
from moot.store.postgres import PostgresStore
from moot.testing.clock import ManualClock
from tests.interleave import interleave
from tests.requests.desk import answerer, open_desk


async def test_of_two_answers_the_second_is_refused(pg_store: PostgresStore) -> None:
    desk = await open_desk(pg_store)
    carl = await desk.house.join("carl")
    request = await desk.ask(desk.permission(desk.ana))
    with pytest.raises(RequestClosed, match="was approved by ana"):
        await interleave(
            pg_store,
            lambda tx: requests.answer(tx, request.id, "approved", "", answerer(desk.ana)),
            lambda tx: requests.answer(tx, request.id, "denied", "", answerer(carl, is_operator=True)),
        )
    found = await desk.house.read(lambda tx: requests.get(tx, request.id))
    assert (found.state, found.answered_by) == ("approved", "ana")


async def test_the_same_answer_twice_at_once_is_one_answer(pg_store: PostgresStore) -> None:
    desk = await open_desk(pg_store)
    request = await desk.ask(desk.permission())
    with pytest.raises(RequestClosed, match="was approved by bob"):
        await interleave(
            pg_store,
            lambda tx: requests.answer(tx, request.id, "approved", "", answerer(desk.bob)),
            lambda tx: requests.answer(tx, request.id, "approved", "", answerer(desk.bob)),
        )
    assert (await desk.kinds()).count("request_answered") == 1


async def test_what_is_answered_while_its_time_runs_out_is_answered(
    pg_store: PostgresStore, clock: ManualClock
) -> None:
    desk = await open_desk(pg_store)
    request = await desk.ask(desk.permission())
    clock.advance(59)
    met = await interleave(
        pg_store,
        lambda tx: requests.answer(tx, request.id, "approved", "", answerer(desk.bob)),
        lambda tx: [clock.advance(1), requests.expire(tx, request.id)][1],
    )
    assert met.second_waited
    assert met.second is None


async def test_an_approval_is_used_by_one_of_two_who_need_it_at_once(pg_store: PostgresStore) -> None:
    desk = await open_desk(pg_store)
    request = await desk.ask(desk.permission())
    await desk.answer(request.id, "approved", "", desk.bob)
    met = await interleave(
        pg_store,
        lambda tx: requests.use(tx, desk.ann.id, request.hash),
        lambda tx: requests.use(tx, desk.ann.id, request.hash),
    )
    assert met.second_waited
    assert met.first is not None
    assert met.second is None


async def test_the_same_asked_twice_at_once_is_one_request(pg_store: PostgresStore) -> None:
    desk = await open_desk(pg_store)
    met = await interleave(pg_store, lambda tx: requests.ask(tx, desk.new()), lambda tx: requests.ask(tx, desk.new()))
    assert met.second_waited
    assert met.first.request.id == met.second.request.id
    assert (met.first.is_new, met.second.is_new) == (True, False)
