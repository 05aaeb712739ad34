"""The root of all errors that users may meet: a stable code, the fact, and the remedy."""

from typing import ClassVar, cast


class MootError(Exception):
    """A fact that stopped the work, in words for the person or agent who asked for it."""

    code: ClassVar[str] = "ERROR"
    exit_code: ClassVar[int] = 1

    def __init__(self, fact: str, remedy: str = "") -> None:
        super().__init__(fact)
        self.fact = fact
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.fact} {self.remedy}" if self.remedy else self.fact


class InvalidInput(MootError):
    """Something from outside has the wrong shape; nothing was changed."""

    code = "INVALID_INPUT"
    exit_code = 2


class NotAllowed(MootError):
    """The caller's role does not include this."""

    code = "NOT_ALLOWED"


def leaves(error: BaseException) -> list[BaseException]:
    """The errors that came together in this one, or itself."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    parts = cast(BaseExceptionGroup[BaseException], error).exceptions
    return [leaf for part in parts for leaf in leaves(part)]
