"""The measure of mail in a team: every message is begun with, few commits lie between, and none is left."""

from pathlib import Path

from bench import team_mail
from bench.harness import Scale


def test_every_message_is_begun_with_and_none_is_left(tmp_path: Path) -> None:
    scale = Scale(rounds=1, seconds=0.01, is_quick=True)
    commits, _, unread = team_mail.measure(scale, tmp_path)
    assert (commits.is_met, unread.ratio) == (True, 0)
    assert commits.ratio >= 2
