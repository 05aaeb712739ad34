"""Proposals as one JSON document, whose version grows with everything that happens to them."""

from typing import Any, cast

from moot.proposals import plain, proposals
from moot.store.store import Store
from tests.proposals.assembly import ANN, BOB, Assembly, Motion, convene


async def document(assembly: Assembly) -> dict[str, Any]:
    stream = assembly.house.stream
    found = await assembly.house.read(lambda tx: proposals.all_of(tx, stream))
    return cast(dict[str, Any], plain.document(found))


async def test_the_version_grows_with_each_proposal_vote_and_end(store: Store) -> None:
    assembly = await convene(store)
    assert await document(assembly) == {"proposals": {}, "version": 0}
    versions: list[int] = []
    first = await assembly.propose(Motion(quorum=2))
    versions.append((await document(assembly))["version"])
    await assembly.vote(first.id, ANN, "red")
    versions.append((await document(assembly))["version"])
    await assembly.vote(first.id, BOB, "red")  # and with it the end
    versions.append((await document(assembly))["version"])
    second = await assembly.propose()
    versions.append((await document(assembly))["version"])
    await assembly.cancel(second.id, ANN)
    versions.append((await document(assembly))["version"])
    assert versions == [1, 2, 4, 5, 6]


async def test_proposals_are_listed_by_id_oldest_first(store: Store) -> None:
    assembly = await convene(store)
    made = [await assembly.propose(motion) for motion in (Motion(purpose="document_owner"), Motion(), Motion())]
    found = (await document(assembly))["proposals"]
    assert sorted(found) == sorted(one.id for one in made)
    assert found["prop-002"] == plain.proposal(await assembly.get(made[2].id))
