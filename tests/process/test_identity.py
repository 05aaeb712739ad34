import os
import subprocess

import pytest

from moot.process import identity
from moot.process.errors import BadIdentity
from moot.process.identity import ProcessIdentity
from tests.process.scripts import await_exit


def test_this_process_is_alive() -> None:
    assert identity.current().pid == os.getpid()
    assert identity.is_alive(identity.current())


def test_a_stranger_with_a_recycled_pid_is_not_the_one_we_knew() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as stranger:
        found = identity.of(stranger.pid)
        assert found is not None
        assert identity.is_alive(found)
        assert not identity.is_alive(ProcessIdentity(stranger.pid, identity.current().started))


def test_a_zombie_is_dead() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        known = identity.of(process.pid)
        process.kill()
        await_exit(process.pid)
        assert known is not None
        assert not identity.is_alive(known)


def test_there_is_nobody_with_the_pid_of_the_dead() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert identity.of(process.pid) is None


def test_an_identity_survives_being_stored_as_text() -> None:
    known = identity.current()
    assert str(known) == f"{known.pid}:{known.started}"
    assert identity.parse(str(known)) == known


@pytest.mark.parametrize("text", ["", "12", "12:", ":x", "-1:x", "x:y", "²:x", "\u0661:x", "1 2:x"])
def test_text_that_names_no_process_is_refused(text: str) -> None:
    with pytest.raises(BadIdentity, match="pid:started"):
        identity.parse(text)
