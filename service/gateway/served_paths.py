"""The paths that there are, as who asked for another is told."""

import re
from collections.abc import Iterable, Iterator

from starlette.routing import BaseRoute, Route, Router, WebSocketRoute

_CONVERTER = re.compile(r":\w+}")
"""Of a route's part that is a name, as `{name:path}`."""

_UNSAID = ["GET"]
"""What a path without a word on its methods takes; HEAD is never told."""


class ServedPaths:
    """The routes of some routers, by path, in their order."""

    def __init__(self, routers: Iterable[Router]) -> None:
        self._methods: dict[str, list[str]] = {}
        for router in routers:
            for route in router.routes:
                if isinstance(route, Route | WebSocketRoute):
                    path = _CONVERTER.sub("}", route.path)
                    self._methods.setdefault(path, []).extend(_methods(route))

    def __str__(self) -> str:
        """All paths, with the methods of those that take others than GET."""
        return ", ".join(
            path if methods == _UNSAID else f"{path} ({', '.join(methods)})"
            for path, methods in self._methods.items()
        )

    def methods_of(self, path: str) -> str:
        """What a path takes; nothing where the path is none of these."""
        return ", ".join(self._methods.get(path, ()))


def _methods(route: BaseRoute) -> Iterator[str]:
    if isinstance(route, WebSocketRoute):
        yield "WebSocket"
    elif isinstance(route, Route):
        yield from sorted((route.methods or set()) - {"HEAD"})
