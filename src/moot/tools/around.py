"""What calls of tools find around them besides the store: definitions by name, functions in Python, those who have
flows in hand, and somebody who looks on."""

from dataclasses import field

from moot.core.ears import Ears
from moot.core.library import Library, NoLibrary
from moot.core.records import record
from moot.tools.spellings import Spelling
from moot.tools.table import Functions
from moot.tools.witness import Witness


@record
class Around:
    library: Library = field(default_factory=NoLibrary)
    witness: Witness | None = None  # of every call
    spelling: Spelling = "underscored"  # of names of tools, for clients that do not say what they want
    functions: Functions = field(default_factory=Functions)
    ears: Ears = field(default_factory=Ears)
