"""What translated kernels tell the machine of their accesses, barriers and costs."""

import struct

import pytest
from one_thread import Event, OneThread
from ptx_snippets import HEAD

FILES = """
.file 1 "/src/csrc/block/block.h"
.file 2 "/src/csrc/search.h"
.file 3 "/usr/local/cuda/include/atomics.hpp"
"""
ATOMIC_ORDERS = ("relaxed", "acquire.cta", "release", "relaxed.cta", "acquire", "acq_rel")
POINTERS = ".param .u64 {0}_0, .param .u64 {0}_1"
LOADED = """
.reg .pred %p, %q; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f64 %fd<4>;
ld.param.u64 %rd1, [{0}_0];
ld.param.u64 %rd2, [{0}_1];
"""
BODIES = {
    "ordered": """
        ld.u32 %r1, [%rd1];
        ld.weak.global.u32 %r1, [%rd1];
        ld.volatile.u32 %r1, [%rd1];
        ld.relaxed.gpu.global.L1::no_allocate.u32 %r1, [%rd1];
        ld.acquire.cta.u32 %r1, [%rd1];
        ld.global.nc.L2::128B.u32 %r1, [%rd1];
        st.u32 [%rd2], %r1;
        st.volatile.global.u32 [%rd2], %r1;
        st.relaxed.sys.u32 [%rd2], %r1;
        st.release.gpu.global.u32 [%rd2], %r1;
        atom.add.u32 %r2, [%rd2], 1;
        atom.acquire.cta.exch.b32 %r2, [%rd2], 1;
        red.release.gpu.global.add.u32 [%rd2], 1;
        atom.global.cta.max.s32 %r2, [%rd2], 9;
        atom.add.acquire.gpu.s32 %r2, [%rd2], 1;
        atom.acq_rel.sys.global.cas.b32 %r2, [%rd2], 1, 2;
        membar.cta; fence.acq_rel.gpu; fence.sc.sys;
        bar.sync 0; barrier.sync 0; barrier.cta.sync.aligned 0;""",
    "vectors": """
        ld.global.v4.u32 {{%r1, %r2, %r3, _}}, [%rd1+16];
        st.global.v2.u64 [%rd2], {{%rd1, %rd1}};
        ld.v2.u64 {{%rd1, %rd3}}, [%rd1+-0];
        st.v4.u8 [%rd2+16], {{%r1, %r2, %r3, 255}};
        st.u64 [%rd2+24], %rd3;""",
    "extended": """
        ld.global.s8 %r1, [%rd1]; st.global.u32 [%rd2], %r1;
        ld.global.u8 %r1, [%rd1]; st.global.u32 [%rd2+4], %r1;
        ld.global.s16 %rd3, [%rd1]; st.global.u64 [%rd2+8], %rd3;
        ld.global.u16 %h1, [%rd1]; st.global.b16 [%rd2+16], %h1;
        ld.global.b64 %fd1, [%rd1]; st.global.f64 [%rd2+24], %fd1;""",
    "windows": """
        mov.u32 %r1, fixed; st.shared.u32 [%r1+4], 7;
        mov.u64 %rd3, dynamic; cvta.shared.u64 %rd4, %rd3; st.u32 [%rd4+4], 9;
        cvta.to.shared.u64 %rd5, %rd4; ld.shared.u32 %r3, [%rd5+4];
        atom.shared.max.s32 %r4, [dynamic+4], 11; ld.volatile.shared.u32 %r5, [dynamic+4];
        ld.shared.u32 %r2, [fixed+4]; add.u32 %r6, %r3, %r5;
        st.global.v2.u32 [%rd2], {{%r2, %r6}};""",
    "constants": """
        ld.const.u32 %r1, [table+8]; mov.u64 %rd3, words; cvta.global.u64 %rd4, %rd3;
        ld.u64 %rd5, [%rd4]; ld.u8 %r2, [%rd5+2]; ld.global.f64 %fd1, [halves+8];
        st.global.u32 [%rd2], %r1; st.global.u32 [%rd2+4], %r2; st.global.f64 [%rd2+8], %fd1;
        ld.global.u32 %r3, [at]; st.global.u32 [%rd2+16], %r3;""",
    "depot": """
        .local .align 8 .b8 __local_depot0[16];
        mov.u64 %rd3, __local_depot0; ld.local.u64 %rd4, [%rd3+8]; st.global.u64 [%rd2], %rd4;
        st.local.v2.u32 [%rd3], {{1, 2}}; cvta.local.u64 %rd5, %rd3; ld.u64 %rd6, [%rd5];
        st.global.u64 [%rd2+8], %rd6;""",
    "special": """
        mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %nctaid.x;
        st.global.v4.u32 [%rd2], {{%r1, %r2, %r3, %r4}};
        mov.u32 %r1, %tid.y; mov.u32 %r2, %ntid.z; mov.u32 %r3, %laneid; mov.u32 %r4, WARP_SZ;
        st.global.v4.u32 [%rd2+16], {{%r1, %r2, %r3, %r4}};""",
    "placed": """
        .loc 2 30 5
        ld.u32 %r1, [%rd1];
        .loc 1 27 7, function_name $L__info_string0, inlined_at 2 30 5
        ld.u32 %r1, [%rd1];
        .loc 3 99 1, function_name $L__info_string1, inlined_at 1 27 7
        atom.add.u32 %r1, [%rd2], 1;
        .loc 2 0 5
        ld.u32 %r1, [%rd1];
        .loc 3 50 1, function_name $L__info_string0+4, inlined_at 3 60 1
        .loc 2 44 5
        bar.sync 0;""",
    "costly": """
        ld.u32 %r1, [%rd1]; .local .b8 depot[4]; mov.u64 %rd3, depot; st.local.u32 [%rd3], %r1;
        cvt.rn.f64.u32 %fd1, %r1;
        $again: add.rn.f64 %fd1, %fd1, %fd1; sub.s32 %r1, %r1, 1; setp.ne.s32 %p, %r1, 0;
        @%p bra $again;
        bar.sync 0; add.s32 %r1, %r1, 1;""",
    "trapped": """
        ld.global.u32 %r1, [%rd1]; setp.eq.s32 %p, %r1, 0; @%p trap; st.global.u32 [%rd2], 1;""",
    "atomics": """
        ld.global.s64 %rd3, [%rd1];
        atom.global.min.s64 %rd4, [%rd2], %rd3; st.global.u64 [%rd2+8], %rd4;
        red.max.u64 [%rd2+16], %rd3; red.or.b64 [%rd2+24], %rd3; red.and.b64 [%rd2+32], %rd3;
        red.xor.b64 [%rd2+40], %rd3; atom.exch.b64 _, [%rd2+48], %rd3;
        atom.cas.b64 %rd4, [%rd2+56], 0, %rd3; atom.cas.b64 %rd4, [%rd2+64], 1, %rd3;
        atom.add.u64 %rd4, [%rd2+72], %rd3;""",
}
VARIABLES = """
.extern .shared .align 16 .b8 dynamic[];
.shared .align 4 .b8 fixed[12];
.global .align 4 .u32 at[1] = {17};
.const .align 4 .u32 table[4] = {1, 2, 0xFFFFFFFF};
.global .align 1 .b8 letters[3] = {65, 66, 67};
.global .align 8 .u64 words[1] = {generic(letters)};
.visible .global .align 8 .f64 halves[2] = {0d3FE0000000000000, 0dBFE0000000000000};
"""


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> OneThread:
    kernels = [
        f".visible .entry {name}({POINTERS}) .maxntid 256, 1, 1 {{ {LOADED}{body}\nret; }}\n"
        for name, body in BODIES.items()
    ]
    text = "".join(kernels)
    for name in BODIES:
        text = text.replace(f"entry {name}({POINTERS})", f"entry {name}({POINTERS.format(name)})")
        text = text.replace("[{0}_0]", f"[{name}_0]", 1).replace("[{0}_1]", f"[{name}_1]", 1)
    text = text.replace("{{", "{").replace("}}", "}")
    folder = tmp_path_factory.mktemp("memory")
    return OneThread(folder, HEAD + VARIABLES + text + FILES)


