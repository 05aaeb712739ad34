"""Evidence: what a message names beyond its words. It is written below them, so that whoever reads the message reads
it, and nobody is woken by what stands in a command."""

from collections.abc import Sequence
from typing import Literal, get_args

from moot.core.errors import InvalidInput
from moot.core.records import record

What = Literal["file", "test", "command"]
_KNOWN: tuple[What, ...] = get_args(What)


@record
class Artifact:
    """Something to look at: a file, a test, a command that was run."""

    what: What
    name: str

    @property
    def spelling(self) -> str:
        return f"{self.what} {self.name}"


@record
class Evidence:
    artifacts: tuple[Artifact, ...] = ()
    workaround: str = ""


NONE = Evidence()


def told(body: str, evidence: Evidence) -> str:
    """The body with what it names below it."""
    lines = [f"Artifacts: {_listed(evidence.artifacts)}"] if evidence.artifacts else []
    lines += [f"Workaround: {evidence.workaround}"] if evidence.workaround else []
    return "\n".join((body.rstrip(), "", *lines)) if lines else body


def parse(text: str) -> Artifact:
    """`file:src/a.py`, `test:tests/test_a.py`, `command:make test` as people write them."""
    named, colon, name = text.partition(":")
    what: What | None = next((one for one in _KNOWN if one == named.strip()), None)
    if what is None or not colon or not name.strip():
        raise InvalidInput(f"{text[:80]!r} names no artifact.", "Write file:PATH, test:NAME or command:LINE.")
    return Artifact(what, " ".join(name.split()))


def _listed(artifacts: Sequence[Artifact]) -> str:
    return "; ".join(one.spelling for one in artifacts)
