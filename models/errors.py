"""Everything `models` raises on purpose.

ModelError
├── ConfigError              a configuration that cannot be built
│   └── FieldError           a field of it, whose key in a file its reader knows
├── CheckpointError          a model, or its weight file, that cannot be used
│   ├── NotACheckpoint       garbage, a truncated file, a zip of something else
│   ├── UnsafeCheckpoint     a pickle that wants to run code, an archive that would explode
│   ├── MissingKeys          tensors the network needs are not in the file
│   ├── UnknownKeys          tensors in the file that the network has no place for
│   ├── ShapeMismatch        a tensor of another shape than the configuration says
│   ├── UnusableNumbers      a tensor of integers, complex numbers or fewer than 16 bits
│   └── DamagedWeights       a tensor with what is no finite number
├── TokenizerError           a broken units table or BPE model
│   └── UnencodableText      text that the model has no units for
└── NotStreamable            a full-context model was asked for a chunk
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from earshot.errors import EarshotError

NAMES_SHOWN = 8
LONGEST_NAME = 200
_SHORT = reprlib.Repr()
_SHORT.maxlevel = 1


def _name_some(names: Iterable[str]) -> str:
    """The first few names and how many follow, so that an error stays readable."""
    ordered = sorted(names)
    shown = ", ".join(name if _is_plain(name) else quote(name) for name in ordered[:NAMES_SHOWN])
    rest = len(ordered) - NAMES_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown


def _is_plain(name: str) -> bool:
    """Whether a terminal may be shown a name as it is: that of a foreign tensor may be anything."""
    return name.isprintable() and len(name) <= LONGEST_NAME


def quote(value: object) -> str:
    """A value as an error may show it: of a foreign file's nested lists only the outline."""
    return _SHORT.repr(value)


class ModelError(EarshotError):
    """Base of this package's errors."""


class ConfigError(ModelError):
    """A configuration value is out of range, contradictory or not supported."""


class FieldError(ConfigError):
    """One field does not fit; whoever read it from a file says the key that it stood at."""

    def __init__(self, field: str, value: object, reason: str) -> None:
        self.field, self.value, self.reason = field, value, reason
        super().__init__(f"{field}={quote(value)} {reason}")


class CheckpointError(ModelError):
    """A model cannot be loaded."""


class NotACheckpoint(CheckpointError):
    """The weight file is not a checkpoint: garbage, truncated, or an archive of something else."""


class UnsafeCheckpoint(CheckpointError):
    """Loading the file would execute code or exhaust memory; it was refused."""


class MissingKeys(CheckpointError):
    """The checkpoint lacks tensors; `names` holds all of them."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)
        super().__init__(f"checkpoint lacks {len(self.names)} tensor(s): {_name_some(self.names)}")


class UnknownKeys(CheckpointError):
    """The checkpoint holds tensors (or configuration keys) we do not know; `names` has all."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)
        super().__init__(
            f"checkpoint has {len(self.names)} unknown tensor(s): {_name_some(self.names)}"
        )


class ShapeMismatch(CheckpointError):
    """Tensors whose shapes contradict the configuration."""


class UnusableNumbers(CheckpointError):
    """Weights of a type that no network of ours computes with."""


class DamagedWeights(CheckpointError):
    """Some weights are infinite, no numbers, or below zero where nothing can be."""

    def __init__(self, key: str, found: str = "what is no finite number") -> None:
        super().__init__(f"{key} holds {found}: the file is damaged")


class TokenizerError(ModelError):
    """The units table or the BPE model is broken."""


class UnencodableText(TokenizerError):
    """`text` cannot be written in the model's units."""

    def __init__(self, text: str, reason: str) -> None:
        self.text = text
        self.reason = reason
        super().__init__(f"cannot encode {text!r}: {reason}")


class NotStreamable(ModelError):
    """The encoder needs the whole utterance; it has no chunk step."""


@contextmanager
def naming(source: Path | str) -> Iterator[None]:
    """Has refusals of configurations and tokenizers name what they were read from."""
    try:
        yield
    except (ConfigError, TokenizerError) as error:
        if str(source) in str(error):
            raise
        kind = ConfigError if isinstance(error, ConfigError) else TokenizerError
        raise kind(f"{source}: {error}") from error
