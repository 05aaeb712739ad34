"""What the real programs do when model, server or login are not as they should be, and what we make of it."""

from dataclasses import replace

import pytest

from moot.backends.backend import Failure, Warned
from moot.backends.programs.driver import Limits, ProgramBackend
from tests import fake_models
from tests.backends.programs.stage import FULL, Stage, play
from tests.clis.subjects import CANARY, CLAUDE, CODEX, GEMINI, OPENCODE, Subject
from tests.fake_models import Answer, Dropped, Hang, Malformed, Status, nobody, say

pytestmark = pytest.mark.clis
STATUSES: dict[int, Failure] = {
    400: "refused",
    401: "auth",
    403: "auth",
    404: "refused",
    429: "rate_limit",
    500: "unavailable",
    529: "unavailable",
}
BOTH = pytest.mark.parametrize("subject", [CLAUDE, CODEX], ids=lambda subject: subject.name)
FOUR = pytest.mark.parametrize("subject", [CLAUDE, CODEX, GEMINI, OPENCODE], ids=lambda subject: subject.name)


@pytest.mark.parametrize(
    ("subject", "status", "failure"),
    [
        *((subject, status, failure) for subject in (CLAUDE, CODEX) for status, failure in STATUSES.items()),
        *((subject, status, STATUSES[status]) for subject in (GEMINI, OPENCODE) for status in (400, 401)),
    ],
    ids=lambda value: value.name if isinstance(value, Subject) else None,
)
async def test_a_refusal_of_the_provider_is_told_as_what_it_is(
    place: Stage, parent: dict[str, str], subject: Subject, status: int, failure: Failure
) -> None:
    # Of some, Codex repeats only the words.
    words = "The model `gpt-5` does not exist or you do not have access to it." if status == 404 else ""
    async with fake_models.serve(lambda _: Status(status, f"canary {CANARY} canary {words}")) as server:
        given = await place.assignment(manner=subject.manner(server))
        told, ended = await play(subject.backend(parent), given)
    assert ended.failure == failure, ended.error
    assert ended.error.startswith(f"{subject.name}: ")
    assert CANARY not in repr((told, ended))
    assert given.access.token not in repr((told, ended))


@BOTH
async def test_a_provider_that_cannot_be_reached_is_unavailable(
    place: Stage, parent: dict[str, str], subject: Subject
) -> None:
    given = await place.assignment(manner=subject.manner(nobody()))
    _, ended = await play(subject.backend(parent), given)
    assert ended.failure == "unavailable", ended.error


@pytest.mark.parametrize(
    ("subject", "fault", "failure"),
    [
        (CLAUDE, Dropped(), "unavailable"),
        (CLAUDE, Dropped(say("half of it"), after=3), "unavailable"),
        (CLAUDE, Malformed(), "error"),  # it says only that it could not read it
        (CODEX, Dropped(), "unavailable"),
        (CODEX, Dropped(say("half of it"), after=3), "unavailable"),
        (CODEX, Malformed(), "unavailable"),
    ],
    ids=lambda value: value.name if isinstance(value, Subject) else None,
)
async def test_a_broken_answer_is_a_failure(
    place: Stage, parent: dict[str, str], subject: Subject, fault: Answer, failure: Failure
) -> None:
    async with fake_models.serve(lambda _: fault) as server:
        given = await place.assignment(manner=subject.manner(server))
        _, ended = await play(subject.backend(parent, Limits(idle=20.0)), given)
    assert ended.failure == failure, ended.error
    assert ended.text == ""


@FOUR
async def test_a_model_that_hangs_is_given_up(place: Stage, parent: dict[str, str], subject: Subject) -> None:
    async with fake_models.serve(lambda asked: Hang() if asked.tools else say("title")) as server:
        given = await place.assignment(manner=subject.manner(server))
        _, ended = await play(subject.backend(parent, Limits(idle=8.0, grace=1.0)), given)
        assert ended.failure == "timeout"
        assert "no sign of life for 8 seconds" in ended.error
        await server.until_quiet()


@FOUR
async def test_without_our_tools_it_has_not_succeeded(place: Stage, parent: dict[str, str], subject: Subject) -> None:
    async with fake_models.serve(lambda _: say("All done.")) as server:
        given = await place.assignment(manner=subject.manner(server), url=f"{nobody()}/mcp")
        _, ended = await play(subject.backend(parent), given)
        assert ended.failure == "no_tools", ended.error
        if subject in (CLAUDE, CODEX):
            assert len(server.asked) <= 1  # it was ended as soon as that was known


@FOUR
async def test_with_a_token_that_is_not_good_it_has_not_succeeded(
    place: Stage, parent: dict[str, str], subject: Subject
) -> None:
    async with fake_models.serve(lambda _: say("All done.")) as server:
        given = await place.assignment(manner=subject.manner(server))
        stale = replace(given, access=replace(given.access, token="mt_of_another_time"))
        _, ended = await play(subject.backend(parent), stale)
    assert ended.failure == "no_tools", ended.error


@pytest.mark.parametrize(
    ("subject", "variable", "said", "remedy"),
    [
        (
            CLAUDE,
            "ANTHROPIC_BASE_URL",
            "Not logged in",
            "Run `claude /login` once in a terminal, or set ANTHROPIC_API_KEY.",
        ),
        (GEMINI, "GOOGLE_GEMINI_BASE_URL", "auth method", "Run `gemini` once in a terminal, or set GEMINI_API_KEY."),
    ],
    ids=["claude", "gemini"],
)
async def test_without_a_login_it_fails_for_good_and_says_at_once_what_helps(
    place: Stage, parent: dict[str, str], subject: Subject, variable: str, said: str, remedy: str
) -> None:
    async with fake_models.serve(lambda _: say("never")) as server:
        given = await place.assignment(manner=replace(FULL, model=subject.model))
        _, ended = await play(ProgramBackend(subject.kind(), parent={**parent, variable: server.url}), given)
        assert not server.asked
    assert (ended.failure, ended.is_final) == ("auth", True), ended.error
    first = ended.error.splitlines()[0]
    assert said in first
    assert first.endswith(remedy)


@FOUR
async def test_an_address_of_ones_own_gets_no_key_of_the_provider(
    place: Stage, parent: dict[str, str], subject: Subject
) -> None:
    async with fake_models.serve(lambda _: say("hello")) as server:
        given = await place.assignment(manner=replace(subject.manner(server), env=()))
        _, ended = await play(subject.backend(parent), given)
        assert server.asked
        assert CANARY not in repr([(asked.headers, asked.query) for asked in server.asked])
    assert ended.failure is None, ended.error


@BOTH
async def test_it_tries_again_and_says_so(place: Stage, parent: dict[str, str], subject: Subject) -> None:
    async with fake_models.serve([Status(500), say("At last.")]) as server:
        given = await place.assignment(manner=subject.manner(server))
        patient = replace(subject, settings={})
        told, ended = await play(patient.backend(parent), given)
    assert (ended.failure, ended.text) == (None, "At last."), ended.error
    if subject is CLAUDE:  # codex does it in silence
        assert Warned("claude tries the model again (status 500).") in told
