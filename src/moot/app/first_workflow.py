"""The first workflow of a project: a review of what was changed, by whatever can run agents here."""

from collections.abc import Mapping
from typing import Literal

from moot.core.records import record

Runner = Literal["claude", "codex", "gemini", "opencode", "cursor", "anthropic", "openai", "google", "scripted"]
Leave = Literal["read-only", "ask", "edit"]
LEAVES: tuple[Leave, ...] = ("read-only", "ask", "edit")
PATH = ".moot/workflows/review.yaml"
MODELS: Mapping[Runner, str] = {"anthropic": "sonnet", "openai": "openai/gpt-5", "google": "google/gemini-2.5-pro"}


@record
class Chosen:
    """What runs its agents, and what they may do without asking."""

    runner: Runner = "scripted"
    leave: Leave = "read-only"


_RUNNERS: tuple[Runner, ...] = ("claude", "codex", "gemini", "opencode", "cursor", *MODELS, "scripted")
ALL = tuple(Chosen(runner, leave) for runner in _RUNNERS for leave in LEAVES)

_CHANGE = """\
setup:
  - as: change                       # what is not committed yet, or else the last commit
    shell: |
      found=$({ git diff --quiet HEAD && git show HEAD || git diff HEAD; } 2>/dev/null | head -c 100000)
      echo "${found:-There is nothing to review here yet: no git repository, or no commit.}"
"""
_REVIEW = """\
# Try it: moot run review
name: review
defaults: {%s, permissions: %s}
context: {document_owner: reviewer}  # who keeps the notes
agents:
  reviewer: {system_prompt: You review changes. Name what is wrong and where; be brief. Keep the findings in the notes.}
  author: {system_prompt: You answer reviews of your change. Say what you would mend and what not.}
"""
_KICKOFF = """\
kickoff: |
  @reviewer review this change, then settle with `@author` what is to be mended:

  ${{ change }}
"""
_SCRIPTED = """\
# Try it: moot run review
# These two only play their lines. Once there is an agent here (moot doctor), write backend: claude, or model: sonnet,
# with a system_prompt, instead of backend: scripted and script.
name: review
context: {document_owner: reviewer}  # who keeps the notes
agents:
  reviewer:
    backend: scripted
    script:
      - on: review this change
        calls: [{document_write: {content: "# Review\\n- The change has no test.\\n"}}]
        say: "@author the change has no test; it is in the notes."
  author:
    backend: scripted
    script: [{on: no test, say: I would add one.}]
"""


def text(chosen: Chosen) -> str:
    if chosen.runner == "scripted":
        return f"{_SCRIPTED}{_CHANGE}{_KICKOFF}"
    model = MODELS.get(chosen.runner)
    said = f"model: {model}" if model else f"backend: {chosen.runner}"
    return f"{_REVIEW % (said, chosen.leave)}{_CHANGE}{_KICKOFF}"
