from tests.fake_models import Reply, Text
from tests.models import asking


async def test_a_slow_drip_is_no_silence() -> None:
    """All of it takes longer than silence may; no two pieces are that far apart."""
    drip = Reply((Text("a text that comes in very small pieces"),), piece=2, pause=0.15)
    async with asking.model("anthropic", [drip], idle=2.5) as (_, model):
        got = await asking.answer(model, asking.request())
    assert got.text == "a text that comes in very small pieces"
