"""Instructions on integers and bits against plain Python."""

import pytest
from one_thread import OneThread
from ptx_snippets import HEAD, Snippet, in_type

WIDTH = {"b16": 16, "b32": 32, "b64": 64}
KINDS = ("u16", "s16", "u32", "s32", "u64", "s64")


def bits(kind: str) -> int:
    return int(kind[1:])


def unsigned(value: int, kind: str) -> int:
    return value % (1 << bits(kind))


def quotient(a: int, b: int, kind: str) -> int:
    if b == 0:
        return -1
    whole = abs(a) // abs(b)
    return whole if (a < 0) == (b < 0) else -whole


def remainder(a: int, b: int, kind: str) -> int:
    return a if b == 0 else a - b * quotient(a, b, kind)


def shifted_right(a: int, by: int, kind: str) -> int:
    return a >> min(by, bits(kind))


def field(a: int, position: int, length: int, kind: str) -> int:
    """As the PTX manual's pseudocode of `bfe` has it."""
    top = bits(kind) - 1
    position, length = position & 255, length & 255
    pattern = unsigned(a, kind)
    negative = kind[0] == "s" and length > 0 and pattern >> min(position + length - 1, top) & 1
    found = 0
    for i in range(top + 1):
        inside = i < length and position + i <= top
        found |= (pattern >> (position + i) & 1 if inside else negative) << i
    return found


def inserted(a: int, b: int, position: int, length: int, kind: str) -> int:
    """As the PTX manual's pseudocode of `bfi` has it."""
    position, length = position & 255, length & 255
    for i in range(length):
        if position + i < bits(kind):
            b = b & ~(1 << position + i) | (a >> i & 1) << position + i
    return b


def permuted(a: int, b: int, selector: int) -> int:
    source = (a | b << 32).to_bytes(8, "little")
    found = []
    for i in range(4):
        digit = selector >> 4 * i & 15
        byte = source[digit & 7]
        found.append((255 if byte & 128 else 0) if digit & 8 else byte)
    return int.from_bytes(bytes(found), "little")


def funnel(low: int, high: int, by: int, left: bool) -> int:
    both = high << 32 | low
    return both << by >> 32 if left else both >> by


def leading(a: int, kind: str) -> int:
    return (~a if a < 0 else a).bit_length() - 1


def leading_shift(a: int, kind: str) -> int:
    bit = leading(a, kind)
    return bit if bit < 0 else bits(kind) - 1 - bit


def reversed_bits(a: int, kind: str) -> int:
    return int(f"{a:0{bits(kind)}b}"[::-1], 2)


def simple() -> list[Snippet]:
    """Two operands and a result of the same type."""
    meanings = {
        "add": lambda a, b, kind: a + b,
        "sub": lambda a, b, kind: a - b,
        "mul.lo": lambda a, b, kind: a * b,
        "mul.hi": lambda a, b, kind: a * b >> bits(kind),
        "div": quotient,
        "rem": remainder,
        "min": lambda a, b, kind: min(a, b),
        "max": lambda a, b, kind: max(a, b),
    }
    return [
        Snippet(
            f"{name}.{kind} {{d}}, {{a}}, {{b}};",
            kind,
            (kind, kind),
            lambda a, b, meaning=meaning, kind=kind: meaning(a, b, kind),
        )
        for name, meaning in meanings.items()
        for kind in KINDS
    ]


def products() -> list[Snippet]:
    found = []
    for kind in KINDS:
        triple = (kind, kind, kind)
        found.append(
            Snippet(
                f"mad.lo.{kind} {{d}}, {{a}}, {{b}}, {{c}};",
                kind,
                triple,
                lambda a, b, c: a * b + c,
            )
        )
        found.append(
            Snippet(
                f"mad.hi.{kind} {{d}}, {{a}}, {{b}}, {{c}};",
                kind,
                triple,
                lambda a, b, c, kind=kind: (a * b >> bits(kind)) + c,
            )
        )
    for kind in KINDS[:4]:
        wide = f"{kind[0]}{2 * bits(kind)}"
        found.append(
            Snippet(f"mul.wide.{kind} {{d}}, {{a}}, {{b}};", wide, (kind, kind), lambda a, b: a * b)
        )
        found.append(
            Snippet(
                f"mad.wide.{kind} {{d}}, {{a}}, {{b}}, {{c}};",
                wide,
                (kind, kind, wide),
                lambda a, b, c: a * b + c,
            )
        )
    return found


def logic() -> list[Snippet]:
    found = []
    for kind in WIDTH:
        meanings = {
            "and": lambda a, b: a & b,
            "or": lambda a, b: a | b,
            "xor": lambda a, b: a ^ b,
        }
        found += [
            Snippet(f"{name}.{kind} {{d}}, {{a}}, {{b}};", kind, (kind, kind), meaning)
            for name, meaning in meanings.items()
        ]
        found.append(Snippet(f"not.{kind} {{d}}, {{a}};", kind, (kind,), lambda a: ~a))
    for table in (0x00, 0x1B, 0x80, 0xC0, 0xE8, 0xFE, 0x96, 0xFF):
        found.append(
            Snippet(
                f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table};",
                "b32",
                ("b32",) * 3,
                lambda a, b, c, table=table: sum(
                    (table >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1) << i
                    for i in range(32)
                ),
            )
        )
    return found


