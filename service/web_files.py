"""The page: `/` and `/web/*`."""

from pathlib import Path

from fastapi import FastAPI
from starlette.responses import FileResponse
from starlette.staticfiles import StaticFiles

import web

WEB_DIR = Path(web.__file__).parent
SAMPLES_DIR = WEB_DIR / "samples"


def add_web_files(app: FastAPI) -> None:
    """Serve the page and its scripts; browsers check for newer ones on each load."""

    @app.get("/", include_in_schema=False)
    async def index() -> FileResponse:
        return FileResponse(WEB_DIR / "index.html", headers={"cache-control": "no-cache"})

    app.mount("/web", StaticFiles(directory=WEB_DIR), name="web")
