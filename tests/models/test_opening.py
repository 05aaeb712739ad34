import re
import subprocess
import sys

import pytest

from moot.core.clock import SystemClock
from moot.models import opening
from moot.models.endpoints import Endpoint
from moot.models.opening import MissingExtra

ENDPOINT = Endpoint("anthropic", "claude-sonnet-5", "anthropic", key="none-at-all")


@pytest.mark.parametrize(
    ("ours", "missing"),
    [("moot.models.api", "pydantic_ai"), ("moot.models.clients.anthropic", "pydantic_ai.models.anthropic")],
)
async def test_a_missing_extra_says_how_to_install_it(ours: str, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, ours, raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    opened = opening.opened(ENDPOINT, SystemClock())
    with pytest.raises(MissingExtra, match=rf"Run: {re.escape(sys.executable)} -m pip install 'moot\[llm\]'"):
        await opened.__aenter__()


async def test_a_mistake_of_ours_is_no_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "moot.models.api", None)
    with pytest.raises(ModuleNotFoundError):
        await opening.opened(ENDPOINT, SystemClock()).__aenter__()


def test_the_libraries_are_loaded_when_a_model_is_opened_and_not_before() -> None:
    look = (
        "import sys; from moot.models import endpoints, opening, scripted, retrying;"
        "print(sorted({'pydantic_ai', 'anthropic', 'openai', 'google.genai', 'httpx2'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
