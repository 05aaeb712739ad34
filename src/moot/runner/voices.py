"""What several sessions tell at once, as one attempt tells it: whole lines, with the name of whoever it is about."""

from collections.abc import Iterator

from moot.backends.backend import Called, Counted, Progress, Usage, Warned, Wrote
from moot.session import events
from moot.session.streaming import Told


class Voices:
    """The agent itself is heard as it speaks; of others, a line when it is complete."""

    def __init__(self, root: str, *, is_counted: bool) -> None:
        self._root = root
        self._is_counted = is_counted
        self._begun: dict[str, str] = {}

    def tell(self, told: Told) -> Iterator[Progress]:
        agent = told.agent
        match told.event:
            case events.Wrote(text):
                yield from [Wrote(text)] if agent == self._root else self._lines(agent, text)
            case events.Called(tool, is_error, why):
                yield from self._rest(agent)
                yield Called(tool if agent == self._root else f"{agent}/{tool}", is_error, why)
            case events.Warned(text):
                yield Warned(text if agent == self._root else f"{agent}: {text}")
            case events.Used(used):
                yield from self._rest(agent)
                make = Counted if self._is_counted else Usage
                yield make(used.input_tokens, used.output_tokens, 1, used.cost, used.is_estimated)

    def _lines(self, agent: str, text: str) -> Iterator[Progress]:
        *lines, self._begun[agent] = (self._begun.get(agent, "") + text).split("\n")
        for line in lines:
            yield Wrote(f"{agent}: {line}\n")

    def _rest(self, agent: str) -> Iterator[Progress]:
        if line := self._begun.pop(agent, ""):
            yield Wrote(f"{agent}: {line}\n")
