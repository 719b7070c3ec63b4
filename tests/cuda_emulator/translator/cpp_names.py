"""Names of PTX as names of C++, where they cannot meet ours."""


def register_name(name: str) -> str:
    """`%rd5` becomes `rd5_`."""
    return f"{_plain(name)}_"


def argument_name(name: str) -> str:
    """Of the space in which a call's arguments or results lie."""
    return f"{_plain(name)}_space"


def label_name(name: str) -> str:
    """`$L__BB0_4` becomes `at_L__BB0_4`."""
    return f"at_{_plain(name)}"


def symbol_name(name: str) -> str:
    """Of functions and variables: `at` becomes `at_symbol`."""
    return f"{_plain(name)}_symbol"


def _plain(name: str) -> str:
    return name.lstrip("%$").replace("%", "_").replace("$", "_dollar_")
