"""The page: `/` and `/web/*`."""

from typing import Any

from fastapi import FastAPI
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from earshot.web import web_root

WEB_DIR = web_root()
SAMPLES_DIR = WEB_DIR / "samples"

# Modules of two versions must not meet in a browser's cache: it asks each time, and gets a 304.
ASK_EACH_TIME = {"cache-control": "no-cache"}


class PageFiles(StaticFiles):
    """Static files that browsers check for newer ones on each load."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """Answer as the base class does, and forbid unasked use of the cache."""
        response = super().file_response(*args, **kwargs)
        response.headers.update(ASK_EACH_TIME)
        return response


def add_web_files(app: FastAPI) -> None:
    """Serve the page and what it is made of."""

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def index() -> FileResponse:
        return FileResponse(WEB_DIR / "index.html", headers=ASK_EACH_TIME)

    app.mount("/web", PageFiles(directory=WEB_DIR), name="web")
