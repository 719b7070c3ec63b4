"""What the translator does not know is an error that names its line."""

import subprocess
import sys
from pathlib import Path

import pytest
from ptx_snippets import HEAD
from translator.cpp_files import translate_files
from translator.errors import MalformedPtx, TranslationError, UnknownInstruction, UnknownSymbol

REGISTERS = (
    ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; "
    ".reg .f32 %f<4>; .reg .f64 %fd<4>;"
)
UNKNOWN = (
    "shfl.sync.down.b32 %r1, %r2, 1, 31, -1;",
    "bar.warp.sync -1;",
    "bar.sync 1;",
    "bar.sync 0, 64;",
    "bar.red.popc.u32 %r1, 0, %p1;",
    "vote.sync.ballot.b32 %r1, %p1, -1;",
    "add.f64 %fd1, %fd2, %fd3;",
    "mul.rz.f64 %fd1, %fd2, %fd3;",
    "add.sat.s32 %r1, %r2, %r3;",
    "add.rn.ftz.f32 %f1, %f2, %f3;",
    "div.approx.f32 %f1, %f2, %f3;",
    "sqrt.approx.f32 %f1, %f2;",
    "mul24.lo.s32 %r1, %r2, %r3;",
    "sad.s32 %r1, %r2, %r3, %r4;",
    "cvt.f32.f64 %f1, %fd1;",
    "cvt.rn.f16.f32 %h1, %f1;",
    "cvt.s32.f64 %r1, %fd1;",
    "cvt.rn.ftz.f32.f64 %f1, %fd1;",
    "cvt.rni.f32.f64 %f1, %fd1;",
    "setp.lo.s32 %p1, %r1, %r2;",
    "setp.lt.b32 %p1, %r1, %r2;",
    "ld.acquire.u32 %r1, [%rd1];",
    "ld.relaxed.acquire.gpu.u32 %r1, [%rd1];",
    "atom.add.min.s32 %r1, [%rd1], %r2;",
    "ld.gpu.u32 %r1, [%rd1];",
    "ld.release.gpu.u32 %r1, [%rd1];",
    "ld.shared::cluster.u32 %r1, [%rd1];",
    "ld.global.v8.u32 %r1, [%rd1];",
    "ld.mmio.relaxed.sys.u32 %r1, [%rd1];",
    "st.const.u32 [%rd1], %r1;",
    "atom.inc.u32 %r1, [%rd1], %r2;",
    "atom.add.f64 %fd1, [%rd1], %fd2;",
    "atom.local.add.u32 %r1, [%rd1], %r2;",
    "atom.add.noftz.f16 %h1, [%rd1], %h2;",
    "fence.proxy.async;",
    "cp.async.ca.shared.global [%r1], [%rd1], 4;",
    "mov.u32 %r1, %clock;".replace("%clock", "%tid.w"),
    "call missing, (%r1);",
    "call (%r1), %rd1, (%r2);",
    "bra.spread $L;",
    "nanosleep.u32 20;",
)
MALFORMED = (
    "add.s32 %r1, %r2;",
    "add.s32 %r1, %r2, %r3, %r4;",
    "add.s32 %r1, %rd2, %r3;",
    "add.s64 %r1, %rd2, %rd3;",
    "add.s32 5, %r2, %r3;",
    "mov.u32 %r1, %p1;",
    "mov.pred %p1, %r1;",
    "add.rn.f64 %fd1, %fd2, 1;",
    "ld.u32 %r1, %rd1;",
    "ld.u32 %r1, [%rd1;",
    "mov.b64 {%r1, %r2, %r3}, %rd1;",
    "bra $nowhere;",
    "add.s32 %r1, , %r2;",
    "st.u64 [%rd1], %r1;",
    ".reg .b32 %r1;",
    "$L: $L: mov.u32 %r1, 0;",
    "cvt.u64.u32 %r1, %r2;",
    "123;",
)
NOT_DECLARED = (
    "mov.u32 %r1, %r99;",
    "ld.u32 %r1, [elsewhere+4];",
    "mov.u64 %rd1, elsewhere;",
    "add.s32 %r1, %unknown, 1;",
)
FILES = (
    (".entry k() { mov.u32", MalformedPtx),
    (".entry k() { .reg .b32 %r1;", MalformedPtx),
    ("}", MalformedPtx),
    ("{ }", MalformedPtx),
    (".entry k() .explicitcluster { ret; }", UnknownInstruction),
    (".entry k(.param .b128 k_0) { ret; }", UnknownInstruction),
    (".entry k() { .reg .b128 %q1; ret; }", UnknownInstruction),
    (".entry { ret; }", MalformedPtx),
    (".func f(.reg .b32 x) { ret; }", UnknownInstruction),
    (".global .texref t;", UnknownInstruction),
    (".global .align 4 .u32 x[1] = {1, 2};", MalformedPtx),
    (".global .align 4 .f32 x[1] = {1.5};", UnknownInstruction),
    (".alias a, b;", UnknownInstruction),
    (".func f() { exit; }", UnknownInstruction),
    (
        ".func f(.param .b64 f_0) { ret; } "
        ".entry k() { .param .b32 p; st.param.b32 [p], 1; call f, (p); ret; }",
        MalformedPtx,
    ),
    (
        ".entry k() { .param .b32 p; .param .b32 q; call cudaGraphSetConditional, (p, q); ret; }",
        MalformedPtx,
    ),
    (".entry k() { .param .b64 p; call cudaGraphSetConditional, (p); ret; }", MalformedPtx),
    (".entry k() { .loc one two three\n ret; }", MalformedPtx),
)


