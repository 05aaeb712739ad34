"""Kept output: the start and the end of a stream of any length, with a mark where the middle was cut out."""

from moot.core.secrecy import Veil


class Capture:
    """Takes everything, keeps at most `cap` bytes. Secrets are taken out before anything is cut."""

    def __init__(self, cap: int, veil: Veil | None = None) -> None:
        self._veil = veil or Veil()
        self._waiting = bytearray()  # for what comes next, because a secret may begin in it
        self._head_cap = cap - cap // 2
        self._tail_cap = cap // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._taken = 0

    @property
    def is_truncated(self) -> bool:
        self._keep_until(len(self._waiting))
        return self._cut > 0

    def take(self, chunk: bytes) -> None:
        self._waiting += chunk
        self._keep_until(len(self._waiting) - self._veil.reach)

    def content(self) -> bytes:
        """What was kept, once all is taken; when something was cut, a line in its place says how much."""
        mark = b"\n" + mark_of(self._cut) + b"\n" if self.is_truncated else b""
        return bytes(self._head) + mark + bytes(self._tail)

    @property
    def _cut(self) -> int:
        return self._taken - len(self._head) - len(self._tail)

    def _keep_until(self, end: int) -> None:
        if end <= 0:
            return
        clean, done = self._veil.clean(bytes(self._waiting), end)
        del self._waiting[:done]
        self._taken += len(clean)
        room = self._head_cap - len(self._head)
        self._head += clean[:room]
        self._tail += clean[room:]
        del self._tail[: max(0, len(self._tail) - self._tail_cap)]


def mark_of(cut: int) -> bytes:
    """The words that stand where bytes are missing."""
    return b"[... %d bytes cut ...]" % cut
