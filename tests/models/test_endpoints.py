import pytest

from moot.core.clock import SystemClock
from moot.models import endpoints, opening
from moot.models.endpoints import ProviderUnknown
from moot.models.model import ModelFailed
from tests import fake_models
from tests.fake_models import Status, say
from tests.models import asking

MINE = {"ANTHROPIC_API_KEY": "canary-anthropic", "OPENAI_API_KEY": "canary-openai", "GEMINI_API_KEY": "canary-gemini"}


@pytest.mark.parametrize(
    ("model", "wire", "key"),
    [
        ("anthropic/claude-sonnet-5", "anthropic", "canary-anthropic"),
        ("openai/gpt-5.6", "responses", "canary-openai"),
        ("google/gemini-3-pro", "google", "canary-gemini"),
    ],
)
def test_a_provider_gets_its_own_key(model: str, wire: str, key: str) -> None:
    found = endpoints.find(model, MINE)
    assert (found.wire, found.key, found.base_url) == (wire, key, None)
    assert key not in repr(found)


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ModelFailed, match="Set GOOGLE_API_KEY or GEMINI_API_KEY") as caught:
        endpoints.find("google/gemini-3-pro", {"OPENAI_API_KEY": "x"})
    assert caught.value.kind == "auth"


@pytest.mark.parametrize("model", ["mistral/large", "sonnet", "openai/", "/x", ""])
def test_only_known_providers_are_asked(model: str) -> None:
    with pytest.raises(ProviderUnknown):
        endpoints.find(model, MINE)


def test_the_name_may_have_slashes_of_its_own() -> None:
    found = endpoints.find("openai/meta/llama-4", MINE, base_url="https://router.example/v1")
    assert (found.name, found.wire) == ("meta/llama-4", "chat")


def test_an_address_of_the_workflows_own_is_not_shown_a_key_it_does_not_name() -> None:
    assert endpoints.find("openai/x", MINE, base_url="https://elsewhere.example").key is None
    environ = {**MINE, "ROUTER_KEY": "for-the-router"}
    named = endpoints.find("openai/x", environ, base_url="https://elsewhere.example", env=("HOME", "ROUTER_KEY"))
    assert named.key == "for-the-router"


def test_an_address_of_the_environment_goes_with_the_key_of_the_environment() -> None:
    found = endpoints.find("anthropic/x", {**MINE, "ANTHROPIC_BASE_URL": "http://proxy.example"})
    assert (found.base_url, found.key) == ("http://proxy.example", "canary-anthropic")


def test_an_address_may_hold_a_password_which_is_not_told() -> None:
    found = endpoints.find("openai/x", {}, base_url="https://me:hunter22@host.example/v1")
    assert "hunter22" not in found.place


@pytest.mark.parametrize("model", ["anthropic/x", "openai/x", "google/x"])
async def test_nothing_secret_of_the_environment_goes_to_another_address(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY")
    for name in names:
        monkeypatch.setenv(name, "canary-of-the-user")
    async with fake_models.serve([say("hi")]) as server:
        found = endpoints.find(model, MINE, base_url=server.v1 if model.startswith("openai") else server.url)
        async with opening.opened(found, SystemClock(), asking.ONCE) as opened:
            await asking.answer(opened, asking.request())
    (asked,) = server.asked
    assert "canary" not in f"{asked.headers} {asked.query} {asked.body}"


@pytest.mark.parametrize(
    ("env", "key"),
    [
        (("OTHER_TOKEN", "LAB_API_KEY"), "LAB_API_KEY"),
        (("OTHER_TOKEN", "LAB_KEY"), "LAB_KEY"),
        (("LAB_API_KEY", "OTHER_API_KEY"), "LAB_API_KEY"),
        (("KEYBOARD", "OTHER_TOKEN"), "OTHER_TOKEN"),
    ],
)
def test_which_variable_is_the_key_is_known_by_its_name(env: tuple[str, ...], key: str) -> None:
    environ = {name: f"value of {name}" for name in env}
    found = endpoints.find("openai/x", environ, base_url="https://elsewhere.example", env=env)
    assert (found.key, found.key_name) == (f"value of {key}", key)


@pytest.mark.parametrize(
    ("env", "told"),
    [
        (("NOPE_KEY",), "The environment has no NOPE_KEY, which its `env` names. Set NOPE_KEY."),
        (("BLANK_KEY",), "The environment has no BLANK_KEY"),
        (("KEYBOARD",), r"None of the variables in its `env` is a key \(KEYBOARD\)"),
    ],
)
def test_a_key_that_is_named_and_not_there_is_not_left_out_silently(env: tuple[str, ...], told: str) -> None:
    environ = {**MINE, "KEYBOARD": "qwerty", "BLANK_KEY": " "}
    with pytest.raises(ModelFailed, match=told) as caught:
        endpoints.find("openai/x", environ, base_url="https://elsewhere.example", env=env)
    assert caught.value.kind == "auth"


def test_a_provider_may_have_its_key_in_another_variable() -> None:
    found = endpoints.find("anthropic/x", {**MINE, "WORK_API_KEY": "for work"}, env=("WORK_API_KEY",))
    assert (found.key, found.key_name, found.base_url) == ("for work", "WORK_API_KEY", None)


async def test_a_wrong_key_is_named_as_the_variable_that_was_sent() -> None:
    async with fake_models.serve([Status(401, "wrong key")]) as server:
        found = endpoints.find("openai/x", {"LAB_API_KEY": asking.KEY}, base_url=server.v1, env=("LAB_API_KEY",))
        async with opening.opened(found, SystemClock(), asking.ONCE) as model:
            with pytest.raises(ModelFailed) as caught:
                await asking.progress(model, asking.request())
    assert caught.value.remedy == "Check LAB_API_KEY."
