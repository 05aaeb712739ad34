"""Who holds which tool is known without importing the tools, and means the same."""

from typing import get_args

import pytest

from moot.core.tool import EVERYONE, WRITERS
from moot.tools import groups
from moot.tools.groups import Acting, Looking
from moot.tools.table import TOOLS


@pytest.mark.parametrize("name", [*get_args(Looking), *get_args(Acting)])
def test_what_commands_stand_for_is_as_the_tools_say(name: Looking | Acting) -> None:
    assert groups.GROUPS[name] == TOOLS[name].group
    assert TOOLS[name].roles == (EVERYONE if name in get_args(Looking) else WRITERS)
