"""What was said in a session so far, as its model is told it."""

from moot.models import reserving
from moot.models.model import Answer, Message, Results, Said


class Transcript:
    """Grows at its end only, so that a provider can keep the beginning."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._letters = 0

    @property
    def letters(self) -> int:
        """Of all that was said, by and large."""
        return self._letters

    @property
    def tokens(self) -> int:
        """By and large."""
        return self._letters // reserving.LETTERS

    def messages(self) -> tuple[Message, ...]:
        return tuple(self._messages)

    def add(self, message: Answer | Results) -> None:
        self._messages.append(message)
        self._letters += reserving.letters_in(message)

    def hear(self, text: str) -> None:
        """Words go with the results of calls if there are any: between a call and its result nothing may stand."""
        if not text:
            return
        last = self._messages[-1] if self._messages else None
        match last:
            case Results():
                self._messages[-1] = Results(last.results, f"{last.text}\n\n{text}".strip())
            case Said():
                self._messages[-1] = Said(f"{last.text}\n\n{text}")
            case _:
                self._messages.append(Said(text))
        self._letters += reserving.letters_of(text)
