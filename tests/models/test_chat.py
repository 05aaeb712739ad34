"""Where a stream of Chat Completions ends: compatible servers tell it in one of two ways; who was cut off, in none."""

from moot.models.model import Again
from tests.fake_models import Cut, say
from tests.models import asking


async def test_who_was_cut_off_is_asked_again() -> None:
    async with asking.model("chat", [Cut(say("half"), after=2), say("all of it")], asking.QUICK) as (_, model):
        *before, last = await asking.progress(model, asking.request())
    assert [one.kind for one in before if isinstance(one, Again)] == ["unavailable"]
    assert getattr(last, "text", "") == "all of it"


async def test_servers_that_are_compatible_need_not_say_why_they_end_if_they_mark_it() -> None:
    async with asking.model("chat", [Cut(say("all of it"), after=2, is_marked=True)]) as (_, model):
        got = await asking.answer(model, asking.request())
    assert (got.text, got.stop) == ("all of it", "other")


async def test_a_reason_is_an_end_without_the_mark() -> None:
    async with asking.model("chat", [Cut(say("all of it"), after=3)]) as (_, model):
        got = await asking.answer(model, asking.request())
    assert (got.text, got.stop) == ("all of it", "end")
