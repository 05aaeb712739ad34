"""A model is somebody's, or it is refused: never silently another."""

import pytest

from moot.workflow import catalog, models
from moot.workflow.catalog import ModelsShape
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
        ("gpt-4o", None, "openai/gpt-4o"),
        ("gemini-2.5-pro", "api", "google/gemini-2.5-pro"),
        ("openrouter/qwen/qwen3", None, "openrouter/qwen/qwen3"),
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
        ("palm/x", "api", "there is no provider `palm`", "Known are: anthropic, deepseek, google, groq,"),
        ("antropic/x", "api", "there is no provider `antropic`", "Known are: anthropic, deepseek, google, groq,"),
        ("openai/", None, "`openai/` names no model", "Write openai/ and its name."),
        ("sonet", None, "`sonet` has no provider", "Did you mean `sonnet`? Else write provider/name (anthropic,"),
        ("llama", None, "`llama` has no provider", "Write provider/name (anthropic,"),
        ("openai/gpt-4o", "claude", "`openai/gpt-4o` is no model of claude", "another backend."),
        ("sonnet", "codex", "`anthropic/sonnet` is no model of codex", "Choose one of openai"),
    ],
)
def test_an_unknown_one_is_refused(written: str, backend: Backend | None, fact: str, remedy: str) -> None:
    with pytest.raises(ModelUnknown) as caught:
        models.resolve(written, backend)
    assert caught.value.fact == fact
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ("anthropic/sonnet", "anthropic/claude-sonnet-5-5"),
        ("anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5-20250929"),
        ("anthropic/claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5-20250929"),
        ("openai/gpt-4o", "openai/gpt-4o"),
        ("openrouter/qwen/qwen3", "openai/qwen/qwen3"),
    ],
)
def test_an_api_is_told_the_id_it_knows(model: str, found: str) -> None:
    assert models.endpoint(model, catalog.shipped()).model == found


def test_a_provider_that_speaks_the_language_of_another_has_its_own_address_and_key() -> None:
    found = models.endpoint("openrouter/qwen/qwen3", catalog.shipped())
    assert (found.base_url, found.keys) == ("https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",))


def test_what_a_configuration_says_counts_more_and_the_nearer_one_most() -> None:
    nearer = ModelsShape.model_validate({"aliases": {"sonnet": "lab/s-1", "fast": "lab/f"}})
    lab = {"api": "openai", "base_url": "http://127.0.0.1:9/v1", "keys": ["LAB_KEY"]}
    farther = ModelsShape.model_validate(
        {"aliases": {"sonnet": "lab/s-0"}, "providers": {"lab": lab}, "versions": {"lab/f": "f-2026"}}
    )
    known = catalog.of_configs((nearer, farther))
    assert models.resolve("sonnet", None, known) == "lab/s-1"  # no program knows what the user means by it
    assert models.resolve("opus", None, known) == "anthropic/opus"
    assert models.endpoint(models.resolve("fast", "api", known), known).model == "openai/f-2026"


def test_everything_that_is_shipped_fits_together() -> None:
    known = catalog.shipped()
    for whole in (*known.aliases.values(), *known.versions):
        assert whole.partition("/")[0] in known.providers
    for alias in known.aliases:
        assert models.endpoint(models.resolve(alias, None, known), known).model.count("/") == 1
