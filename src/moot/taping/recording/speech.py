"""What an attempt writes on its way to a tape: put together until it is whole, and no more than a tape should hold."""

from io import StringIO

MOST = 5_000_000  # characters kept of one attempt
_LINE = 100  # what a line of a tape takes beside its text


class Speech:
    """Of one attempt. Pieces cost the same however many came before them: some programs never stop writing."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._left = most
        self._text = StringIO()
        self._dropped = 0

    def add(self, text: str) -> None:
        kept = text[: self._left]
        self._text.write(kept)
        self._left -= len(kept)
        self._dropped += len(text) - len(kept)

    def take(self) -> str:
        """What has come since the last time."""
        found, self._text = self._text.getvalue(), StringIO()
        return found

    def drop(self) -> None:
        """What has come since the last time is kept elsewhere."""
        self._left += len(self.take())

    def has_room(self, text: str) -> bool:
        """For a line of its own, which then counts."""
        size = len(text) + _LINE
        if size > self._left:
            self._dropped += size
            return False
        self._left -= size
        return True

    @property
    def cut(self) -> str:
        """In words, that not everything was kept; empty if it was."""
        if not self._dropped:
            return ""
        return f"of what it wrote {self._most:,} characters are kept, and {self._dropped:,} are not"
