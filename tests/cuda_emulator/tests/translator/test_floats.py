"""Floating-point instructions, comparisons and conversions against plain Python."""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from one_thread import OneThread
from ptx_snippets import HEAD, Snippet, in_type, to_f32

FLOATS = ("f32", "f64")
INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")


def fitted(value: float, kind: str) -> float:
    return to_f32(value) if kind == "f32" else value


def is_finite(*values: float) -> bool:
    return all(map(math.isfinite, values))


def divided(a: float, b: float) -> float:
    if b or math.isnan(a) or math.isnan(b):
        return a / b if b else math.nan
    return math.copysign(math.inf, a) * math.copysign(1, b) if a else math.nan


def fused(a: float, b: float, c: float, kind: str) -> float:
    """Rounded once: of finite numbers that are not 0 only; else nothing is rounded twice."""
    exact = Fraction(a) * Fraction(b) + Fraction(c) if is_finite(a, b, c) else Fraction(0)
    return rounded(exact, kind, "rn") if exact else fitted(a * b + c, kind)


def root(a: float) -> float:
    return math.sqrt(a) if a >= 0 or a == 0 else math.nan


def least(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return b if math.isnan(a) else a
    return min(a, b, key=lambda value: (value, math.copysign(1, value)))


def most(a: float, b: float) -> float:
    return -least(-a, -b)


def nan_if_any(meaning: Callable[[float, float], float]) -> Callable[[float, float], float]:
    return lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else meaning(a, b)


def rounded(exact: Fraction, kind: str, way: str) -> float:
    """To a number of `kind` bits; the neighbours of the nearest are found by their order."""
    digits, least_exponent, most_exponent = (24, -149, 128) if kind == "f32" else (53, -1074, 1024)
    size = abs(exact)
    if not size:
        return 0.0
    exponent = size.numerator.bit_length() - size.denominator.bit_length() - digits
    exponent += (size / Fraction(2) ** exponent) >= 2**digits
    unit = Fraction(2) ** max(exponent, least_exponent)
    signed, sign = exact / unit, -1 if exact < 0 else 1
    whole = {"rn": round, "rz": math.trunc, "rm": math.floor, "rp": math.ceil}[way](signed) * unit
    if abs(whole) < Fraction(2) ** most_exponent:
        return math.copysign(float(whole), sign)
    largest = float((2**digits - 1) * Fraction(2) ** (most_exponent - digits))
    inward = way == "rz" or way == ("rm" if exact > 0 else "rp")
    return math.copysign(largest if inward else math.inf, sign)


def arithmetic(kind: str) -> list[Snippet]:
    meanings: dict[str, Callable[..., float]] = {
        "add.rn": lambda a, b: a + b,
        "sub.rn": lambda a, b: a - b,
        "mul.rn": lambda a, b: a * b,
        "div.rn": divided,
        "min": least,
        "max": most,
        "min.NaN": nan_if_any(least),
        "max.NaN": nan_if_any(most),
        "copysign": lambda a, b: math.copysign(b, a),
    }
    found = [
        Snippet(f"{name}.{kind} {{d}}, {{a}}, {{b}};", kind, (kind, kind),
                lambda a, b, meaning=meaning: fitted(meaning(a, b), kind))
        for name, meaning in meanings.items()
    ]  # fmt: skip
    single: dict[str, Callable[[float], float]] = {
        "neg": lambda a: -a,
        "abs": abs,
        "sqrt.rn": root,
        "rcp.rn": lambda a: divided(1.0, a),
    }
    found += [
        Snippet(f"{name}.{kind} {{d}}, {{a}};", kind, (kind,),
                lambda a, meaning=meaning: fitted(meaning(a), kind))
        for name, meaning in single.items()
    ]  # fmt: skip
    text = f"fma.rn.{kind} {{d}}, {{a}}, {{b}}, {{c}};"
    found.append(Snippet(text, kind, (kind,) * 3, lambda a, b, c: fused(a, b, c, kind)))
    return found


ORDERED: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def with_nan(a: float, b: float) -> bool:
    return math.isnan(a) or math.isnan(b)


def comparisons() -> list[Snippet]:
    meanings = [(name, kind, met) for name, met in ORDERED.items() for kind in INTEGERS[2:]]
    meanings += [
        (name, "u32", ORDERED[same])
        for name, same in (("lo", "lt"), ("ls", "le"), ("hi", "gt"), ("hs", "ge"))
    ]
    for kind in FLOATS:
        meanings += [("num", kind, lambda a, b: not with_nan(a, b)), ("nan", kind, with_nan)]
        for name, met in ORDERED.items():
            meanings += [
                (name, kind, lambda a, b, met=met: not with_nan(a, b) and met(a, b)),
                (f"{name}u", kind, lambda a, b, met=met: with_nan(a, b) or met(a, b)),
            ]
    return [
        Snippet(f"setp.{name}.{kind} %p, {{a}}, {{b}}; selp.u32 {{d}}, 1, 0, %p;", "u32",
                (kind, kind), lambda a, b, met=met: int(met(a, b)))
        for name, kind, met in meanings
    ]  # fmt: skip


def combinations() -> list[Snippet]:
    ways: dict[str, Callable[[bool, bool], bool]] = {
        "and": lambda p, q: p and q,
        "or": lambda p, q: p or q,
        "xor": lambda p, q: p != q,
    }
    found = [
        Snippet(
            f"setp.ne.u32 %p, {{c}}, 0; setp.lt.{way}.s32 %p|%q, {{a}}, {{b}}, !%p; "
            "selp.u32 %x, 1, 0, %p; selp.u32 %y, 2, 0, %q; or.b32 {d}, %x, %y;",
            "u32", ("s32", "s32", "u32"),
            lambda a, b, c, meaning=meaning: meaning(a < b, not c) + 2 * meaning(a >= b, not c),
        )
        for way, meaning in ways.items()
    ]  # fmt: skip
    found += [
        Snippet("set.lt.u32.f64 {d}, {a}, {b};", "u32", ("f64", "f64"), lambda a, b: -(a < b)),
        Snippet("set.geu.f32.f32 {d}, {a}, {b};", "f32", ("f32", "f32"),
                lambda a, b: float(with_nan(a, b) or a >= b)),
        Snippet(
            "setp.gt.f64 %p, {a}, 0d0000000000000000; mov.b32 {d}, 1; @%p mov.b32 {d}, 2; "
            "@!%p add.s32 {d}, {d}, 3;", "u32", ("f64",), lambda a: 2 if a > 0 else 4,
        ),
        Snippet(
            "setp.lt.s32 %p, {a}, 0; not.pred %q, %p; xor.pred %q, %q, 1; and.pred %p, %p, %q; "
            "selp.u32 {d}, 1, 0, %p;", "u32", ("s32",), lambda a: int(a < 0),
        ),
    ]  # fmt: skip
    return found


def between_integers() -> list[Snippet]:
    found = []
    for to in INTEGERS:
        low, high = (0, (1 << int(to[1:])) - 1) if to[0] == "u" else (
            -(1 << int(to[1:]) - 1), (1 << int(to[1:]) - 1) - 1)  # fmt: skip
        for source in INTEGERS:
            operands = (source,)
            text = f"cvt.{to}.{source} {{d}}, {{a}};"
            found.append(Snippet(text, to, operands, lambda a, to=to: in_type(a, to)))
            text = f"cvt.sat.{to}.{source} {{d}}, {{a}};"
            found.append(
                Snippet(text, to, operands, lambda a, low=low, high=high: min(max(a, low), high))
            )
    return found


WHOLE: dict[str, Callable[[float], int]] = {
    "rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil,
}  # fmt: skip


def to_integer(value: float, source: str, to: str, way: str) -> int:
    bits = int(to[1:])
    if math.isnan(value):
        return 1 << bits - 1 if "64" in source + to else 0
    low, high = (0, (1 << bits) - 1) if to[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)
    if math.isinf(value):
        return low if value < 0 else high
    return min(max(WHOLE[way](value), low), high)


def of_floats() -> list[Snippet]:
    found = [
        Snippet(f"cvt.{way}.{to}.{source} {{d}}, {{a}};", to, (source,),
                lambda a, source=source, to=to, way=way: to_integer(a, source, to, way))
        for to in INTEGERS for source in FLOATS for way in WHOLE
    ]  # fmt: skip
    for way in ("rn", "rz", "rm", "rp"):
        found += [
            Snippet(f"cvt.{way}.{to}.{source} {{d}}, {{a}};", to, (source,),
                    lambda a, to=to, way=way: rounded(Fraction(a), to, way))
            for to in FLOATS for source in INTEGERS
        ]  # fmt: skip
        found.append(
            Snippet(
                f"cvt.{way}.f32.f64 {{d}}, {{a}};",
                "f32",
                ("f64",),
                lambda a, way=way: rounded(Fraction(a), "f32", way) if is_finite(a) and a else a,
            )
        )
    found.append(Snippet("cvt.f64.f32 {d}, {a};", "f64", ("f32",), lambda a: a))
    for kind in FLOATS:
        found += [
            Snippet(f"cvt.{way}.{kind}.{kind} {{d}}, {{a}};", kind, (kind,),
                    lambda a, way=way: math.copysign(WHOLE[way](a), a) if is_finite(a) else a)
            for way in WHOLE
        ]  # fmt: skip
        text = f"cvt.sat.{kind}.{kind} {{d}}, {{a}};"
        found.append(
            Snippet(text, kind, (kind,), lambda a: min(max(a, 0.0), 1.0) if a > 0 else 0.0)
        )
    return found


SNIPPETS = [
    *arithmetic("f32"), *arithmetic("f64"), *comparisons(), *combinations(), *between_integers(),
    *of_floats(),
]  # fmt: skip


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> OneThread:
    kernels = [snippet.kernel(f"k{i}") for i, snippet in enumerate(SNIPPETS)]
    return OneThread(tmp_path_factory.mktemp("floats"), HEAD + "".join(kernels))


@pytest.mark.parametrize("number", range(len(SNIPPETS)), ids=lambda i: SNIPPETS[i].text)
def test_a_float_instruction_does_what_the_manual_says(device: OneThread, number: int) -> None:
    SNIPPETS[number].check(device, f"k{number}")
