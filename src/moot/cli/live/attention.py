"""Which of the things that need the person the next line answers: the first that is shown, or another that they turned
to. It stays the same while something is typed: nobody answers what has just taken the place of what they read."""

from collections.abc import Sequence

from moot.api.needs import Need


class Attention:
    def __init__(self) -> None:
        self.needs: Sequence[Need] = ()
        self.earlier = 0  # messages from before, which are not shown
        self.current: Need | None = None
        self._done = set[str]()  # what was answered, though it may still be seen to wait
        self._is_held = False

    @property
    def is_over(self) -> bool:
        """Somebody else has seen to it, while the person types."""
        return self.current is not None and self._place() is None

    @property
    def others(self) -> list[Need]:
        """Those behind the current one first, in the order in which `turn` comes to them."""
        place = self._place()
        if place is None:
            return list(self.needs)
        return [*self.needs[place + 1 :], *self.needs[:place]]

    def see(self, needs: Sequence[Need], *, earlier: int = 0) -> None:
        self.needs = [one for one in needs if one.id not in self._done]
        self.earlier = earlier
        self._settle()

    def done(self, need: Need) -> None:
        """It is being answered: what is typed next is for another."""
        self._done.add(need.id)
        self._is_held = False
        self.see(self.needs, earlier=self.earlier)

    def not_done(self, need: Need) -> None:
        """That was no answer."""
        self._done.discard(need.id)

    def hold(self, *, is_held: bool) -> None:
        """While something is typed, and no longer."""
        self._is_held = is_held
        self._settle()

    def turn(self) -> None:
        """To the next one, for what is typed already, too."""
        self.current = next(iter(self.others), self.current)

    def _settle(self) -> None:
        place = self._place()
        if place is not None:
            self.current = self.needs[place]
        elif not self._is_held:
            self.current = self.needs[0] if self.needs else None

    def _place(self) -> int | None:
        if self.current is None:
            return None
        sought = self.current.id
        return next((place for place, one in enumerate(self.needs) if one.id == sought), None)
