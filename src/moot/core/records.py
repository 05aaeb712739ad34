"""Records: frozen for whoever writes code, quick for whoever runs it.

They are like `@dataclass(frozen=True, slots=True)`, but the type checker alone refuses to change a field: a frozen
dataclass sets each of them by a call, which takes longer than many a statement of the database. And nothing is compiled
before the first record of a class is made: a command knows hundreds of classes and makes records of few, and to compile
six functions for each of them was a third of its start.
"""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")
_COPIERS: dict[type, Callable[[Any, dict[str, Any]], Any]] = {}


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


def replace(one: T, /, **changes: Any) -> T:
    """A record like this one but for the changes; as that of the standard library, in a tenth of the time."""
    made = one.__class__
    return (_COPIERS.get(made) or _compiled_copier(made))(one, changes)


def _compiled_copier(made: type) -> Callable[[Any, dict[str, Any]], Any]:
    copied = [f"new.{one.name} = one.{one.name}" for one in fields(made)]
    changed = "for name in changes: setattr(new, name, changes[name])"
    checked = ["new.__post_init__()"] if hasattr(made, "__post_init__") else []
    scope: dict[str, Any] = {"make": object.__new__, "made": made}
    body = ("new = make(made)", *copied, changed, *checked, "return new")
    exec("def copy(one, changes):\n " + "\n ".join(body), scope)
    _COPIERS[made] = scope["copy"]
    return scope["copy"]


def _reader(names: list[str]) -> Callable[[object], object]:
    """Reads the values by which records of one class are compared."""
    return attrgetter(*names) if names else type


def _compiled_init(kept: Any) -> Callable[..., None]:
    """As one would write it. That of a dataclass takes four times as long to make."""
    scope: dict[str, Any] = {"MISSING": MISSING}
    given, body = ["self"], ["pass"]
    for one in sorted((one for one in fields(kept) if one.init), key=lambda one: bool(one.kw_only)):
        name, default = one.name, f"default_of_{one.name}"
        value = name
        if one.kw_only and "*" not in given:
            given.append("*")
        if one.default is not MISSING:
            scope[default] = one.default
            given.append(f"{name}={default}")
        elif one.default_factory is not MISSING:
            scope[default] = one.default_factory
            given.append(f"{name}=MISSING")
            value = f"{default}() if {name} is MISSING else {name}"
        else:
            given.append(name)
        body.append(f"self.{name} = {value}")
    if hasattr(kept, "__post_init__"):
        body.append("self.__post_init__()")
    exec(f"def __init__({', '.join(given)}):\n " + "\n ".join(body), scope)
    init = scope["__init__"]
    init.__qualname__ = f"{kept.__qualname__}.__init__"
    return init


def _shown(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{self.__class__.__qualname__}({shown})"
