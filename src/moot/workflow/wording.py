"""What moot itself finds wrong with a value reaches people in its own words, and not in pydantic's."""

from collections.abc import Callable
from typing import TypeVar

from moot.core.errors import MootError

T = TypeVar("T")
V = TypeVar("V")


def in_our_words(read: Callable[[V], T]) -> Callable[[V], T]:
    """The same reading, for a validator of a shape."""

    def checked(value: V) -> T:
        try:
            return read(value)
        except MootError as error:
            raise ValueError(error.fact) from error

    return checked
