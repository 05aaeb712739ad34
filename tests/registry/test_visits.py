"""A link for the person lets one in, whoever comes at once; a visit is found by its secret until it is over."""

import asyncio

import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import DEFAULT_INSTANCE
from moot.core.tx import Tx
from moot.registry import tokens, visits
from moot.registry.errors import LinkSpent
from moot.registry.visits import Visit, VisitRole
from moot.store.store import Store


async def invited(store: Store, role: VisitRole) -> str:
    link = tokens.new_text()
    await store.write(lambda tx: visits.invite(tx, link, role, DEFAULT_INSTANCE), caller=SYSTEM)
    return link


async def begun(store: Store, link: str) -> tuple[Visit, str]:
    secret = tokens.new_text()
    return await store.write(lambda tx: visits.begin(tx, link, secret), caller=SYSTEM), secret


@pytest.mark.parametrize(("role", "let_in"), [("operator", 1), ("observer", 8)])
async def test_of_many_who_come_at_once_by_a_link_it_lets_in_whom_it_is_for(
    store: Store, role: VisitRole, let_in: int
) -> None:
    link = await invited(store, role)
    came = await asyncio.gather(*(begun(store, link) for _ in range(8)), return_exceptions=True)
    assert len([one for one in came if isinstance(one, tuple)]) == let_in
    assert {type(one) for one in came} <= {tuple, LinkSpent}


async def test_a_visit_is_found_by_its_own_secret_alone(store: Store) -> None:
    link = await invited(store, "observer")
    visit, secret = await begun(store, link)
    assert (visit.role, visit.may_change, visit.instance) == ("observer", False, DEFAULT_INSTANCE)
    assert await store.read(lambda tx: visits.find(tx, secret)) == visit
    for other in (link, "", visit.id, tokens.hash_of(secret)):
        assert await store.read(lambda tx, other=other: visits.find(tx, other)) is None


async def test_a_visit_that_is_ended_is_not_found_and_others_are(store: Store) -> None:
    one, first = await begun(store, await invited(store, "operator"))
    _, second = await begun(store, await invited(store, "operator"))

    def end(tx: Tx) -> None:
        visits.end(tx, one)

    await store.write(end, caller=SYSTEM)
    assert await store.read(lambda tx: visits.find(tx, first)) is None
    assert await store.read(lambda tx: visits.find(tx, second)) is not None
    assert await store.write(visits.end_all, caller=SYSTEM) == 1
    assert await store.read(lambda tx: visits.find(tx, second)) is None
