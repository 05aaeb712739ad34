"""What another server offers and answers, without the library by which that is told."""

from collections.abc import Mapping

from moot.core.json import Json
from moot.core.records import record


@record
class Offer:
    """A tool, in the words of its server."""

    name: str
    words: str
    schema: Mapping[str, Json]
    is_read_only: bool = False  # as its server says


@record
class Answer:
    text: str
    is_error: bool = False
