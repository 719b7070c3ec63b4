"""YAML of foreign files: data alone, and no more of it than the text has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from earshot.models.errors import CheckpointError, UnsafeCheckpoint

MERGE_TAG, INT_TAG = "tag:yaml.org,2002:merge", "tag:yaml.org,2002:int"
LONGEST_NUMBER = 40
"""Characters of a whole number; Python itself refuses to write out those of thousands of digits."""

LONGEST_REASON = 200
"""Characters of what PyYAML says, which quotes the text."""

# What PyYAML's constructors raise on scalars that their tags do not fit.
READ_ERRORS = (
    yaml.YAMLError,
    RecursionError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
)


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader without merge keys.

    It repeats what an alias names only by reference, so that text cannot explode; merge keys it
    copies, and each may name ten others.
    """

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Raises UnsafeCheckpoint for a merge key."""
        if any(key.tag == MERGE_TAG for key, _ in node.value):
            raise UnsafeCheckpoint("merge keys (<<) are not read")

    def construct_short_int(self, node: yaml.ScalarNode) -> int:
        """A whole number; raises ValueError for a longer one."""
        if len(node.value) > LONGEST_NUMBER:
            raise ValueError(f"a number of {len(node.value)} characters")
        return int(self.construct_yaml_int(node))


_Loader.add_constructor(INT_TAG, _Loader.construct_short_int)


def parse_yaml(text: str, source: str) -> Mapping[str, Any]:
    """The mapping that a YAML text is; `source` names it in errors.

    Raises CheckpointError for text that is none, UnsafeCheckpoint for merge keys.
    """
    try:
        options = yaml.load(text, Loader=_Loader)
    except UnsafeCheckpoint as error:
        raise UnsafeCheckpoint(f"{source}: {error}") from error
    except READ_ERRORS as error:
        reason = " ".join(str(error).split())[:LONGEST_REASON]
        raise CheckpointError(f"{source} is not YAML: {reason}") from error
    if not isinstance(options, Mapping):
        raise CheckpointError(f"{source} is not a mapping")
    return options
