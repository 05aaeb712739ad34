"""`moot run` is killed after every step of a workflow. Whoever resumes it comes to the same state, byte by byte, and no
command is executed twice."""

import json
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pytest

from tests.stories.house import House

STEPPING = Path(__file__).parent / "stepping"
CHECKS = """
workflow:
  name: checks
  inputs: {word: {type: string, required: true}}
  default_state: {raw: {said: []}}
  state_schema: {computed: {count: {from: raw.said, transform: input.length}}}
  steps:
    - id: twice
      type: foreach
      items: [1, 2]
      steps:
        - {id: say, type: shell_command, command: "echo check-{{ inputs.word }}-{{ item }} >> ran; echo {{ item }}",
           state_update: {path: raw.said, operation: append}}
"""
WORKFLOW = """
name: kills
imports: [checks.yaml]
context: {document_owner: none}
agents:
  judge:
    script:
      - {on: "judge ([a-z]+)", say: '{"word": "$1"}'}
default_state: {raw: {log: [], n: 0, sum: 0, judged: {}}}
state_schema:
  computed:
    double: {from: raw.n, transform: input * 2}
    words: {from: raw.judged, transform: Object.keys(input).sort()}
steps:
  - {id: names, type: shell_command, command: "echo names >> ran; printf 'a\\nb.c\\n'", output_format: lines,
     state_update: {path: raw.names}}
  - id: each
    type: foreach
    items: "{{ names }}"
    steps:
      - {id: note, type: shell_command, command: "echo note-{{ item }} >> ran; echo {{ item }}",
         state_update: {path: raw.log, operation: append}}
  - id: grow
    type: while
    condition: "{{ double < 4 }}"
    body:
      - {id: add, type: state_update, path: raw.n, operation: increment}
      - {id: ran, type: shell_command, command: "echo grow-{{ n }} >> ran"}
  - {id: first, type: include_workflow, workflow: checks, inputs: {word: one}}
  - {id: second, type: include_workflow, workflow: checks, inputs: {word: two}, state_update: {path: raw.second}}
  - {id: all, type: parallel_foreach, items: [1, 2, 3], max_parallel: 1, sub_agent_task: add}
  - {id: ask, type: parallel_foreach, items: [{id: red}, {id: blue}], sub_agent_task: judge}
  - {id: told, type: user_message, message: "{{ words }} and {{ sum }}"}
sub_agent_tasks:
  add:
    steps:
      - {id: it, type: shell_command, command: "echo task-{{ item }} >> ran; echo {{ item }}", output_format: json,
         state_update: {path: raw.sum, operation: increment}}
  judge:
    steps:
      - {id: it, type: agent_prompt, agent: judge, prompt: "judge {{ id }}", schema: {type: object},
         state_update: {path: "raw.judged.{{ id }}", value: "{{ result.word }}"}}
result: "{{ words }} {{ first.count + second.count }}"
"""
RAN = [
    "names",
    "note-a",
    "note-b.c",
    "grow-1",
    "grow-2",
    *(f"check-{word}-{number}" for word in ("one", "two") for number in (1, 2)),
    *(f"task-{number}" for number in (1, 2, 3)),
]
COMMITS = 47


@dataclass(frozen=True)
class Place(House):
    """A house in which a run may be killed."""

    more: Mapping[str, str]
    url: str = ""

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join((str(STEPPING), *(one for one in (os.environ.get("PYTHONPATH"),) if one)))
        own = {"PYTHONPATH": path, "STORY_LOG": str(self.root / "log"), **self.more}
        return {**super().environment, **own, **({"MOOT_STORE": self.url} if self.url else {})}

    def commits(self) -> int:
        return len((self.root / "log").read_text().splitlines())

    def ran(self) -> list[str]:
        """What the commands themselves have noted."""
        return (self.root / "ran").read_text().split()

    def state(self) -> dict[str, str]:
        """Every field of the flow as it is stored."""
        if self.url:
            with psycopg.connect(self._server(), autocommit=True) as connection:
                return dict(connection.execute("select key, value from flow_fields").fetchall())
        (file,) = self.root.rglob("moot.db")
        with closing(sqlite3.connect(file)) as connection:
            return dict(connection.execute("select key, value from flow_fields").fetchall())

    def _server(self) -> str:
        server, _, schema = self.url.partition("&schema=")
        return f"{server}&options=-csearch_path%3D{schema}"


