"""Branches, calls and scopes of translated kernels."""

import ctypes
import struct

import pytest
from one_thread import OneThread
from ptx_snippets import HEAD

FUNCTIONS = """
.func (.param .b32 func_retval0) weighed(
    .param .align 8 .b8 weighed_0[16], .param .b32 weighed_1, .param .b64 weighed_2)
{
    .reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .pred %p;
    ld.param.b32 %r1, [weighed_0+8]; ld.param.b32 %r2, [weighed_1]; ld.param.b64 %rd1, [weighed_2];
    cvt.u32.u64 %r3, %rd1;
    setp.eq.u32 %p, %r2, 0;
    st.param.b32 [func_retval0], 77;
    @%p ret;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    st.param.b32 [func_retval0+0], %r4;
    ret;
}
.func (.param .align 8 .b8 func_retval0[16]) swapped(.param .align 8 .b8 swapped_0[16])
{
    .reg .b64 %rd<4>;
    mov.b64 %rd3, swapped_0;
    ld.param.v2.u64 {%rd1, %rd2}, [%rd3];
    st.param.v2.b64 [func_retval0], {%rd2, %rd1};
    ret;
}
.func noted(.param .b64 noted_0)
{
    .local .align 4 .b8 depot[4];
    .reg .b32 %r<3>; .reg .b64 %rd<3>;
    ld.param.b64 %rd1, [noted_0];
    ld.local.u32 %r1, [depot];
    st.local.u32 [depot], 1;
    ld.u32 %r2, [%rd1];
    add.s32 %r2, %r2, 1;
    st.v2.u32 [%rd1], {%r2, %r1};
    ret;
}
.func stopped() { trap; exit; }
.extern .func cudaGraphSetConditional
(
    .param .b64 cudaGraphSetConditional_param_0,
    .param .b32 cudaGraphSetConditional_param_1
)
;
"""
BODIES = {
    "calls": """
        ld.global.u32 %r1, [%rd1]; ld.global.u64 %rd3, [%rd1+8];
        { // callseq 0, 0
        .reg .b32 temp_param_reg;
        .param .align 8 .b8 param0[16];
        st.param.b64 [param0+0], 0;
        st.param.b64 [param0+8], 1000;
        .param .b32 param1;
        st.param.b32 [param1+0], %r1;
        .param .b64 param2;
        st.param.b64 [param2+0], %rd3;
        .param .b32 retval0;
        call.uni (retval0),
        weighed,
        (
        param0,
        param1,
        param2
        );
        ld.param.b32 %r2, [retval0+0];
        } // callseq 0
        st.global.u32 [%rd2], %r2;
        {
        .reg .b32 temp_param_reg;
        .param .align 8 .b8 param0[16];
        st.param.v2.b64 [param0], {%rd3, 5};
        .param .align 8 .b8 retval0[16];
        call (retval0), swapped, (param0);
        ld.param.v2.b64 {%rd4, %rd5}, [retval0];
        }
        st.global.v2.u64 [%rd2+8], {%rd4, %rd5};""",
    "guarded": """
        ld.global.u32 %r1, [%rd1]; setp.gt.s32 %p, %r1, 5;
        .param .b64 param0;
        st.param.b64 [param0], %rd2;
        @%p call noted, (param0);
        @!%p bra.uni $low;
        call noted, (param0);
    $low:
        call noted, (param0);
        setp.eq.s32 %p, %r1, 9;
        @%p exit;
        call noted, (param0);""",
    "table": """
        ld.global.u32 %r1, [%rd1]; mov.u32 %r2, 0;
    $again:
    $targets: .branchtargets $zero, $one, $two;
        brx.idx %r1, $targets;
    $zero: add.s32 %r2, %r2, 1; bra $end;
    $one: add.s32 %r2, %r2, 10; mov.u32 %r1, 0; bra.uni $again;
    $two: add.s32 %r2, %r2, 100; mov.u32 %r1, 1; bra $again;
    $end: st.global.u32 [%rd2], %r2;""",
    "scopes": """
        mov.u32 %r1, 1;
        { .reg .b32 %r1, x; mov.u32 %r1, 20; mov.u32 x, 300;
          { .reg .b64 x; mov.u64 x, 4000; st.global.u64 [%rd2], x; }
          st.global.v2.u32 [%rd2+8], {%r1, x}; }
        st.global.u32 [%rd2+16], %r1;""",
    "loop": """
        ld.global.u32 %r1, [%rd1]; mov.u32 %r2, 0; mov.u32 %r3, 1;
    $more:
        setp.eq.s32 %p, %r1, 0;
        @%p bra $done;
        mov.u32 %r4, %r3; add.s32 %r3, %r2, %r3; mov.u32 %r2, %r4; sub.s32 %r1, %r1, 1;
        bra.uni $more;
    $done: st.global.u32 [%rd2], %r2;""",
    "kept": """
        ld.global.u32 %r1, [%rd1]; setp.eq.s32 %p, %r1, 7;
        @%p mov.u32 %r2, 5;
        add.s32 %r3, %r2, 1;
        bar.sync 0;
        add.s32 %r3, %r3, %r2; st.global.u32 [%rd2], %r3;""",
    "chosen": """
        ld.global.u32 %r1, [%rd1]; setp.eq.s32 %p, %r1, 7;
        @%p mov.u32 %r2, 5;
        st.global.u32 [%rd2], %r2;""",
    "never": """
        ld.global.u32 %r1, [%rd1];
    $more:
        add.s32 %r2, %r2, 3; sub.s32 %r1, %r1, 1; setp.ne.s32 %p, %r1, 0; st.global.u32 [%rd2], %r2;
        @%p bra $more;""",
    "literals": """
        mov.u32 %r1, 0x1F; mov.u32 %r2, 010; mov.u32 %r3, 0b101; mov.u32 %r4, -3;
        st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r4};
        mov.u64 %rd3, -9223372036854775808; mov.b32 %r1, 0f3FC00000; mov.u32 %r2, 7U;
        st.global.u64 [%rd2+16], %rd3; st.global.v2.u32 [%rd2+24], {%r1, %r2};""",
    "condition": """
        ld.global.u64 %rd3, [%rd1]; ld.global.u32 %r1, [%rd1+8];
        {
        .param .b64 param0; st.param.b64 [param0+0], %rd3;
        .param .b32 param1; st.param.b32 [param1+0], %r1;
        call.uni cudaGraphSetConditional, (param0, param1);
        }""",
    "stops": "call stopped; st.global.u32 [%rd2], 1;",
}

