"""Kept output: the start and the end of a stream of any length, with a mark where the middle was cut out."""


class Capture:
    """Takes everything, keeps at most `cap` bytes."""

    def __init__(self, cap: int) -> None:
        self._head_cap = cap - cap // 2
        self._tail_cap = cap // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._taken = 0

    @property
    def is_truncated(self) -> bool:
        return self._cut > 0

    def take(self, chunk: bytes) -> None:
        self._taken += len(chunk)
        room = self._head_cap - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        del self._tail[: max(0, len(self._tail) - self._tail_cap)]

    def content(self) -> bytes:
        """What was kept; when something was cut, a line in its place says how much."""
        mark = b"\n" + mark_of(self._cut) + b"\n" if self.is_truncated else b""
        return bytes(self._head) + mark + bytes(self._tail)

    @property
    def _cut(self) -> int:
        return self._taken - len(self._head) - len(self._tail)


def mark_of(cut: int) -> bytes:
    """The words that stand where bytes are missing."""
    return b"[... %d bytes cut ...]" % cut
