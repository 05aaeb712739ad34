"""Which resource a path means."""

from collections.abc import Mapping, Sequence

from starlette.routing import compile_path

from moot.edge.refusals import MethodRefused, NotServed
from moot.web.resource import Resource


class Routes:
    def __init__(self, resources: Sequence[Resource]) -> None:
        self._known = [(compile_path(one.path)[0], one) for one in resources]

    def find(self, method: str, path: str) -> tuple[Resource, Mapping[str, str]]:
        """With what stands in its braces."""
        matching = [(one, found.groupdict()) for pattern, one in self._known if (found := pattern.match(path))]
        if not matching:
            raise NotServed("There is nothing here.", "The page is at /.")
        for resource, place in matching:
            if resource.method == method:
                return resource, place
        taken = " or ".join(sorted({one.method for one, _ in matching}))
        raise MethodRefused(f"{method[:20]} is not taken here.", f"Use {taken}.")
