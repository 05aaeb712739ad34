"""What is left of whole runs of the real programs, however they end: no file, no process, and no secret anywhere."""

import asyncio
import os
import re
import signal

import pytest

from moot.process import environment, tree
from tests import fake_models
from tests.clis.cli_house import CliHouse
from tests.clis.subjects import CANARY
from tests.fake_models import Answer, Asked, FakeModels, Hang, Status, call, say
from tests.stories.house import SECONDS

pytestmark = pytest.mark.clis
FAMILY = """
name: family
context: {{document_owner: none}}
defaults: {{permissions: full, retry: {{attempts: 1}}}}
agents:
  ann: {{backend: claude, model: claude-sonnet-4-5, base_url: "{url}", env: [ANTHROPIC_API_KEY]}}
  ben: {{backend: codex, model: gpt-5, base_url: "{url}/v1", env: [OPENAI_API_KEY]}}
  cem: {{backend: gemini, model: gemini-2.5-pro, base_url: "{url}", env: [GEMINI_API_KEY]}}
  dan: {{backend: opencode, model: anthropic/claude-sonnet-4-5, base_url: "{url}/v1", env: [ANTHROPIC_API_KEY]}}
kickoff: "@ann @ben @cem @dan hello."
"""


async def test_a_killed_moot_leaves_what_the_next_one_clears_away(house: CliHouse) -> None:
    async with fake_models.serve(lambda _: Hang()) as server:
        tokens = await _hanging(house, server, signal.SIGKILL)
        async with house.serving():
            async with asyncio.timeout(SECONDS):
                await server.until_quiet()
    assert house.left() == []
    house.has_nothing_of(tokens)
    house.has_no_secret()


async def test_an_interrupted_run_leaves_nothing(house: CliHouse) -> None:
    async with fake_models.serve(lambda _: Hang()) as server:
        tokens = await _hanging(house, server, signal.SIGINT)
        assert not tree.Tree(os.environ[environment.MARKER]).members()
        await server.until_quiet()
    assert house.left() == []
    house.has_nothing_of(tokens)
    house.has_no_secret()


async def _hanging(house: CliHouse, server: FakeModels, ended_by: signal.Signals) -> frozenset[str]:
    """A run in the middle of which moot is ended; the tokens that its programs had."""
    house.write(server)
    process = await house.start("run", "team.yaml")
    await server.until_asked(1)
    tokens = house.tokens()
    assert tokens
    assert all(token.startswith("moot_") for token in tokens)
    process.send_signal(ended_by)
    async with asyncio.timeout(SECONDS):
        assert await process.wait() == (130 if ended_by == signal.SIGINT else -ended_by)
    return tokens


@pytest.mark.parametrize(
    ("last", "code"),
    [(say(f"My key is {CANARY}."), 0), (Status(400, f"I do not like {CANARY}."), 1)],
    ids=["success", "failure"],
)
async def test_secrets_and_prompts_of_a_run_are_in_no_row_view_or_log(house: CliHouse, last: Answer, code: int) -> None:
    """Each agent is told a word with its prompt that nobody else can know, and its key is repeated to it."""
    words: set[str] = set()
    tokens: set[str] = set()
    programs: set[str] = set()

    def scenario(asked: Asked) -> Answer:
        if not asked.tools:
            return say("a title")
        words.update(re.findall(r"BEGIN ([0-9a-f]{16})", asked.text))
        tokens.update(house.tokens())
        programs.add(asked.headers["user-agent"].partition("/")[0])
        look = asked.tool("channel_peek")
        return last if asked.has_called(look) else call(look)

    async with fake_models.serve(scenario) as server:
        house.write(server, FAMILY)
        process = await house.start("run", "team.yaml", "--verbose", stderr=-1)
        async with asyncio.timeout(SECONDS):
            printed, told = await process.communicate()
    assert process.returncode == code, told.decode()
    assert (len(words), len(tokens), len(programs)) == (4, 4, 4), programs
    shown = [await house.moot(*asked) for asked in (("log", "--json"), ("status",), ("list",))]
    raw = [await house.moot("log", "--raw", name) for name in ("ann", "ben", "cem", "dan")]
    assert "[hidden]" in "".join(raw if code == 0 else shown)
    everything = (printed.decode(), told.decode(), *shown, *raw)
    house.has_nothing_of([CANARY, *words], *everything, but="/share/opencode/")  # which keeps what was said and logged
    house.has_nothing_of(tokens, *everything)
    assert house.left() == []