def told(device: OneThread) -> list[tuple[str, str]]:
    return [(event.what, event.order) for event in device.events()]


def test_every_access_is_announced_with_its_order_and_scope(device: OneThread) -> None:
    device.transform("ordered", bytes(16), 16)
    # As nvcc and the CUDA library write them: the modifiers come in any order.
    orders = ["weak", "weak", "relaxed", "relaxed", "acquire.cta", "weak"]
    reads = [("read", order) for order in orders]
    writes = [("write", order) for order in ("weak", "relaxed", "relaxed", "release")]
    updates = [("update", order) for order in ATOMIC_ORDERS]
    fences = [("fence", order) for order in ("acq_rel.cta", "acq_rel", "acq_rel")]
    barriers = [("barrier", "weak")] * 3
    assert told(device) == reads + writes + updates + fences + barriers


def test_a_vector_is_announced_once_as_a_whole(device: OneThread) -> None:
    given = struct.pack("<2Q4I", 5, 6, 1, 2, 3, 4)
    found = device.transform("vectors", given, 32)
    assert [(event.what, event.bytes) for event in device.events()] == [
        ("read", 16), ("write", 16), ("read", 16), ("write", 4), ("write", 8),
    ]  # fmt: skip
    assert found[16:20] == bytes((1, 2, 3, 255))
    assert struct.unpack("<Q", found[24:]) == (6,)


