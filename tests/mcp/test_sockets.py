"""A server takes its address only if nobody else has it, for this user and this machine alone."""

import os
import socket
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from moot.mcp import sockets
from moot.mcp.sockets import AddressRefused, ServerRunning, UnixSocket


def connects(path: Path) -> bool:
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as client:
            return client.connect_ex(f"/proc/self/fd/{folder}/{path.name}") == 0
    finally:
        os.close(folder)


def test_the_socket_is_for_this_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        taken = UnixSocket(tmp_path / "moot.sock")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "moot.sock").stat().st_mode) == 0o600
    assert connects(tmp_path / "moot.sock")
    taken.close()
    assert not (tmp_path / "moot.sock").exists()


def test_a_path_longer_than_an_address_can_hold_works(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)
    taken = UnixSocket(deep / "moot.sock")
    assert connects(deep / "moot.sock")
    taken.close()


def test_a_living_server_is_not_replaced(tmp_path: Path) -> None:
    first = UnixSocket(tmp_path / "moot.sock")
    with pytest.raises(ServerRunning) as refused:
        UnixSocket(tmp_path / "moot.sock")
    assert refused.value.code == "SERVER_RUNNING"
    assert refused.value.remedy
    assert connects(tmp_path / "moot.sock")
    first.close()


def test_a_server_with_a_full_backlog_is_alive(tmp_path: Path) -> None:
    path = tmp_path / "moot.sock"
    with socket.socket(socket.AF_UNIX) as busy:
        busy.bind(str(path))
        busy.listen(0)
        waiting = [socket.socket(socket.AF_UNIX) for _ in range(4)]
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(str(path))
        with pytest.raises(ServerRunning):
            UnixSocket(path)
        for client in waiting:
            client.close()


def test_a_dead_servers_socket_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "moot.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    assert path.exists()
    taken = UnixSocket(path)
    assert connects(path)
    taken.close()


def test_what_is_not_a_socket_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "moot.sock"
    path.write_text("dear")
    with pytest.raises(AddressRefused):
        UnixSocket(path)
    assert path.read_text() == "dear"
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(AddressRefused):
        UnixSocket(path)
    assert path.is_symlink()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(AddressRefused, match="no folder"):
        UnixSocket(tmp_path / "missing" / "moot.sock")


def test_only_its_own_socket_is_taken_away_in_the_end(tmp_path: Path) -> None:
    path = tmp_path / "moot.sock"
    first = UnixSocket(path)
    path.unlink()
    second = UnixSocket(path)
    first.close()
    assert connects(path)
    second.close()
    assert not path.exists()


def test_of_many_that_start_at_once_one_serves(tmp_path: Path) -> None:
    path = tmp_path / "moot.sock"

    def start(_: int) -> UnixSocket | None:
        try:
            return UnixSocket(path)
        except ServerRunning:
            return None

    for _ in range(20):
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(path))
        with ThreadPoolExecutor(8) as pool:
            won = [one for one in pool.map(start, range(8)) if one]
        assert len(won) == 1
        assert connects(path)
        won[0].close()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "8.8.8.8", "", "example.com", "169.254.1.1"])
def test_other_machines_are_kept_out(host: str) -> None:
    with pytest.raises(AddressRefused) as refused:
        sockets.tcp(host, 0)
    assert refused.value.code == "ADDRESS_REFUSED"
    assert "127.0.0.1" in refused.value.remedy


def test_a_free_port_is_found_and_told() -> None:
    with sockets.tcp("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        assert sockets.url_of(listening, "/mcp") == f"http://127.0.0.1:{port}/mcp"
        with pytest.raises(AddressRefused, match=str(port)):
            sockets.tcp("127.0.0.1", port)
