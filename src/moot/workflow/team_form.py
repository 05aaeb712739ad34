"""The form of `team:` in a workflow file."""

from typing import Annotated

from pydantic import Field

from moot.workflow.keys import Reference, Shape, SomeReferences


class LedTeamShape(Shape):
    """A lead, reviewers and workers; who is not named has the name that stands here."""

    lead: Reference | None = Field(default=None, description="Who plans and answers; lead if not given")
    reviewers: SomeReferences | None = Field(default=None, description="Who review; reviewer-1 if not given")
    workers: SomeReferences | None = Field(
        default=None, description="Who work, each in a worktree; if not given all other agents, or worker-1 to worker-3"
    )
    rounds: Annotated[int, Field(ge=1, le=100)] = Field(default=3, description="Rounds of work and review, at most")
    approve_plan: bool = Field(default=False, description="Ask you before anybody works on the plan")
    push: bool = Field(default=False, description="Push the branch when everything is merged")
    views: bool = Field(default=True, description="Files of the team under .codex-teams")
