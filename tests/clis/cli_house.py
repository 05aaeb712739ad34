"""A project whose agents are the real programs, with a home and a place for temporary files of its own."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from moot.process import environment, table, tree
from tests.clis.subjects import CANARY
from tests.fake_models import FakeModels
from tests.stories.house import House

TEAM = """
name: team
context: {{document_owner: none}}
defaults: {{permissions: full}}
agents:
  ann:
    {{backend: claude, model: claude-sonnet-4-5, base_url: "{url}", env: [ANTHROPIC_API_KEY], system_prompt: You lead.}}
  ben: {{backend: codex, model: gpt-5, base_url: "{url}/v1", env: [OPENAI_API_KEY], system_prompt: You help.}}
kickoff: "@ann agree with `@ben` on a name, and write it down."
"""


@dataclass(frozen=True)
class CliHouse(House):
    more: dict[str, str]
    temporary: Path

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "TMPDIR": str(self.temporary), **self.more}

    @property
    def private(self) -> Path:
        """Where attempts have their private folders."""
        return self.root / ".workflow" / "moot.private"

    def write(self, server: FakeModels, workflow: str = TEAM) -> None:
        (self.root / "team.yaml").write_text(workflow.format(url=server.url))

    def tokens(self) -> frozenset[str]:
        """Those of the attempts that are under way, as their programs have them."""
        members = tree.Tree(os.environ[environment.MARKER]).members()
        found = (table.system.variable(pid, "MOOT_TOKEN") for pid in members)
        return frozenset(one for one in found if one)

    def left(self) -> list[Path]:
        """What is there of attempts: nothing, if none is under way."""
        private = list(self.private.iterdir()) if self.private.exists() else []
        return [*private, *self.temporary.iterdir()]

    def has_nothing_of(self, secrets: Iterable[str], *printed: str, but: str | None = None) -> None:
        """No file of the project, of its home or of its temporary ones, and nothing that was printed."""
        for secret in secrets:
            assert secret not in "".join(printed)
            holding = [str(file) for file in self._files() if secret.encode() in file.read_bytes()]
            assert not [file for file in holding if but is None or but not in file], holding

    def has_no_secret(self, *printed: str) -> None:
        self.has_nothing_of([CANARY], *printed)

    def _files(self) -> list[Path]:
        every = (*self.root.rglob("*"), *self.temporary.rglob("*"))
        return [file for file in every if file.is_file() and not file.is_symlink()]
