"""The needs of training: a part of the repository that wheels lack, and two packages."""

from collections.abc import Iterator
from contextlib import contextmanager

from earshot.service.errors import StartupError


@contextmanager
def training_package() -> Iterator[None]:
    """Import training inside the block.

    Raises:
        StartupError: it, or something that it needs, is not here; the message says what to do.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("earshot.training"):
            raise StartupError(
                "training comes with the repository, not with the wheel: clone it and `make setup`"
            ) from error
        raise StartupError(
            f"training needs {error.name}: `pip install -e '.[train]'` in the repository brings it"
        ) from error
