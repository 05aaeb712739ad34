"""Records: frozen for whoever writes code, quick for whoever runs it.

They are like `@dataclass(frozen=True, slots=True)`, but the type checker alone refuses to change a field: a frozen
dataclass sets each of them by a call, which takes longer than many a statement of the database. And nothing is compiled
before the first record of a class is made: a command knows hundreds of classes and makes records of few, and to compile
six functions for each of them was a third of its start.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, make_dataclass
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(made: type[T]) -> type[T]:
    made.__doc__ = made.__doc__ or made.__name__  # or dataclass would make one, which takes long
    kept: Any = dataclass(init=False, repr=False, eq=False, slots=True)(made)
    values = _reader([one.name for one in fields(kept) if one.compare])

    def init(self: Any, *given: Any, **named: Any) -> None:
        kept.__init__ = _compiled_init(kept)
        kept.__init__(self, *given, **named)

    def is_equal(self: Any, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(values(self))

    kept.__init__, kept.__eq__, kept.__hash__, kept.__repr__ = init, is_equal, hashed, _shown
    return kept


def _reader(names: list[str]) -> Callable[[object], object]:
    """Reads the values by which records of one class are compared."""
    return attrgetter(*names) if names else type


def _compiled_init(kept: Any) -> Callable[..., None]:
    """By the standard library, for a class that has the same fields."""
    after = {"__post_init__": kept.__post_init__} if hasattr(kept, "__post_init__") else {}
    same = [(one.name, one.type, one) for one in fields(kept)]
    return make_dataclass(kept.__name__, same, namespace=after, repr=False, eq=False).__init__


def _shown(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{self.__class__.__qualname__}({shown})"
