"""PTX's types: their sizes and what holds them in C++."""

INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")
FLOATS = ("f32", "f64")
BITS = ("b16", "b32", "b64")
SIZES = {
    f"{family}{bits}": bits // 8
    for family, widths in {
        "b": (8, 16, 32, 64),
        "u": (8, 16, 32, 64),
        "s": (8, 16, 32, 64),
        "f": (32, 64),
    }.items()
    for bits in widths
}


def is_float(kind: str) -> bool:
    """Whether values of it are computed with as floating-point numbers."""
    return kind in FLOATS


def is_integer(kind: str) -> bool:
    """Whether it is a number, of any size, and not a predicate."""
    return kind in SIZES and not is_float(kind)


def cpp_type(kind: str) -> str:
    """Bits are held as unsigned numbers."""
    if kind == "pred":
        return "bool"
    return f"u{kind[1:]}" if kind.startswith("b") else kind


def unsigned(kind: str) -> str:
    """The unsigned integer of the same size."""
    return f"u{kind[1:]}"


def wide(kind: str) -> str:
    """The integer of twice the size."""
    return f"{kind[0]}{2 * int(kind[1:])}"
