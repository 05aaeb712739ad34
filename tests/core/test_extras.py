"""What is missing is installed where moot runs."""

import sys

import pytest

from moot.core import extras


def test_an_extra_is_installed_for_the_interpreter_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/my tools/bin/python")
    told = "'/my tools/bin/python' -m pip install 'moot[llm]', in a checkout -e '.[llm]'"
    assert extras.install("llm") == told
