"""From the texts of a definition to what is run."""

from moot.core import problems, yaml
from moot.core.errors import InvalidInput
from moot.core.library import Files
from moot.engine import reading
from moot.engine.definition import Definition


class DefinitionInvalid(InvalidInput):
    """A file says something that no flow can do."""

    code = "DEFINITION_INVALID"


def compiled(files: Files) -> Definition:
    """DefinitionInvalid tells everything that is wrong."""
    name, text = files[0]
    document = yaml.read(text, name)
    definition, found = reading.read(document, name)
    if found:
        raise problems.together(problems.errors(found, document, DefinitionInvalid), name)
    return definition
