"""Whose service runs an agent: for those who only ask that, because the models themselves cost more to import."""

from collections.abc import Mapping

from moot.workflow.workflow import Backend

BY_BACKEND: Mapping[str, str] = {"claude": "anthropic", "codex": "openai", "gemini": "google"}
# Those with their own names for models: they are handed what is written.
FREE: frozenset[Backend] = frozenset(("cursor", "opencode", "command", "scripted", "human", "external"))


def provider(model: str | None, backend: str) -> str:
    """The model's, or the backend's own; of a backend that has none, itself."""
    written, slash, _ = (model or "").partition("/")
    return written if slash and backend not in FREE else BY_BACKEND.get(backend, backend)
