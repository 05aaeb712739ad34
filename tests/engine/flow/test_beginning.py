"""What a flow is given is looked at before it begins."""

import pytest

from moot.core.json import Json
from moot.engine.definition import Definition, InputField
from moot.engine.flow import beginning
from moot.engine.flow.beginning import InputInvalid

FLOW = Definition("fix", inputs=(InputField("level", options=("low", "high")), InputField("files", "array")))


def test_what_is_an_option_is_taken() -> None:
    assert beginning.inputs(FLOW, {"level": "low", "files": [1]}) == {"level": "low", "files": [1]}
    assert beginning.inputs(FLOW, {}) == {"level": None, "files": None}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"level": "mid"}, "The input `level` must be one of low, high. Choose one of them."),
        ({"level": 3}, "The input `level` must be a text. Give a text."),
        ({"files": {}}, "The input `files` must be a list. Give a list."),
        ({"levl": "low"}, "fix has no input `levl`. Did you mean `level`?"),
    ],
)
def test_what_is_wrong_is_refused(given: dict[str, Json], told: str) -> None:
    with pytest.raises(InputInvalid) as caught:
        beginning.inputs(FLOW, given)
    assert str(caught.value) == told
