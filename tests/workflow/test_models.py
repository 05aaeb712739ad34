"""A model is somebody's, or it is refused: never silently another."""

import pytest

from moot.workflow import models
from moot.workflow.models import ModelUnknown
from moot.workflow.workflow import Backend


@pytest.mark.parametrize(
    ("written", "backend", "found"),
    [
        ("anthropic/claude-sonnet-4-5", None, "anthropic/claude-sonnet-4-5"),
        ("openai/gpt-4o", "codex", "openai/gpt-4o"),
        ("google/gemini-2.5-pro", "api", "google/gemini-2.5-pro"),
        ("sonnet", None, "anthropic/sonnet"),
        ("opus", "claude", "anthropic/opus"),
        ("haiku", "api", "anthropic/haiku"),
        ("claude-opus-4", None, "anthropic/claude-opus-4"),
        ("gpt-5-codex", "codex", "openai/gpt-5-codex"),
        ("gpt-5", "cursor", "gpt-5"),
        ("ollama/x", "opencode", "ollama/x"),
    ],
)
def test_a_model_is_known_by_its_provider(written: str, backend: Backend | None, found: str) -> None:
    assert models.resolve(written, backend) == found


@pytest.mark.parametrize(
    ("written", "backend", "fact", "remedy"),
    [
        ("antropic/x", None, "there is no provider `antropic`", "Did you mean `anthropic`?"),
        ("mistral/x", "api", "there is no provider `mistral`", "Known are: anthropic, google, openai."),
        ("openai/", None, "`openai/` names no model", "Write openai/ and its name."),
        ("gpt-4o", None, "`gpt-4o` has no provider", "Write openai/gpt-4o."),
        ("gemini-2.5", "api", "`gemini-2.5` has no provider", "Write google/gemini-2.5."),
        ("sonet", None, "`sonet` has no provider", "sonnet, opus, haiku."),
        ("openai/gpt-4o", "claude", "`openai/gpt-4o` is no model of claude", "another backend."),
        ("sonnet", "codex", "`anthropic/sonnet` is no model of codex", "Choose one of openai"),
    ],
)
def test_an_unknown_one_is_refused(written: str, backend: Backend | None, fact: str, remedy: str) -> None:
    with pytest.raises(ModelUnknown) as caught:
        models.resolve(written, backend)
    assert caught.value.fact == fact
    assert remedy in caught.value.remedy