MANY_PARAMS = """
.entry many(.param .b8 many_0, .param .u64 many_1, .param .u32 many_2,
    .param .align 16 .b8 many_3[8])
{
    .reg .b16 %h; .reg .b32 %r<3>; .reg .b64 %rd<3>;
    ld.param.s8 %h, [many_0]; ld.param.u64 %rd1, [many_1]; ld.param.u32 %r1, [many_2];
    ld.param.u64 %rd2, [many_3];
    st.global.u16 [%rd1], %h; st.global.u32 [%rd1+4], %r1; st.global.u64 [%rd1+8], %rd2;
    ret;
}
"""


def kernel(name: str, body: str) -> str:
    return (
        f".visible .entry {name}(.param .u64 {name}_0, .param .u64 .ptr .align 1 {name}_1)\n{{\n"
        ".reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<6>;\n"
        f"ld.param.u64 %rd1, [{name}_0]; ld.param.u64 %rd2, [{name}_1];\n{body}\nret;\n}}\n"
    )


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> OneThread:
    kernels = "".join(kernel(name, body) for name, body in BODIES.items())
    return OneThread(tmp_path_factory.mktemp("control"), HEAD + FUNCTIONS + kernels + MANY_PARAMS)


def test_calls_hand_over_structs_and_numbers(device: OneThread) -> None:
    found = struct.unpack("<IxxxxQQ", device.transform("calls", struct.pack("<QQ", 3, 40), 24))
    assert found == (3040, 5, 40)


def test_a_guarded_return_leaves_only_where_the_guard_holds(device: OneThread) -> None:
    assert device.transform("calls", struct.pack("<QQ", 0, 40), 4) == struct.pack("<I", 77)


@pytest.mark.parametrize(("given", "calls"), [(1, 2), (6, 4), (9, 3)])
def test_guards_decide_on_calls_and_ends(device: OneThread, given: int, calls: int) -> None:
    found = struct.unpack("<II", device.transform("guarded", struct.pack("<I", given), 8))
    # The depot is poisoned at each call.
    assert found == (calls, 0xA5A5A5A5)


@pytest.mark.parametrize(("given", "sum_of_targets"), [(0, 1), (1, 11), (2, 111)])
def test_an_index_chooses_a_target(device: OneThread, given: int, sum_of_targets: int) -> None:
    found = device.transform("table", struct.pack("<I", given), 4)
    assert found == struct.pack("<I", sum_of_targets)


def test_an_index_outside_its_targets_is_a_fault(device: OneThread) -> None:
    device.transform("table", struct.pack("<I", 3), 4)
    assert device.events()[-1].what == "trap"


def test_a_name_means_the_register_of_the_innermost_scope(device: OneThread) -> None:
    found = struct.unpack("<Q3I", device.transform("scopes", b"", 20))
    assert found == (4000, 20, 300, 1)


def test_registers_live_on_from_block_to_block(device: OneThread) -> None:
    assert device.transform("loop", struct.pack("<I", 30), 4) == struct.pack("<I", 832040)


@pytest.mark.parametrize(("given", "found"), [(7, 11), (8, 1)])
def test_a_guarded_assignment_may_not_happen(device: OneThread, given: int, found: int) -> None:
    assert device.transform("kept", struct.pack("<I", given), 4) == struct.pack("<I", found)


@pytest.mark.parametrize(("given", "found"), [(7, 5), (8, 0)])
def test_what_a_guard_left_unwritten_is_0(device: OneThread, given: int, found: int) -> None:
    assert device.transform("chosen", struct.pack("<I", given), 4) == struct.pack("<I", found)


def test_a_loop_of_one_block_keeps_its_registers(device: OneThread) -> None:
    assert device.transform("never", struct.pack("<I", 10), 4) == struct.pack("<I", 30)


def test_numbers_are_read_in_every_base(device: OneThread) -> None:
    found = struct.unpack("<3IiqfI", device.transform("literals", b"", 32))
    assert found == (31, 8, 5, -3, -(1 << 63), 1.5, 7)


def test_parameters_lie_where_their_alignment_puts_them(device: OneThread) -> None:
    target = ctypes.create_string_buffer(16)
    place = ctypes.addressof(target)
    device.launch("many", struct.pack("<b7xQI12xQ", -2, place, 5, 6))
    assert struct.unpack("<hxxIQ", target.raw) == (-2, 5, 6)


def test_a_condition_is_set_by_handle_and_value(device: OneThread) -> None:
    device.transform("condition", struct.pack("<QI", 1 << 40, 3), 0)
    assert [(event.what, event.at, event.bytes) for event in device.events()][2:] == [
        ("condition", 1 << 40, 3)
    ]


def test_what_follows_a_trap_in_a_called_function_does_not_run(device: OneThread) -> None:
    assert device.transform("stops", b"", 4) == bytes(4)
    assert [event.what for event in device.events()] == ["trap"]
