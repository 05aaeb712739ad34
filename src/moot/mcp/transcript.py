"""The channel as a page for the resource that shows it: what views write to disk, kept to a size a model can take."""

from collections.abc import Iterable
from dataclasses import replace

from moot.bus.messages import Message
from moot.views import channel

LONGEST_BODY = 20_000
LONGEST_PAGE = 400_000


def page(messages: Iterable[Message]) -> str:
    """The messages in order. What would make the page too long is left out at its beginning."""
    kept: list[Message] = []
    size = 0
    for message in reversed(list(messages)):
        shown = _shortened(message)
        size += len(shown.body)
        if size > LONGEST_PAGE:
            return "(Earlier messages are left out here: channel_read has them.)\n\n" + _written(kept)
        kept.append(shown)
    return _written(kept)


def _written(newest_first: list[Message]) -> str:
    return channel.markdown(reversed(newest_first))


def _shortened(message: Message) -> Message:
    more = len(message.body) - LONGEST_BODY
    return (
        replace(message, body=f"{message.body[:LONGEST_BODY]}\n(… {more:,} more characters)") if more > 0 else message
    )
