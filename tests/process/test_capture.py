import pytest

from moot.core.secrecy import Veil
from moot.process.capture import Capture, mark_of


@pytest.mark.parametrize("pieces", [[b"0123456789"], [b"0", b"12345", b"6789"], [b"01234", b"56789"]])
def test_what_fits_is_kept_whole(pieces: list[bytes]) -> None:
    capture = Capture(10)
    for piece in pieces:
        capture.take(piece)
    assert capture.content() == b"0123456789"
    assert not capture.is_truncated


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_what_does_not_fit_keeps_its_two_ends_and_a_mark(size: int) -> None:
    stream = b"%0100d" % 1234567890
    capture = Capture(11)
    for start in range(0, 100, size):
        capture.take(stream[start : start + size])
    assert capture.content() == b"000000\n[... 89 bytes cut ...]\n67890"
    assert capture.is_truncated


def test_a_cap_of_nothing_keeps_nothing() -> None:
    capture = Capture(0)
    capture.take(b"abc")
    assert capture.content() == b"\n[... 3 bytes cut ...]\n"


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
@pytest.mark.parametrize("before", range(40, 61))
def test_nothing_of_a_secret_survives_a_cut_through_it(before: int, size: int) -> None:
    secret = "canary-0123456789"
    for stream in (b"." * before + secret.encode() + b"." * 900, b"." * 900 + secret.encode() + b"." * before):
        capture = Capture(100, Veil([secret]))
        for start in range(0, len(stream), size):
            capture.take(stream[start : start + size])
        assert capture.is_truncated
        kept = capture.content().replace(b"[hidden]", b"")
        head, tail = kept.split(mark_of(len(stream) - len(secret) + len(b"[hidden]") - 100))
        assert not any(piece in head + tail for piece in (b"can", b"789", b"345"))


def test_the_last_bytes_are_kept_though_a_secret_might_begin_in_them() -> None:
    capture = Capture(100, Veil(["canary-0123456789"]))
    capture.take(b"it is canary-0123456789, not canary-")
    assert capture.content() == b"it is [hidden], not canary-"
    assert not capture.is_truncated
