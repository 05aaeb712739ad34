"""The request tools: who hears of what, and what is refused."""

from moot.core.json import Json
from moot.jobs import jobs
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.tools.desk import OPERATOR, Desk, member, open_desk


async def timers(desk: Desk) -> list[str]:
    return [job.key for job in await desk.house.read(lambda tx: jobs.live(tx, desk.house.stream))]


async def test_the_addressee_is_asked_by_mail_and_the_answer_comes_by_mail(store: Store) -> None:
    desk = await open_desk(store)
    ann, bob, carl = [await desk.house.join(name) for name in ("ann", "bob", "carl")]
    asked = await desk.done(
        member(ann), "request_create", to="bob", type="plan_approval", title="the plan, @carl", body="1. do it"
    )
    assert (asked["state"], asked["from"], asked["to"]) == ("open", "ann", "bob")
    assert await desk.house.unread(bob) == [f"queued [REQUEST:{asked['id']}] the plan, @carl\n\n1. do it"]
    assert await timers(desk) == [f"expire:{asked['id']}"]
    answer = await desk.call(
        member(bob), "request_respond", {"request_id": asked["id"], "approve": False, "answer": "too long"}
    )
    assert answer.text == "denied"
    assert await desk.house.unread(bob) == []
    assert await desk.house.unread(ann) == [f"queued [DENIED:{asked['id']}] the plan, @carl\n\ntoo long"]
    assert await desk.house.unread(carl) == []
    assert await timers(desk) == []
    entries = (await desk.done(OPERATOR, "channel_read"))["entries"]
    assert [entry["kind"] for entry in entries] == ["plan_approval_request", "plan_approval_response"]
    assert entries[1]["reply_to"] == entries[0]["id"] == asked["message_id"]
    assert await desk.done(member(ann), "request_list") == {"requests": []}
    assert [one["state"] for one in (await desk.done(OPERATOR, "request_list", state="all"))["requests"]] == ["denied"]


async def test_a_person_is_asked_without_a_deadline_and_answers_as_operator(store: Store) -> None:
    desk = await open_desk(store)
    ann, ana = await desk.house.join("ann"), await desk.house.join("ana", "human")
    asked = await desk.done(member(ann), "request_create", to="ana", title="which colour?", options=["Red", "Blue"])
    assert "expires_at" not in asked
    assert await timers(desk) == []
    assert (await desk.house.unread(ana))[0].endswith("Options: Red, Blue")
    answered = await desk.done(OPERATOR, "request_respond", request_id=asked["id"], answer="red")
    assert (answered["state"], answered["answer"], answered["answered_by"]) == ("answered", "Red", "human")
    assert await desk.house.unread(ana) == []
    assert await desk.house.unread(ann) == [f"queued [ANSWERED:{asked['id']}] which colour?\n\nRed"]


async def test_a_shutdown_has_kinds_of_its_own(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    kinds: list[str] = []
    for verdict in (True, False):
        asked = await desk.done(OPERATOR, "request_create", to="ann", type="shutdown", title=f"go {verdict}")
        await desk.done(member(ann), "request_respond", request_id=asked["id"], approve=verdict)
        kinds.append((await desk.done(OPERATOR, "channel_peek", limit=1))["entries"][0]["kind"])
    assert kinds == ["shutdown_approved", "shutdown_rejected"]


async def test_who_asked_and_has_left_is_not_told(store: Store) -> None:
    desk = await open_desk(store)
    ann, bob = await desk.house.join("ann"), await desk.house.join("bob")
    asked = await desk.done(member(ann), "request_create", to="bob", title="still there?")
    await desk.done(member(ann), "agent_unregister")
    assert (await desk.done(member(bob), "request_respond", request_id=asked["id"], answer="yes"))["answer"] == "yes"


async def test_a_repeated_attempt_asks_once(store: Store) -> None:
    desk = await open_desk(store)
    ann, bob = await desk.house.join("ann"), await desk.house.join("bob")
    first = await desk.attempt(ann)
    await first.call("request_create", to="bob", title="which?")
    await desk.lose(first)
    second = await desk.attempt(ann, fence=2)
    await second.call("request_create", to="bob", title="which?")
    assert len(await desk.house.unread(bob)) == 1


async def test_what_cannot_be_asked_or_answered_is_refused_with_a_code(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    ann, bob, carl = [await desk.house.join(name) for name in ("ann", "bob", "carl")]
    asked = await desk.done(member(ann), "request_create", to="bob", type="permission", title="may I?")
    late = await desk.done(member(ann), "request_create", to="bob", title="now?", timeout_seconds=1)
    clock.advance(2)
    id = asked["id"]
    refused: list[tuple[str, str, dict[str, Json], str]] = [
        ("ann", "request_create", {"to": "ann", "title": "me?"}, "REQUEST_REFUSED"),
        ("ann", "request_create", {"to": "system", "title": "you?"}, "REQUEST_REFUSED"),
        ("ann", "request_create", {"to": "nobody", "title": "who?"}, "AGENT_NOT_FOUND"),
        ("ann", "request_create", {"to": "bob", "title": "two\nlines"}, "INVALID_INPUT"),
        ("ann", "request_create", {"to": "bob", "title": " "}, "INVALID_INPUT"),
        ("ann", "request_create", {"to": "bob", "title": "x", "body": "a\0b"}, "INVALID_INPUT"),
        ("ann", "request_create", {"to": "bob", "title": "x", "type": "order"}, "INVALID_INPUT"),
        ("ann", "request_create", {"to": "bob", "title": "x", "timeout_seconds": 0}, "INVALID_INPUT"),
        ("ann", "request_respond", {"request_id": id, "approve": True}, "OWN_REQUEST"),
        ("carl", "request_respond", {"request_id": id, "approve": True}, "NOT_ADDRESSEE"),
        ("bob", "request_respond", {"request_id": id}, "ANSWER_REFUSED"),
        ("bob", "request_respond", {"request_id": id, "approve": "yes"}, "INVALID_INPUT"),
        ("bob", "request_respond", {"request_id": "rq_unknown", "approve": True}, "REQUEST_NOT_FOUND"),
        ("bob", "request_respond", {"request_id": late["id"], "answer": "yes"}, "REQUEST_CLOSED"),
    ]
    callers = {agent.name: member(agent) for agent in (ann, bob, carl)}
    await desk.done(OPERATOR, "channel_send", message="@system hello")
    codes = [await desk.refused(callers[who], tool, **arguments) for who, tool, arguments, _ in refused]
    assert codes == [code for *_, code in refused]
    assert await desk.refused(OPERATOR, "request_respond", request_id=id, approve=True) == "NOT_ADDRESSEE"
    assert await desk.refused(member(bob, "observer"), "request_respond", request_id=id, approve=True) == "NOT_ALLOWED"
