"""The card of a model, in Markdown: what its makers say that it can do."""

import logging
from pathlib import Path

CARD = "CARD.md"
MOST_BYTES = 256 * 1024

log = logging.getLogger(__name__)


def read_card(model: Path) -> str | None:
    """The card of a model's directory, or beside a file of the same name; None without one.

    A folder of several files may hold the card of another, so that a file's has its name:
    ``big.md`` of ``big.nemo``. One that cannot be read, or is too long, is named in the log; text
    in another encoding is shown as far as it can be read.
    """
    card = model / CARD if model.is_dir() else model.with_suffix(".md")
    try:
        if not card.is_file():
            return None
        with card.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
    except OSError as error:
        log.warning("the model's card %s cannot be read: %s", card, error.strerror)
        return None
    if len(text) > MOST_BYTES:
        log.warning("the model's card %s is longer than %d bytes", card, MOST_BYTES)
        return None
    return text.decode("utf-8", "replace")
