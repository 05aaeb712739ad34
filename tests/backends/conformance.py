"""What every backend must do, as tests to inherit: a `Player` makes its agent behave, the checks are the same for all.

class TestMine(Conformance):
    @pytest.fixture
    def player(self, tmp_path: Path) -> Player: ...
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

import pytest

from moot.backends.backend import Access, Assignment, Backend, Briefing, Ended, Letter, Manner, Progress
from moot.core.caller import Caller
from moot.core.errors import MootError
from moot.core.ids import JobId
from moot.core.json import Json
from moot.mcp import server
from moot.mcp.server import Endpoints, Options
from moot.process import sweep, tree
from moot.store.store import Store
from moot.tools.toolbox import AttemptToolbox
from tests.backends.letters import letter
from tests.mcp.people import DEFAULT, Meeting

SECONDS = 60.0
HUGE = "".join(f"line {number} äöü\n" for number in range(20_000))  # 300 kB: more than any argument may have
STRANGE = "ünïcode — 日本語 🦊 \u202ertl\u202c 'quotes' \"double\" $HOME `ls` \\n %s {} <b>"


@dataclass(frozen=True)
class Scene:
    """What the agent shall do, in this order."""

    call: tuple[str, dict[str, Json]] | None = None  # one of moot's tools
    say: str = ""  # its answer
    then: Literal["end", "fail", "crash", "hang"] = "end"


class Player(Protocol):
    """One backend, and how its agent is made to behave."""

    backend: Backend

    def play(self, scene: Scene, given: Assignment) -> Assignment:
        """The same assignment, for an agent that will behave like this."""
        ...

    def heard(self) -> str:
        """All that the agent was told in its last attempt."""
        ...

    async def has_begun(self) -> None:
        """Waits until the agent of a scene that hangs does so."""
        ...


@dataclass
class Floor:
    """A store, a server, and an attempt to be given to a backend."""

    meeting: Meeting
    given: Assignment
    played: list[Progress] = field(default_factory=list[Progress])

    async def play(self, player: Player, scene: Scene, prompt: str = "Do it.") -> Ended:
        """The attempt to its end, as the runner sees it: whatever is raised is a crash."""
        assignment = player.play(scene, replace(self.given, brief=_briefing(prompt)))
        try:
            async with asyncio.timeout(SECONDS):
                self.played = [one async for one in player.backend.run(assignment)]
        except MootError as error:
            return Ended("error", str(error))
        except Exception as error:  # noqa: BLE001  # as in the runner
            return Ended("crash", f"{type(error).__name__}: {error}")
        assert [one for one in self.played if isinstance(one, Ended)] == self.played[-1:]
        ended = self.played[-1]
        assert isinstance(ended, Ended)
        return ended

    def left(self) -> frozenset[int]:
        """Processes that the attempt has left behind."""
        return frozenset(tree.Tree(self.given.folder.name).members())


class Conformance:
    """The checks. Inherit, and say who plays."""

    @pytest.fixture
    async def floor(self, anyio_backend: object, sqlite_store: Store, tmp_path: Path) -> AsyncIterator[Floor]:
        meeting = Meeting(sqlite_store)
        person = await meeting.attempt("ann")
        assert person.attempt is not None
        met: set[object] = set()
        caller = Caller("ann", "member", DEFAULT, person.agent, person.token_id, person.attempt, 1)
        folder = tmp_path / "private" / person.attempt
        folder.mkdir(parents=True)
        (tmp_path / "work").mkdir()
        options = Options(met=lambda caller: met.add(caller.token))
        async with server.serving(sqlite_store, Endpoints(tmp_path / "moot.sock"), options) as address:
            assert address.url is not None
            given = Assignment(
                agent="ann",
                instance=DEFAULT,
                attempt=person.attempt,
                settings={},
                manner=Manner(),
                inbox=(letter("Do it."),),
                number=1,
                toolbox=AttemptToolbox(sqlite_store, caller, JobId("jb_1")),
                brief=_briefing("Do it."),
                more=_no_more,
                access=Access(address.url, person.token, lambda: person.token_id in met),
                workspace=tmp_path / "work",
                folder=folder,
            )
            yield Floor(meeting, given)
        sweep.kill_marked(folder.name)

    async def test_what_it_says_is_its_answer(self, floor: Floor, player: Player) -> None:
        ended = await floor.play(player, Scene(say="All is well."))
        assert (ended.failure, ended.text.strip(), ended.error) == (None, "All is well.", "")
        assert not floor.left()

    async def test_it_uses_the_tools_as_itself(self, floor: Floor, player: Player) -> None:
        ended = await floor.play(player, Scene(("channel_send", {"message": STRANGE}), say="sent"))
        assert ended.failure is None, ended.error
        assert await floor.meeting.said() == [("ann", STRANGE)]

    async def test_strange_characters_come_and_go_unharmed(self, floor: Floor, player: Player) -> None:
        ended = await floor.play(player, Scene(say=STRANGE), prompt=STRANGE)
        assert ended.text.strip() == STRANGE
        assert STRANGE in player.heard()

    async def test_a_huge_prompt_arrives_whole(self, floor: Floor, player: Player) -> None:
        assert len(HUGE.encode()) > 300_000
        ended = await floor.play(player, Scene(say="read"), prompt=HUGE)
        assert ended.failure is None, ended.error
        assert HUGE.strip() in player.heard()

    async def test_an_agent_that_says_nothing_has_succeeded(self, floor: Floor, player: Player) -> None:
        ended = await floor.play(player, Scene())
        assert (ended.failure, ended.text.strip()) == (None, "")

    async def test_a_failure_is_told_in_words(self, floor: Floor, player: Player) -> None:
        ended = await floor.play(player, Scene(say="on the way", then="fail"))
        assert ended.failure is not None
        assert ended.error.strip()
        assert "Traceback" not in ended.error
        assert floor.given.access.token not in repr(floor.played)

    async def test_a_crash_is_told_as_one(self, floor: Floor, player: Player) -> None:
        ended = await floor.play(player, Scene(then="crash"))
        assert (ended.failure, bool(ended.error.strip())) == ("crash", True)
        assert not floor.left()

    async def test_cancelling_ends_everything(self, floor: Floor, player: Player) -> None:
        playing = asyncio.ensure_future(floor.play(player, Scene(then="hang")))
        async with asyncio.timeout(SECONDS):
            await player.has_begun()
        playing.cancel()
        done, _ = await asyncio.wait([playing], timeout=SECONDS)
        assert done
        assert playing.cancelled()
        assert not floor.left()

    async def test_running_out_of_time_ends_everything(self, floor: Floor, player: Player) -> None:
        """The limit of an attempt is the runner's, and works like this."""
        playing = asyncio.ensure_future(_limited(floor, player))
        async with asyncio.timeout(SECONDS):
            with pytest.raises(TimeoutError):
                await playing
        assert not floor.left()

    async def test_a_second_attempt_is_as_good_as_the_first(self, floor: Floor, player: Player) -> None:
        assert (await floor.play(player, Scene(then="fail"))).failure is not None
        ended = await floor.play(player, Scene(say="better"))
        assert (ended.failure, ended.text.strip()) == (None, "better")


async def _limited(floor: Floor, player: Player) -> None:
    async with asyncio.timeout(None) as limit:
        playing = asyncio.ensure_future(player.has_begun())
        playing.add_done_callback(lambda _: limit.reschedule(asyncio.get_running_loop().time()))
        assignment = player.play(Scene(then="hang"), floor.given)
        async for _ in player.backend.run(assignment):
            pass


def _briefing(prompt: str) -> "_Briefed":
    return _Briefed(prompt)


@dataclass(frozen=True)
class _Briefed:
    prompt: str

    async def __call__(self) -> Briefing:
        return Briefing(self.prompt, "You are ann.")


async def _no_more() -> tuple[Letter, ...]:
    await asyncio.Event().wait()
    return ()
