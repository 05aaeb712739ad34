"""Names of branches: what git itself says of them is the measure."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.workspaces import branches
from moot.workspaces.errors import BranchRefused

_TEXTS = st.text(alphabet="ab./-@{}~^:?*[\\ \x01\x7fHEADé\u202e.lock\n", min_size=1, max_size=12)


def takes(name: str) -> bool:
    done = subprocess.run(("git", "check-ref-format", "--branch", name), capture_output=True, check=False, timeout=20)
    return done.returncode == 0


@settings(max_examples=150, deadline=None)
@given(_TEXTS)
def test_what_is_taken_git_takes_too(name: str) -> None:
    try:
        branches.check(name)
    except BranchRefused:
        return
    assert takes(name)


@pytest.mark.parametrize("name", ["a", "fix/login", "grüße", "a.b-c_d+e", "1", "x@y", "a{b", "release/1.0"])
def test_plain_names_are_taken(name: str) -> None:
    assert branches.check(name) == name
    assert takes(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", "-x", "--force", "a..b", "HEAD", "head", "@", "a b", "a\nb", "a\tb", "a/", "/a", "a//b", ".a", "a/.b"),
        *("a.lock", "a.lock/b", "a~1", "a^", "a:b", "a?b", "a*", "a[b", "a\\b", "a@{b", "a.", "refs/heads/a"),
        *("a\u202eb", "\ud800", "x" * 201),
    ],
)
def test_what_means_something_else_is_refused(name: str) -> None:
    with pytest.raises(BranchRefused):
        branches.check(name)


@pytest.mark.parametrize(
    ("instance", "who", "branch"),
    [
        ("default", "coder", "moot/default/coder"),
        ("pr-1", "Fix the login!", "moot/pr-1/Fix-the-login"),
        ("x", "..", "moot/x/work"),
        ("x", "a.lock", "moot/x/a-lock"),
        ("x.lock.lock", "a", "moot/x.lock-lock/a"),
        ("x..y", "a", "moot/x-y/a"),
        ("x" * 59 + ".y", "a", f"moot/{'x' * 59}/a"),
        ("x", "日本", "moot/x/日本"),
    ],
)
def test_a_branch_is_named_after_who_works_there(instance: str, who: str, branch: str) -> None:
    assert branches.check(branches.default(instance, who)) == branch