def translate(folder: Path, text: str) -> None:
    path = folder / "some.ptx"
    path.write_text(text)
    translate_files([path], 1)


def of_instruction(instruction: str) -> str:
    return f"{HEAD}.entry k()\n{{\n{REGISTERS}\n\n{instruction}\nret;\n}}\n"


LINE = of_instruction("HERE").splitlines().index("HERE") + 1


@pytest.mark.parametrize("instruction", UNKNOWN)
def test_an_unknown_instruction_is_an_error(tmp_path: Path, instruction: str) -> None:
    with pytest.raises((UnknownInstruction, UnknownSymbol)) as error:
        translate(tmp_path, of_instruction(instruction))
    assert str(error.value).startswith(f"{tmp_path / 'some.ptx'}:{LINE}: ")


@pytest.mark.parametrize("instruction", MALFORMED)
def test_a_malformed_instruction_is_an_error(tmp_path: Path, instruction: str) -> None:
    with pytest.raises(MalformedPtx) as error:
        translate(tmp_path, of_instruction(instruction))
    assert f":{LINE}: " in str(error.value)


@pytest.mark.parametrize("instruction", NOT_DECLARED)
def test_a_name_that_nothing_declares_is_an_error(tmp_path: Path, instruction: str) -> None:
    with pytest.raises(UnknownSymbol) as error:
        translate(tmp_path, of_instruction(instruction))
    assert f":{LINE}: " in str(error.value)


@pytest.mark.parametrize(("text", "kind"), FILES)
def test_a_file_that_is_no_ptx_of_ours_is_an_error(
    tmp_path: Path, text: str, kind: type[TranslationError]
) -> None:
    with pytest.raises(kind) as error:
        translate(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'some.ptx'}:1: ")


def test_the_command_says_what_is_wrong_and_writes_nothing(tmp_path: Path) -> None:
    source = tmp_path / "some.ptx"
    source.write_text(of_instruction("warp.dance;"))
    script = Path(__file__).parents[2] / "translate.py"
    command: list[str | Path] = [sys.executable, script, tmp_path / "out.cpp", source]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 1
    assert f"UnknownInstruction: {source}:{LINE}: unknown instruction: warp.dance" in ended.stderr
    assert list(tmp_path.glob("*.cpp")) == []
