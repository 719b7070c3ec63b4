import pytest
from tiny_models import TINY_ENCODERS, make_tiny_model

from earshot.models.u2.u2 import U2Model


@pytest.fixture(scope="session")
def tiny_models() -> dict[str, U2Model]:
    return {name: make_tiny_model(**options) for name, options in TINY_ENCODERS.items()}


@pytest.fixture(params=tuple(TINY_ENCODERS))
def tiny_model(request: pytest.FixtureRequest, tiny_models: dict[str, U2Model]) -> U2Model:
    return tiny_models[request.param]
