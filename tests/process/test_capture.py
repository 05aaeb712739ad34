import pytest

from moot.process.capture import Capture


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