def _laid_out(root: Path) -> None:
    (root / "kills.yaml").write_text(WORKFLOW)
    (root / "checks.yaml").write_text(CHECKS)


@pytest.fixture
def place(house: House) -> Place:
    _laid_out(house.root)
    return Place(house.root, {})


STATE = {
    "raw.names": '["a","b.c"]',
    "raw.log": '["a","b.c"]',
    "raw.n": "2",
    "raw.sum": "6",
    "raw.judged": '{"red":"red","blue":"blue"}',
    "raw.second": '{"said":["1","2"],"count":2}',
    "computed.double": "4",
    "computed.words": '["blue","red"]',
    "in.first/raw.said": '["1","2"]',
    "in.second/computed.count": "2",
}


def _compare(place: Place) -> dict[str, str]:
    """The state, in which the order in which agents have answered is nobody's."""
    found = place.state()
    assert found["raw.judged"] in (STATE["raw.judged"], '{"blue":"blue","red":"red"}')
    return {**found, "raw.judged": STATE["raw.judged"]}


async def test_an_uninterrupted_run_executes_every_command_once(place: Place) -> None:
    said = await place.moot("run", "kills.yaml")
    assert '["blue","red"] 4' in said
    assert place.ran() == RAN
    assert STATE.items() <= _compare(place).items()
    assert place.commits() == COMMITS


@pytest.fixture(scope="module")
async def whole(anyio_backend: object, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The state of an uninterrupted run."""
    root = tmp_path_factory.mktemp("whole")
    (root / ".moot").mkdir()
    (root / "home").mkdir()
    _laid_out(root)
    place = Place(root, {})
    await place.moot("run", "kills.yaml")
    return _compare(place)


async def _is_over(place: Place) -> bool:
    (run,) = json.loads(await place.moot("status", "--json"))
    return bool(run["status"] == "done")


async def _go_through(place: Place, whole: Mapping[str, str], kill: str) -> None:
    await replace(place, more={"STORY_KILL": kill}).moot("run", "kills.yaml", code=-9)
    if kill != f"after:{COMMITS}" or not await _is_over(place):  # the run may be over with its last commit
        await place.moot("resume")
    assert place.ran() == RAN, f"killed {kill}"
    assert _compare(place) == whole, f"killed {kill}"


# The short version: a command that was about to begin, one that has ended, a loop, an included workflow, tasks, agents.
@pytest.mark.parametrize("number", [2, 3, 12, 20, 31, 40])
async def test_a_run_killed_after_a_step_goes_on_where_it_was(place: Place, whole: dict[str, str], number: int) -> None:
    await _go_through(place, whole, f"after:{number}")


@pytest.mark.chaos
@pytest.mark.timeout(600)
@pytest.mark.parametrize("number", range(1, COMMITS + 1))
async def test_a_run_killed_after_any_step_goes_on_where_it_was(
    place: Place, whole: dict[str, str], number: int
) -> None:
    await _go_through(place, whole, f"after:{number}")


async def test_a_run_killed_again_and_again_comes_to_the_same_end(place: Place, whole: dict[str, str]) -> None:
    killed = replace(place, more={"STORY_KILL": "after:9"})
    await killed.moot("run", "kills.yaml", code=-9)
    for _ in range(4):
        await killed.moot("resume", code=-9)
    await place.moot("resume")
    assert place.ran() == RAN
    assert _compare(place) == whole


@pytest.mark.parametrize("number", [2, 12, 31])
async def test_on_postgresql_a_killed_run_goes_on_where_it_was(
    place: Place, whole: dict[str, str], number: int, pg_made_url: str
) -> None:
    await _go_through(replace(place, url=pg_made_url), whole, f"after:{number}")


@pytest.mark.parametrize(("answer", "ran"), [("retry", 2), ("skip", 1)])
async def test_a_command_that_has_ended_without_a_word_of_it_is_a_question(place: Place, answer: str, ran: int) -> None:
    await replace(place, more={"STORY_KILL": "command:2"}).moot("run", "kills.yaml", code=-9)
    assert place.ran() == ["names", "note-a"]
    await place.moot("resume", code=4)
    assert place.ran() == ["names", "note-a"]
    (asked,) = await place.json("inbox")
    assert "Was `echo note-a >> ran; echo a` done?" in asked["message"]
    await place.moot("approve", "--text", answer)
    await place.moot("resume")
    assert place.ran().count("note-a") == ran
    assert place.state()["raw.log"] == (STATE["raw.log"] if answer == "retry" else '["b.c"]')