def test_loads_fill_wider_registers_with_the_sign_or_zeros(device: OneThread) -> None:
    given = struct.pack("<d", -0.7)[::-1][:2] + bytes(6)
    given = b"\xfe\xff" + given[2:]
    found = struct.unpack("<iIqHxxxxxx8s", device.transform("extended", given, 32))
    assert found == (-2, 254, -2, 0xFFFE, given)


def test_shared_memory_is_found_by_its_window_and_by_generic_addresses(device: OneThread) -> None:
    assert struct.unpack("<2I", device.transform("windows", b"", 8)) == (7, 9 + 11)
    assert {event.what for event in device.events()} == {"read", "write", "update"}


def test_tables_of_the_file_hold_their_values(device: OneThread) -> None:
    found = struct.unpack("<2IdI", device.transform("constants", b"", 20))
    assert found == (0xFFFFFFFF, 67, -0.5, 17)


def test_local_memory_is_poisoned_and_not_announced(device: OneThread) -> None:
    poison, pair = struct.unpack("<2Q", device.transform("depot", b"", 16))
    assert (poison, pair) == (0xA5A5A5A5A5A5A5A5, 0x200000001)
    assert [(event.what, event.bytes) for event in device.events()] == [
        ("write", 8), ("read", 8), ("write", 8),
    ]  # fmt: skip


def test_special_registers_come_from_the_thread(device: OneThread) -> None:
    found = struct.unpack("<8I", device.transform("special", b"", 32))
    assert found == (0, 1, 3, 7, 0, 1, 0, 32)


def test_sites_are_the_innermost_lines_of_ours(device: OneThread) -> None:
    device.transform("placed", bytes(16), 16)
    places = [event.place for event in device.events()]
    assert places == ["search.h:30", "block.h:27", "block.h:27", "block.h:27", "search.h:44"]


def test_instructions_are_counted_by_what_they_cost(device: OneThread) -> None:
    device.transform("costly", struct.pack("<I", 5), 16)
    # ld.param twice, mov; sub, setp, bra five times; add, ret.
    assert device.executed() == [3 + 3 * 5 + 2, 1 + 5, 1]


def test_a_trap_ends_the_kernel(device: OneThread) -> None:
    assert device.transform("trapped", struct.pack("<I", 1), 4) == struct.pack("<I", 1)
    assert device.transform("trapped", struct.pack("<I", 0), 4) == bytes(4)
    assert [event.what for event in device.events()] == ["read", "trap"]


def test_atomics_combine_what_is_there_with_what_comes(device: OneThread) -> None:
    found = struct.unpack("<10q", device.transform("atomics", struct.pack("<q", -3), 80))
    assert found == (-3, 0, -3, -3, 0, -3, -3, -3, 0, -3)
    assert all(event.bytes == 8 for event in device.events())


def test_events_say_where_in_memory_they_are(device: OneThread) -> None:
    device.transform("vectors", bytes(64), 32)
    first: Event = device.events()[0]
    assert first.at == device.events()[2].at + 16
