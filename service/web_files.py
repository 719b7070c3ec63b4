"""The page: `/` and `/web/*`."""

from fastapi import FastAPI
from starlette.responses import FileResponse
from starlette.staticfiles import StaticFiles

from web import web_root

WEB_DIR = web_root()
SAMPLES_DIR = WEB_DIR / "samples"


def add_web_files(app: FastAPI) -> None:
    """Serve the page and its scripts; browsers check for newer ones on each load."""

    @app.get("/", include_in_schema=False)
    async def index() -> FileResponse:
        return FileResponse(WEB_DIR / "index.html", headers={"cache-control": "no-cache"})

    app.mount("/web", StaticFiles(directory=WEB_DIR), name="web")
