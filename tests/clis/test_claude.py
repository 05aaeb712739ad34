"""What only Claude Code can: mail while it works, permission asked of somebody, a conversation that goes on."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from moot.backends.backend import Called, Letter, Manner, Usage, Warned
from moot.backends.programs import conversations
from moot.backends.programs.driver import ProgramBackend
from moot.core.permissions import PRESETS
from tests import fake_models
from tests.backends.letters import letter
from tests.backends.programs.stage import FULL, Stage, play, words
from tests.clis.subjects import CLAUDE
from tests.fake_models import Answer, Asked, call, say

pytestmark = pytest.mark.clis


class Post:
    """Mail that comes when the test says so."""

    def __init__(self, count: int = 1) -> None:
        self._count = count
        self.coming: asyncio.Queue[Letter] = asyncio.Queue()
        self.is_written = asyncio.Event()  # what has come
        self._handed_out = 0

    async def more(self) -> tuple[Letter, ...]:
        if self._handed_out == self._count:
            self.is_written.set()
        one = await self.coming.get()
        self._handed_out += 1
        return (one,)


async def test_mail_that_comes_meanwhile_reaches_it_with_its_next_tool_result(
    place: Stage, parent: dict[str, str]
) -> None:
    post = Post()

    def scenario(asked: Asked) -> Answer:
        if "Stop at once" in asked.text or "Stop at once" in asked.system:
            return say("I have stopped.")
        post.coming.put_nowait(letter("Stop at once ✋", "ben"))
        # As long as a tool of its own takes, so that there is time for the mail to arrive.
        return call("Bash", command=f"until test -e {place.root}/go; do sleep 0.05; done", description="wait")

    async with fake_models.serve(scenario) as server:
        given = await place.assignment(manner=CLAUDE.manner(server), more=post.more)
        playing = asyncio.ensure_future(play(CLAUDE.backend(parent), given))
        await server.until_asked(1)
        async with asyncio.timeout(20):
            await post.is_written.wait()
        (place.root / "go").touch()
        told, ended = await playing
        assert len(server.asked) == 2  # in the same turn
    assert (ended.failure, ended.text) == (None, "I have stopped."), ended.error
    assert ended.usage.turns == 2
    assert Called("Bash") in told


@pytest.mark.parametrize("count", [1, 3])
async def test_mail_that_comes_while_it_answers_gets_a_turn_of_its_own(
    place: Stage, parent: dict[str, str], count: int
) -> None:
    post = Post(count)

    async def scenario(asked: Asked) -> Answer:
        if "One more" in asked.text:
            return say("Both are done.")
        for _ in range(count):
            post.coming.put_nowait(letter("One more thing"))
        await post.is_written.wait()
        return say("The first is done.")

    async with fake_models.serve(scenario) as server:
        given = await place.assignment(manner=CLAUDE.manner(server), more=post.more)
        _, ended = await play(CLAUDE.backend(parent), given)
    assert (ended.failure, ended.text) == (None, "Both are done."), ended.error
    turns = ended.usage.turns
    assert 2 <= turns <= 1 + count  # those that wait are taken together, or not
    assert (ended.usage.input_tokens, ended.usage.output_tokens) == (100 * turns, 20 * turns)


async def test_what_is_denied_is_denied_and_told(place: Stage, parent: dict[str, str]) -> None:
    target = place.root / "workspace" / "x.txt"

    def scenario(asked: Asked) -> Answer:
        if not asked.results:
            return call("Write", file_path=str(target), content="x")
        return say("I could not.")

    async with fake_models.serve(scenario) as server:
        manner = CLAUDE.manner(server, Manner(permissions=PRESETS["read-only"]))
        told, ended = await play(CLAUDE.backend(parent), await place.assignment(manner=manner))
        offered = server.asked[0].tools
    assert not target.exists()
    assert (ended.failure, ended.text) == (None, "I could not.")
    assert Called("Write", is_error=True) in told
    assert not {"Bash", "Edit", "Write", "WebFetch"} & set(offered)
    assert "Read" in offered


async def test_what_is_permitted_is_done(place: Stage, parent: dict[str, str]) -> None:
    target = place.root / "workspace" / "x.txt"

    def scenario(asked: Asked) -> Answer:
        if not asked.results:
            return call("Write", file_path=str(target), content="ünï")
        return say("Written.")

    async with fake_models.serve(scenario) as server:
        manner = CLAUDE.manner(server, Manner(permissions=PRESETS["edit"]))
        _, ended = await play(CLAUDE.backend(parent), await place.assignment(manner=manner))
    assert (ended.failure, ended.text) == (None, "Written."), ended.error
    assert target.read_text() == "ünï"


@pytest.mark.parametrize("is_approved", [True, False], ids=["approved", "denied"])
async def test_it_asks_and_waits_for_the_answer(place: Stage, parent: dict[str, str], is_approved: bool) -> None:
    target = place.root / "workspace" / "x.txt"

    def scenario(asked: Asked) -> Answer:
        if not asked.results:
            return call("Bash", command=f"touch {target}", description="make it")
        return say("So be it.")

    async with fake_models.serve(scenario) as server:
        manner = CLAUDE.manner(server, Manner(permissions=PRESETS["edit"]))
        given = await place.assignment(manner=manner)
        playing = asyncio.ensure_future(play(CLAUDE.backend(parent), given))
        async with asyncio.timeout(30):
            await place.respond(is_approved)
        told, ended = await playing
    assert (ended.failure, ended.text) == (None, "So be it."), ended.error
    assert target.exists() == is_approved
    assert Called("Bash", is_error=not is_approved) in told
    assert (Warned("claude was not permitted to use Bash.") in told) != is_approved


async def test_its_users_own_login_is_used(place: Stage, parent: dict[str, str], home: Path) -> None:
    login = _log_in(home)
    before = login.read_bytes()
    async with fake_models.serve(lambda _: say("hello")) as server:
        given = await place.assignment(manner=replace(FULL, model=CLAUDE.model))
        own = {**parent, **CLAUDE.settings, "ANTHROPIC_BASE_URL": server.url}
        _, ended = await play(ProgramBackend(CLAUDE.kind(), parent=own), given)
        assert server.asked[0].headers.get("authorization") == "Bearer sk-ant-oat01-canary-of-the-login"
    assert ended.failure is None, ended.error
    assert login.read_bytes() == before


async def test_an_isolated_one_sees_nothing_of_the_user(place: Stage, parent: dict[str, str], home: Path) -> None:
    _log_in(home)
    settings = home / ".claude" / "settings.json"
    settings.write_text('{"env": {"CANARY_OF_SETTINGS": "1"}}')
    before = _files(home)
    async with fake_models.serve(lambda _: say("hello")) as server:
        manner = replace(CLAUDE.manner(server), is_isolated=True, keeps_conversation=True)
        told, ended = await play(CLAUDE.backend(parent), await place.assignment(manner=manner))
        headers = server.asked[0].headers
    assert ended.failure is None, ended.error
    assert "canary-of-the-login" not in repr(headers)
    assert ended.conversation is None
    assert words(told, Warned) == [Warned(*conversations.warning(manner))]
    assert _files(home) == before


async def test_an_isolated_one_needs_a_key(place: Stage, parent: dict[str, str]) -> None:
    given = await place.assignment(manner=replace(FULL, is_isolated=True))
    _, ended = await play(ProgramBackend(CLAUDE.kind(), parent=parent), given)
    assert (ended.failure, ended.usage) == ("auth", Usage())
    assert "Set ANTHROPIC_API_KEY" in ended.error


def _log_in(home: Path) -> Path:
    """A stand-in for what `claude /login` leaves."""
    login = home / ".claude" / ".credentials.json"
    login.parent.mkdir()
    oauth = {
        "accessToken": "sk-ant-oat01-canary-of-the-login",
        "refreshToken": "sk-ant-ort01-canary",
        "expiresAt": 4_000_000_000_000,
        "scopes": ["user:inference", "user:profile"],
        "subscriptionType": "max",
    }
    login.write_text(json.dumps({"claudeAiOauth": oauth}))
    return login


def _files(home: Path) -> Mapping[str, bytes]:
    return {str(file): file.read_bytes() for file in home.rglob("*") if file.is_file()}
