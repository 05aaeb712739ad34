"""Documents behave like lists of texts under folded names, whatever is done to them in whatever order."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from moot.core.errors import MootError
from moot.core.ids import InstanceName, ProposalId
from moot.core.tx import Tx
from moot.documents import documents, ownership
from moot.documents.documents import Written
from moot.documents.ownership import Author
from moot.registry import instances
from tests.modelled import DATABASES, Bench, bench

_NUMBERS = count()
NAMES = st.sampled_from(["a.md", "A.md", "b/c.md", "B/C.md", "b", "notes.md"])
TEXTS = st.sampled_from(["", "x", "yy", "ü", "line\n"])
AUTHORS = st.sampled_from(["ann", "bob", "human"])
VERSIONS = st.one_of(st.none(), st.integers(0, 6))


@dataclass
class Past:
    """A document as the model sees it: its spelling, and its texts, None where it was deleted."""

    name: str
    texts: list[str | None] = field(default_factory=list[str | None])
    authors: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str | None:
        return self.texts[-1] if self.texts else None


class DocumentsModel(RuleBasedStateMachine):
    """An instance whose owner changes, and three who write."""

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        self.pasts: dict[str, Past] = {}
        self.owner: str | None = None
        self.is_electing = False

    @initialize()
    def move_in(self) -> None:
        name = f"i{next(_NUMBERS)}"
        self.instance: InstanceName = self.bench.write(lambda tx: instances.ensure(tx, name)).name

    @rule(name=NAMES, text=TEXTS, by=AUTHORS, version=VERSIONS)
    def somebody_writes(self, name: str, text: str, by: str, version: int | None) -> None:
        past = self.past(name)
        code = self.refusal(by) or self.stale(past, version) or self.misplaced(past)
        self.check(
            code,
            past,
            text,
            by,
            lambda tx: documents.write(tx, self.instance, name, text, author(by), version),
        )

    @rule(name=NAMES, text=TEXTS, by=AUTHORS, version=VERSIONS)
    def somebody_appends(self, name: str, text: str, by: str, version: int | None) -> None:
        past = self.past(name)
        code = self.refusal(by) or self.stale(past, version) or self.misplaced(past)
        self.check(
            code,
            past,
            (past.text or "") + text,
            by,
            lambda tx: documents.append(tx, self.instance, name, text, author(by), version),
        )

    @rule(name=NAMES, text=TEXTS, by=AUTHORS)
    def somebody_creates(self, name: str, text: str, by: str) -> None:
        past = self.past(name)
        exists = "DOCUMENT_EXISTS" if past.text is not None else None
        code = self.refusal(by) or exists or self.misplaced(past)
        self.check(code, past, text, by, lambda tx: documents.create(tx, self.instance, name, text, author(by)))

    @rule(name=NAMES, by=AUTHORS, version=VERSIONS)
    def somebody_deletes(self, name: str, by: str, version: int | None) -> None:
        past = self.past(name)
        missing = "DOCUMENT_NOT_FOUND" if past.text is None else None
        code = self.refusal(by) or missing or self.stale(past, version)
        self.check(code, past, None, by, lambda tx: documents.delete(tx, self.instance, name, author(by), version))

    @rule(owner=st.sampled_from([None, "ann", "bob"]))
    def an_owner_is_given(self, owner: str | None) -> None:
        self.bench.write(lambda tx: ownership.give(tx, self.instance, owner))
        self.owner, self.is_electing = owner, False

    @rule()
    def an_election_begins(self) -> None:
        self.bench.write(lambda tx: ownership.elect(tx, self.instance, ProposalId("pr_1")))
        self.is_electing = True

    @invariant()
    def every_version_is_as_it_was(self) -> None:
        if not hasattr(self, "instance"):
            return
        live = {past.name: len(past.texts) for past in self.pasts.values() if past.text is not None}
        listed = self.bench.read(lambda tx: documents.all_of(tx, self.instance))
        assert {one.file: one.version for one in listed} == live
        for past in self.pasts.values():
            if not past.texts:
                continue
            found = self.bench.read(lambda tx, past=past: documents.history(tx, self.instance, past.name, 1000))
            assert [one.version for one in found] == list(range(1, len(past.texts) + 1))
            assert [one.author for one in found] == past.authors
            for version, text in enumerate(past.texts, 1):
                if text is not None:
                    read = self.bench.read(
                        lambda tx, past=past, version=version: documents.read(tx, self.instance, past.name, version)
                    )
                    assert read.content == text

    def past(self, name: str) -> Past:
        found = self.pasts.setdefault(name.casefold(), Past(name))
        if found.text is None:
            found.name = name
        return found

    def refusal(self, by: str) -> str | None:
        if by == "human":
            return None
        if self.is_electing:
            return "ELECTION_IN_PROGRESS"
        return "NOT_DOCUMENT_OWNER" if self.owner not in (None, by) else None

    def stale(self, past: Past, version: int | None) -> str | None:
        current = len(past.texts) if past.text is not None else 0
        return "DOCUMENT_CHANGED" if version not in (None, current) else None

    def misplaced(self, past: Past) -> str | None:
        """A name is a file or a folder."""
        folded = past.name.casefold()
        live = [name for name, other in self.pasts.items() if other.text is not None]
        is_clash = any(one.startswith(f"{folded}/") or folded.startswith(f"{one}/") for one in live)
        return "PATH_REFUSED" if past.text is None and is_clash else None

    def check(self, code: str | None, past: Past, text: str | None, by: str, change: Callable[[Tx], Written]) -> None:
        """The change has this outcome, in the store and in the model."""
        if code is not None:
            with pytest.raises(MootError) as refused:
                self.bench.write(change)
            assert refused.value.code == code
            return
        written = self.bench.write(change)
        is_new = past.text != text
        if is_new:
            past.texts.append(text)
            past.authors.append(by)
        assert (written.version, written.is_new) == (len(past.texts), is_new)


def author(name: str) -> Author:
    return Author(name, is_free=name == "human")


@pytest.mark.parametrize("database", DATABASES)
def test_documents_behave_like_their_model(database: str, request: pytest.FixtureRequest) -> None:
    with bench(database, request) as used:

        class OnThisStore(DocumentsModel):
            def __init__(self) -> None:
                super().__init__(used)

        run_state_machine_as_test(OnThisStore, settings=used.settings)
