"""What a request may cost at most, by and large, before it is made."""

from collections.abc import Iterable
from functools import cache

from moot.core import prices
from moot.core.records import record
from moot.models.endpoints import Endpoint
from moot.models.model import Answer, Message, Request, Said

LETTERS = 4  # of a token, by and large
_LONG = 32_000  # tokens of an answer, thoughts included, where nothing else limits it
_SHORTER = {  # models that refuse to be given as much
    "gpt-4o": 16_384,
    "gpt-4-": 4_096,
    "gpt-3.5": 4_096,
    "claude-3-5": 8_192,
    "claude-3-": 4_096,
    "gemini-1": 8_192,
    "gemini-2.0": 8_192,
}


def tokens(request: Request) -> int:
    """Of all that the model is told."""
    told = request.letters
    if told is None:
        told = letters_of(request.system) + sum(one.letters for one in request.tools) + letters(request.messages)
    return told // LETTERS + 1


@cache
def longest(model: str) -> int:
    """Tokens of an answer that is given no other limit. Whoever sets money aside for it holds it to that."""
    name = model.rpartition("/")[2]
    return next((tokens for start, tokens in _SHORTER.items() if name.startswith(start)), _LONG)


@record
class Price:
    """In dollars, what a request costs by itself, and each token of its answer."""

    request: float = 0.0
    token: float = 0.0

    def most(self, tokens: int) -> float:
        """With an answer that has no more of them."""
        return self.request + tokens * self.token


FREE = Price()


def price(endpoint: Endpoint, request: Request) -> Price:
    if is_free(endpoint):
        return FREE
    rates = endpoint.rates or prices.rates(endpoint.provider, endpoint.name)
    return Price(rates.cost(tokens(request), 0), rates.cost(0, 1))


def is_free(endpoint: Endpoint) -> bool:
    """A server of one's own, of which nobody has said what it costs."""
    return endpoint.rates is None and endpoint.base_url is not None and endpoint.key is None


def letters_of(text: str) -> int:
    """A sign of a script with thousands of them takes up to a token by itself: it counts as the bytes it has."""
    return len(text) if text.isascii() else len(text.encode(errors="replace"))


def beginning(text: str, most: int) -> str:
    """As much of it as counts for so many letters."""
    return text[:most] if text.isascii() else text.encode(errors="replace")[:most].decode(errors="ignore")


def letters(messages: Iterable[Message]) -> int:
    return sum(map(letters_in, messages))


def letters_in(message: Message) -> int:
    match message:
        case Said(text):
            return letters_of(text)
        case Answer():
            return letters_of(message.text) + sum(letters_of(one.arguments) for one in message.calls)
        case _:
            return letters_of(message.text) + sum(letters_of(one.text) for one in message.results)
