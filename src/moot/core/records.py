"""Records that are made by the thousand: frozen for whoever writes code, quick for whoever runs it.

A frozen dataclass sets each field by a call, which takes longer than many a statement of the database. Here the type
checker alone refuses to change a field; everything else is as with `@dataclass(frozen=True, slots=True)`.
"""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(made: type[T]) -> type[T]:
    return dataclass(slots=True, unsafe_hash=True)(made)
