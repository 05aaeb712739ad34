"""How keys are spelled in files, and the base of every form in which one is read."""

import re
from typing import Annotated

from pydantic import AliasChoices, AliasGenerator, BaseModel, ConfigDict, Field

_SYNONYMS = {"enum": "options"}


def camel(name: str) -> str:
    """`documentOwner` for `document_owner`."""
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


def meant(key: str) -> str:
    """The same for all spellings of a key."""
    return camel(_SYNONYMS.get(key, key))


def spellings(name: str) -> str | AliasChoices:
    return name if camel(name) == name else AliasChoices(name, camel(name))


Reference = Annotated[str, Field(min_length=1, max_length=200)]  # to an agent
_MOST_NAMES = 100  # in one list
References = Annotated[list[Reference], Field(max_length=_MOST_NAMES)]
SomeReferences = Annotated[list[Reference], Field(min_length=1, max_length=_MOST_NAMES)]


class Shape(BaseModel):
    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        alias_generator=AliasGenerator(validation_alias=spellings),
        defer_build=True,  # of most there is nothing in a file, and each is built with those around it
    )