def shifts() -> list[Snippet]:
    found = [
        Snippet(
            f"shl.{kind} {{d}}, {{a}}, {{b}};", kind, (kind, "u32"), lambda a, by: a << min(by, 64)
        )
        for kind in WIDTH
    ]
    found += [
        Snippet(
            f"shr.{kind} {{d}}, {{a}}, {{b}};",
            kind,
            (kind, "u32"),
            lambda a, by, kind=kind: shifted_right(a, by, kind),
        )
        for kind in (*KINDS, *WIDTH)
    ]
    for way in "lr":
        found.append(
            Snippet(
                f"shf.{way}.wrap.b32 {{d}}, {{a}}, {{b}}, {{c}};",
                "b32",
                ("b32",) * 3,
                lambda a, b, by, way=way: funnel(a, b, by & 31, way == "l"),
            )
        )
        found.append(
            Snippet(
                f"shf.{way}.clamp.b32 {{d}}, {{a}}, {{b}}, {{c}};",
                "b32",
                ("b32",) * 3,
                lambda a, b, by, way=way: funnel(a, b, min(by, 32), way == "l"),
            )
        )
    return found


def fields() -> list[Snippet]:
    found = [
        Snippet(
            f"bfe.{kind} {{d}}, {{a}}, {{b}}, {{c}};",
            kind,
            (kind, "u32", "u32"),
            lambda a, b, c, kind=kind: field(a, b, c, kind),
        )
        for kind in KINDS[2:]
    ]
    for kind, (position, length) in [
        (k, p)
        for k in ("b32", "b64")
        for p in ((0, 8), (7, 40), (31, 1), (0, 32), (40, 30), (5, 0))
    ]:
        found.append(
            Snippet(
                f"bfi.{kind} {{d}}, {{a}}, {{b}}, {position}, {length};",
                kind,
                (kind, kind),
                lambda a, b, p=position, n=length, kind=kind: inserted(a, b, p, n, kind),
            )
        )
    found.append(Snippet("prmt.b32 {d}, {a}, {b}, {c};", "b32", ("b32", "b32", "u32"), permuted))
    return found


def counts() -> list[Snippet]:
    found = []
    for kind in ("b32", "b64"):
        width = bits(kind)
        meanings = {
            "popc": lambda a: a.bit_count(),
            "clz": lambda a, width=width: width - a.bit_length(),
        }
        found += [
            Snippet(f"{name}.{kind} {{d}}, {{a}};", "u32", (kind,), meaning)
            for name, meaning in meanings.items()
        ]
        found.append(
            Snippet(
                f"brev.{kind} {{d}}, {{a}};",
                kind,
                (kind,),
                lambda a, kind=kind: reversed_bits(a, kind),
            )
        )
    for kind in KINDS[2:]:
        found.append(
            Snippet(
                f"bfind.{kind} {{d}}, {{a}};", "u32", (kind,), lambda a, kind=kind: leading(a, kind)
            )
        )
        found.append(
            Snippet(
                f"bfind.shiftamt.{kind} {{d}}, {{a}};",
                "u32",
                (kind,),
                lambda a, kind=kind: leading_shift(a, kind),
            )
        )
    for kind in ("s16", "s32", "s64"):
        found.append(Snippet(f"neg.{kind} {{d}}, {{a}};", kind, (kind,), lambda a: -a))
        found.append(Snippet(f"abs.{kind} {{d}}, {{a}};", kind, (kind,), abs))
    return found


def carries() -> list[Snippet]:
    """Sums and differences of 64 bits by halves."""
    found = [
        Snippet(
            ".reg .b32 %v, %w; mov.b64 {{%x, %y}}, {a}; mov.b64 {{%v, %w}}, {b}; "
            f"{name}.cc.u32 %x, %x, %v; {name}c.u32 %y, %y, %w; mov.b64 {{d}}, {{{{%x, %y}}}};",
            "u64",
            ("u64", "u64"),
            lambda a, b, sign=sign: a + sign * b,
        )
        for name, sign in (("add", 1), ("sub", -1))
    ]
    # The second word shows what came out of the first, the third what came out of the second.
    for name, sign in (("add", 1), ("sub", -1)):
        found.append(
            Snippet(
                f"{name}.cc.u64 %from, {{a}}, {{b}}; {name}c.cc.u64 %from, {{a}}, {{c}}; "
                f"{name}c.u64 {{d}}, %from, 5;",
                "u64",
                ("u64",) * 3,
                lambda a, b, c, sign=sign: carried(a, b, c, sign),
            )
        )
    return found


def carried(a: int, b: int, c: int, sign: int) -> int:
    low = a + sign * b
    first = int(low < 0 or low >= 1 << 64)
    high = a + sign * (c + first)
    return high + sign * (5 + int(high < 0 or high >= 1 << 64))


def choices() -> list[Snippet]:
    found = [
        Snippet(
            f"setp.ne.u32 %p, {{c}}, 0; selp.{kind} {{d}}, {{a}}, {{b}}, %p;",
            kind,
            (kind, kind, "u32"),
            lambda a, b, c: a if c else b,
        )
        for kind in ("b16", "u32", "s64", "f64")
    ]
    found.append(
        Snippet("mov.b32 {d}, {{{a}, {b}}};", "b32", ("b16", "b16"), lambda a, b: a | b << 16)
    )
    return found


SNIPPETS = [
    *simple(),
    *products(),
    *logic(),
    *shifts(),
    *fields(),
    *counts(),
    *carries(),
    *choices(),
]


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> OneThread:
    kernels = [snippet.kernel(f"k{i}") for i, snippet in enumerate(SNIPPETS)]
    return OneThread(tmp_path_factory.mktemp("integers"), HEAD + "".join(kernels))


@pytest.mark.parametrize("number", range(len(SNIPPETS)), ids=lambda i: SNIPPETS[i].text)
def test_an_integer_instruction_does_what_the_manual_says(device: OneThread, number: int) -> None:
    SNIPPETS[number].check(device, f"k{number}")


def test_values_beyond_a_type_wrap_around() -> None:
    assert in_type(1 << 31, "s32") == -(1 << 31)
