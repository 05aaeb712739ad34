"""`team:` in a file: who has which part, and what does not go together."""

from pathlib import Path

import pytest

from moot.workflow import reading
from moot.workflow.workflow import TeamDefinition, WorkflowInvalid

RUN = "defaults: {backend: scripted}\n"


def read(folder: Path, text: str) -> TeamDefinition | None:
    file = folder / "t.yaml"
    file.write_text(RUN + text, encoding="utf-8")
    return reading.draft(file).finish().team


def test_a_file_without_one_has_none(tmp_path: Path) -> None:
    assert read(tmp_path, "agents: {a: {}}") is None


def test_the_usual_team_needs_no_names(tmp_path: Path) -> None:
    team = read(tmp_path, "team: {}")
    assert team is not None
    assert team == TeamDefinition("lead", ("reviewer-1",), ("worker-1", "worker-2", "worker-3"))
    assert list(team.parts.values()) == ["lead", "reviewer", "worker", "worker", "worker"]


def test_who_is_neither_lead_nor_reviewer_works(tmp_path: Path) -> None:
    team = read(tmp_path, "team: {lead: ann}\nagents: {ann: {}, bob: {}, reviewer-1: {}, eve: {}}")
    assert team is not None
    assert (team.lead, team.reviewers, team.workers) == ("ann", ("reviewer-1",), ("bob", "eve"))


def test_all_terms_can_be_said(tmp_path: Path) -> None:
    text = "team: {reviewers: [r, s], workers: [w], rounds: 1, approve_plan: true, push: true, views: false}"
    assert read(tmp_path, text) == TeamDefinition("lead", ("r", "s"), ("w",), 1, True, True, False)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("team: {workers: [a]}\nagents: {a: {}, x: {}}", "`agents.x` has no part in the team"),
        ("team: {workers: [lead]}", "`lead` has two parts in the team"),
        ("team: {reviewers: [a], workers: [a]}", "`a` has two parts in the team"),
        ("team: {}\ntasks: [{name: a}]", "`tasks` does not go with `team`"),
        ("team: {}\ntogether: true", "`together` does not go with `team`"),
        ("team: {}\ncontext: false", "a team cannot do without what it shares"),
        ("team: {rounds: 0}", "rounds"),
        ("team: {workers: []}", "workers"),
        ("team: {reveiwers: [a]}", "Did you mean `reviewers`?"),
    ],
)
def test_what_does_not_go_together_is_told_with_its_place(tmp_path: Path, text: str, fact: str) -> None:
    with pytest.raises(WorkflowInvalid) as refused:
        read(tmp_path, text)
    assert fact in str(refused.value)
    assert "t.yaml:" in str(refused.value)
