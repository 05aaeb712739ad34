"""A conversation of the real programs from one attempt to the next: it goes on, is counted once, or is begun anew."""

from dataclasses import replace
from pathlib import Path

import pytest

from moot.backends.backend import Warned
from tests import fake_models
from tests.backends.programs.stage import Stage, play
from tests.clis.subjects import CLAUDE, CODEX, Subject
from tests.fake_models import say

pytestmark = pytest.mark.clis
BOTH = pytest.mark.parametrize("subject", [CLAUDE, CODEX], ids=lambda subject: subject.name)


@BOTH
async def test_a_conversation_goes_on_and_is_counted_once(
    place: Stage, parent: dict[str, str], subject: Subject
) -> None:
    async with fake_models.serve(lambda asked: say(f"turn {len(asked.turns)}")) as server:
        manner = replace(subject.manner(server), keeps_conversation=True)
        _, first = await play(subject.backend(parent), await place.assignment(manner=manner, prompt="Remember 42."))
        assert first.conversation is not None, first.error
        given = await place.assignment(manner=manner, prompt="And now?", conversation=first.conversation)
        _, second = await play(subject.backend(parent), given)
    assert "Remember 42." in server.asked[1].text
    assert second.failure is None, second.error
    assert second.conversation is not None
    assert second.conversation.handle == first.conversation.handle
    assert second.conversation.used.input_tokens == 200
    for ended in (first, second):
        assert (ended.usage.input_tokens, ended.usage.output_tokens, ended.usage.turns) == (100, 20, 1)
    assert first.usage.cost > 0
    assert second.usage.cost == pytest.approx(first.usage.cost)
    assert second.conversation.used.cost == pytest.approx(2 * first.usage.cost)


@BOTH
async def test_a_forgotten_conversation_is_begun_anew_and_told(
    place: Stage, parent: dict[str, str], subject: Subject
) -> None:
    async with fake_models.serve(lambda _: say("hello")) as server:
        manner = replace(subject.manner(server), keeps_conversation=True)
        _, first = await play(subject.backend(parent), await place.assignment(manner=manner))
        assert first.conversation is not None
        gone = replace(first.conversation, handle="01a1e21f-4bfa-7732-997b-000000000000")
        told, ended = await play(subject.backend(parent), await place.assignment(manner=manner, conversation=gone))
    assert (ended.failure, ended.text) == (None, "hello"), ended.error
    assert Warned(f"{subject.name} has forgotten its earlier conversation, and begins a new one.") in told
    assert ended.conversation is not None
    assert ended.conversation.used == ended.usage


@BOTH
async def test_nothing_is_kept_unless_it_is_to_be(
    place: Stage, parent: dict[str, str], home: Path, subject: Subject
) -> None:
    records = home / f".{subject.name}"
    async with fake_models.serve(lambda _: say("hello")) as server:
        manner = subject.manner(server)
        _, ended = await play(subject.backend(parent), await place.assignment(manner=manner))
        assert ended.conversation is None
        assert not list(records.rglob("*.jsonl"))
        _, kept = await play(
            subject.backend(parent), await place.assignment(manner=replace(manner, keeps_conversation=True))
        )
    assert kept.failure is None, kept.error
    assert list(records.rglob("*.jsonl"))
