"""What the configuration says about hosts is taken over, or refused."""

from datetime import timedelta

import pytest

from moot.app import settings
from moot.app.project import ConfigInvalid
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.runner.retry import Retry
from moot.workflow.workflow import Notify


def test_without_a_word_the_defaults_hold() -> None:
    assert settings.retry({}) == Retry(3, timedelta(seconds=1), 2.0)
    assert settings.time_limit({}) == timedelta(hours=1)


def test_what_is_said_is_taken_over() -> None:
    assert settings.retry({"retry": {"attempts": 5, "backoff": "200ms"}}) == Retry(5, timedelta(seconds=0.2), 2.0)
    assert settings.time_limit({"attempt_timeout": "10m"}) == timedelta(minutes=10)


WRONG: list[dict[str, Json]] = [
    {"retry": 3},
    {"retry": {"tries": 3}},
    {"retry": {"attempts": 0}},
    {"retry": {"attempts": True}},
    {"retry": {"attempts": "3"}},
    {"retry": {"multiplier": 0.5}},
    {"retry": {"backoff": "soon"}},
]


@pytest.mark.parametrize("config", WRONG)
def test_a_retry_that_cannot_be_meant_is_refused(config: dict[str, Json]) -> None:
    with pytest.raises(InvalidInput):
        settings.retry(config)


def test_a_time_limit_without_a_unit_is_refused() -> None:
    with pytest.raises(InvalidInput):
        settings.time_limit({"attempt_timeout": 3})


def test_the_command_that_tells_people_is_a_text_or_has_a_time_limit() -> None:
    assert settings.notify({}) is None
    assert settings.notify({"notify": "say hello"}) == Notify("say hello")
    assert settings.notify({"notify": {"shell": "say hello", "timeout": "5s"}}) == Notify(
        "say hello", timedelta(seconds=5)
    )


@pytest.mark.parametrize("wrong", ["", " ", 3, [], {}, {"shell": 1}, {"command": "x"}, {"shell": "x", "every": 1}])
def test_a_wrong_command_to_tell_people_is_refused(wrong: Json) -> None:
    with pytest.raises(ConfigInvalid):
        settings.notify({"notify": wrong})
