"""`import earshot`: a few names, which cost nothing until they are used."""

import subprocess
import sys

import pytest

import earshot
from earshot.decoder_kernels.errors import KernelError
from earshot.models.errors import ModelError
from earshot.service.errors import ServiceError
from earshot.streaming.errors import StreamingError
from earshot.training.errors import TrainingError


def test_importing_earshot_loads_nothing_heavy() -> None:
    script = (
        "import sys, earshot\n"
        "heavy = {'torch', 'numpy', 'pydantic', 'av', 'asyncio'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("name", earshot.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(earshot, name).__name__ == name
    assert name in dir(earshot)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'transcibe'"):
        getattr(earshot, "transcibe")  # noqa: B009


@pytest.mark.parametrize(
    "kind", [KernelError, ModelError, ServiceError, StreamingError, TrainingError]
)
def test_every_package_raises_errors_of_earshot(kind: type[Exception]) -> None:
    assert issubclass(kind, earshot.EarshotError)
