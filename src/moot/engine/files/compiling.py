"""From the texts of a definition to what is run."""

from functools import lru_cache

from moot.core import library, problems, yaml
from moot.core.errors import InvalidInput
from moot.core.library import Files
from moot.engine.definition import Definition
from moot.engine.files import linking, reading


class DefinitionInvalid(InvalidInput):
    """A file says something that no flow can do."""

    code = "DEFINITION_INVALID"


@lru_cache(maxsize=32)
def compiled(files: Files) -> Definition:
    """DefinitionInvalid tells everything that is wrong, in whichever text. What was read is kept: a flow comes back
    again and again."""
    readings = {
        name: reading.read_file(library.unwrapped(yaml.read(text, name)), name) for name, text in dict(files).items()
    }
    linked = linking.link(readings)
    if linked.found:
        notes = [one.notes for one in readings.values()]
        told = [error for one in notes for error in problems.errors(one.found, one.document, DefinitionInvalid)]
        raise problems.together(told, files[0][0])
    return linked.definition
