"""What several sessions tell at once, as one attempt tells it: whole lines, with the name of whoever it is about."""

from moot.backends.backend import Called, Counted, Progress, Usage, Warned, Wrote
from moot.session import events
from moot.session.streaming import Told


class Voices:
    """The agent itself is heard as it speaks; of others, a line when it is complete."""

    def __init__(self, root: str, *, is_counted: bool) -> None:
        self._root = root
        self._is_counted = is_counted
        self._begun: dict[str, str] = {}

    def tell(self, told: Told) -> list[Progress]:
        agent = told.agent
        match told.event:
            case events.Wrote(text):
                return [Wrote(text)] if agent == self._root else self._lines(agent, text)
            case events.Called(tool, is_error, why):
                return [*self._rest(agent), Called(tool if agent == self._root else f"{agent}/{tool}", is_error, why)]
            case events.Warned(text):
                return [Warned(text if agent == self._root else f"{agent}: {text}")]
            case events.Used(used):
                make = Counted if self._is_counted else Usage
                counted = make(used.input_tokens, used.output_tokens, 1, used.cost, used.is_estimated)
                return [*self._rest(agent), counted]

    def _lines(self, agent: str, text: str) -> list[Progress]:
        *lines, self._begun[agent] = (self._begun.get(agent, "") + text).split("\n")
        return [Wrote(f"{agent}: {line}\n") for line in lines]

    def _rest(self, agent: str) -> list[Progress]:
        line = self._begun.pop(agent, "")
        return [Wrote(f"{agent}: {line}\n")] if line else []
