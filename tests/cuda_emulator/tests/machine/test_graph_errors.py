"""What the runtime refuses of streams, captures and graphs, with its codes; and asked failures."""

import ctypes
import threading
from collections.abc import Callable

import pytest
import torch
from cuda_calls import (
    ALLOCATION,
    HOST,
    IF,
    KERNEL,
    NON_BLOCKING,
    WHILE,
    Code,
    CudaCalls,
    CudaError,
    Grid,
    Mode,
)
from emulator import Emulator

pytestmark = pytest.mark.emulated

BLOCKING = 0
INVALIDATED = 2
NOWHERE = ctypes.c_void_p(12345)


@pytest.fixture
def cuda(emulator: Emulator) -> CudaCalls:
    memory = torch.zeros(8, dtype=torch.int32, device=emulator.device)
    return CudaCalls(emulator, memory)


def refused(code: Code, act: Callable[..., object], *args: object, **named: object) -> None:
    with pytest.raises(CudaError) as error:
        act(*args, **named)
    assert error.value.code == code, error.value


def allocate(cuda: CudaCalls) -> int:
    return cuda.make("cudaMalloc", ctypes.c_size_t(64))


def copy_back(cuda: CudaCalls) -> None:
    host = ctypes.c_int()
    source = ctypes.c_void_p(cuda.memory.data_ptr())
    cuda.call("cudaMemcpy", ctypes.byref(host), source, ctypes.c_size_t(4), 2)


UNSAFE: dict[str, Callable[[CudaCalls], object]] = {
    "cudaMalloc": allocate,
    "cudaFree": lambda cuda: cuda.call("cudaFree", None),
    "cudaMemcpy": copy_back,
}


@pytest.mark.parametrize("name", UNSAFE)
@pytest.mark.parametrize("mode", [Mode.GLOBAL, Mode.THREAD_LOCAL])
def test_unsafe_calls_spoil_a_capture(cuda: CudaCalls, name: str, mode: Mode) -> None:
    stream = cuda.stream()
    cuda.begin(stream, mode)
    refused(Code.CAPTURE_UNSUPPORTED, UNSAFE[name], cuda)
    assert cuda.status(stream) == INVALIDATED
    refused(Code.CAPTURE_INVALIDATED, cuda.launch, "appends_digit", stream)
    refused(Code.CAPTURE_INVALIDATED, cuda.end, stream)
    assert cuda.status(stream) == 0
    UNSAFE[name](cuda)


@pytest.mark.parametrize("name", UNSAFE)
def test_a_relaxed_capture_allows_them(cuda: CudaCalls, name: str) -> None:
    stream = cuda.stream()
    cuda.begin(stream, Mode.RELAXED)
    UNSAFE[name](cuda)
    cuda.end(stream)


def test_a_relaxed_thread_may_make_them(cuda: CudaCalls) -> None:
    stream = cuda.stream()
    cuda.begin(stream, Mode.GLOBAL)
    mode = ctypes.c_int(Mode.RELAXED)
    cuda.call("cudaThreadExchangeStreamCaptureMode", ctypes.byref(mode))
    allocate(cuda)
    cuda.call("cudaThreadExchangeStreamCaptureMode", ctypes.byref(mode))
    assert mode.value == Mode.RELAXED
    refused(Code.CAPTURE_UNSUPPORTED, allocate, cuda)
    refused(Code.CAPTURE_INVALIDATED, cuda.end, stream)


@pytest.mark.parametrize(("mode", "forbids"), [(Mode.GLOBAL, True), (Mode.THREAD_LOCAL, False)])
def test_a_global_capture_forbids_them_to_other_threads(
    cuda: CudaCalls, mode: Mode, forbids: bool
) -> None:
    stream = cuda.stream()
    cuda.begin(stream, mode)
    codes: list[int] = []

    def elsewhere() -> None:
        try:
            allocate(cuda)
        except CudaError as error:
            codes.append(error.code)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert codes == [Code.CAPTURE_UNSUPPORTED] * forbids
    assert cuda.status(stream) == (INVALIDATED if forbids else 1)
    if forbids:
        refused(Code.CAPTURE_INVALIDATED, cuda.end, stream)
    else:
        cuda.end(stream)


def test_another_thread_cannot_end_a_capture(cuda: CudaCalls) -> None:
    stream = cuda.stream()
    cuda.begin(stream)
    thread = threading.Thread(target=refused, args=(Code.WRONG_THREAD, cuda.end, stream))
    thread.start()
    thread.join()
    cuda.end(stream)


def test_torch_gets_no_memory_while_a_stream_captures(cuda: CudaCalls, emulator: Emulator) -> None:
    stream = cuda.stream()
    cuda.begin(stream)
    with pytest.raises(torch.AcceleratorError, match="not permitted when stream is capturing"):
        torch.zeros(3, device=emulator.device)
    refused(Code.CAPTURE_INVALIDATED, cuda.end, stream)
    torch.zeros(3, device=emulator.device)


@pytest.mark.parametrize("call", ["cudaStreamSynchronize", "cudaStreamDestroy"])
def test_a_capturing_stream_is_not_waited_for_nor_destroyed(cuda: CudaCalls, call: str) -> None:
    stream = cuda.stream()
    cuda.call("cudaStreamSynchronize", ctypes.c_void_p(stream))
    cuda.begin(stream, Mode.RELAXED)
    refused(Code.CAPTURE_UNSUPPORTED, cuda.call, call, ctypes.c_void_p(stream))
    refused(Code.CAPTURE_INVALIDATED, cuda.end, stream)
    cuda.call(call, ctypes.c_void_p(stream))


def test_the_device_is_not_waited_for_while_a_stream_captures(cuda: CudaCalls) -> None:
    stream = cuda.stream()
    cuda.call("cudaDeviceSynchronize")
    cuda.begin(stream, Mode.RELAXED)
    refused(Code.CAPTURE_UNSUPPORTED, cuda.call, "cudaDeviceSynchronize")
    refused(Code.CAPTURE_INVALIDATED, cuda.end, stream)


@pytest.mark.parametrize(("flags", "waits"), [(BLOCKING, True), (NON_BLOCKING, False)])
def test_the_legacy_stream_may_not_wait_for_a_capture(
    cuda: CudaCalls, flags: int, waits: bool
) -> None:
    stream = cuda.stream(flags)
    cuda.begin(stream)
    if not waits:
        cuda.launch("appends_digit", value=1)
        assert cuda.status(0) == 0
        cuda.end(stream)
        assert cuda.memory[0] == 1
        return
    refused(Code.CAPTURE_IMPLICIT, cuda.status, 0)
    assert cuda.status(stream) == 1
    refused(Code.CAPTURE_IMPLICIT, cuda.launch, "appends_digit", value=1)
    refused(Code.CAPTURE_INVALIDATED, cuda.end, stream)
    assert cuda.memory[0] == 0


def test_a_capture_begins_once_and_ends_once(cuda: CudaCalls) -> None:
    stream = cuda.stream()
    refused(Code.ILLEGAL_STATE, cuda.end, stream)
    cuda.begin(stream)
    refused(Code.ILLEGAL_STATE, cuda.begin, stream)
    cuda.end(stream)
    refused(Code.CAPTURE_UNSUPPORTED, cuda.begin, 0)
    cuda.destroy(stream=stream)
    refused(Code.INVALID_HANDLE, cuda.begin, stream)
    refused(Code.INVALID_HANDLE, cuda.launch, "appends_digit", stream)


def test_a_graph_is_not_launched_in_a_capture(cuda: CudaCalls) -> None:
    stream = cuda.stream()
    executable = cuda.instantiate(cuda.graph())
    cuda.begin(stream)
    refused(Code.CAPTURE_UNSUPPORTED, cuda.launch_graph, executable, stream)
    refused(Code.CAPTURE_INVALIDATED, cuda.end, stream)


def test_a_graph_that_is_captured_into_is_neither_instantiated_nor_destroyed(
    cuda: CudaCalls,
) -> None:
    graph, stream = cuda.graph(), cuda.stream()
    _, [body] = cuda.add_conditional(graph, cuda.condition(graph), WHILE)
    for target in (graph, body):
        with cuda.capturing_to(stream, target):
            refused(Code.INVALID_VALUE, cuda.instantiate, graph)
            refused(Code.INVALID_VALUE, cuda.destroy, graph=target)
            other = cuda.stream()
            with pytest.raises(CudaError), cuda.capturing_to(other, target):
                pass
    cuda.instantiate(graph)


def test_a_refused_launch_leaves_a_capture_as_it_was(cuda: CudaCalls) -> None:
    stream = cuda.stream()
    cuda.begin(stream)
    refused(
        Code.INVALID_CONFIGURATION, cuda.launch, "appends_digit", stream, 1, grid=Grid(threads=257)
    )
    cuda.launch("appends_digit", stream, 2)
    cuda.launch_graph(cuda.instantiate(cuda.end(stream)))
    assert cuda.memory[0] == 2


@pytest.mark.parametrize("in_body", [False, True])
@pytest.mark.parametrize("kind", [HOST, ALLOCATION])
def test_a_graph_may_not_have_such_a_node(cuda: CudaCalls, kind: int, in_body: bool) -> None:
    graph = cuda.graph()
    if in_body:
        _, [graph] = cuda.add_conditional(graph, cuda.condition(graph), WHILE)
    refused(Code.NOT_SUPPORTED, cuda.add_node, graph, kind)


def test_nothing_is_allocated_by_a_graph(cuda: CudaCalls) -> None:
    stream = cuda.stream()
    allocation = ("cudaMallocAsync", ctypes.c_size_t(64), ctypes.c_void_p(stream))
    cuda.begin(stream)
    refused(Code.CAPTURE_UNSUPPORTED, cuda.make, *allocation)
    refused(Code.CAPTURE_INVALIDATED, cuda.end, stream)
    cuda.make(*allocation)


def test_a_condition_is_of_a_node_in_its_graph(cuda: CudaCalls) -> None:
    graph, other = cuda.graph(), cuda.graph()
    condition = cuda.condition(graph)
    refused(Code.INVALID_VALUE, cuda.add_conditional, other, condition, WHILE)
    refused(Code.INVALID_VALUE, cuda.add_conditional, graph, 7, WHILE)
    refused(Code.INVALID_VALUE, cuda.add_conditional, graph, condition, WHILE, 2)
    refused(Code.INVALID_VALUE, cuda.add_conditional, graph, condition, IF, 3)
    refused(Code.NOT_SUPPORTED, cuda.add_conditional, graph, condition, 2)
    _, [body] = cuda.add_conditional(graph, condition, WHILE)
    refused(Code.INVALID_VALUE, cuda.add_conditional, graph, condition, WHILE)
    inner, own = cuda.condition(graph), cuda.condition(body)
    cuda.add_conditional(body, inner, IF)
    refused(Code.INVALID_VALUE, cuda.add_conditional, graph, own, IF)
    refused(Code.INVALID_VALUE, cuda.instantiate, graph)  # nobody reads the last one
    cuda.add_conditional(body, own, IF)
    cuda.instantiate(graph)
    refused(Code.INVALID_VALUE, cuda.instantiate, body)
    refused(Code.INVALID_VALUE, cuda.destroy, graph=body)


def test_a_graph_with_conditions_is_instantiated_once_at_a_time(cuda: CudaCalls) -> None:
    graph = cuda.graph()
    cuda.add_conditional(graph, cuda.condition(graph), WHILE)
    executable = cuda.instantiate(graph)
    refused(Code.INVALID_VALUE, cuda.instantiate, graph)
    cuda.destroy(executable=executable)
    cuda.instantiate(graph)


def test_nodes_depend_on_nodes_of_their_graph(cuda: CudaCalls) -> None:
    graph, other = cuda.graph(), cuda.graph()
    node, foreign = (cuda.add_kernel(each, "appends_digit") for each in (graph, other))
    for behind in ([foreign], [node, node], [12345]):
        refused(Code.INVALID_VALUE, cuda.add_kernel, graph, "appends_digit", behind=behind)
    cuda.destroy(graph=other)
    refused(Code.INVALID_VALUE, cuda.add_kernel, other, "appends_digit")
    refused(Code.INVALID_VALUE, cuda.instantiate, other)


def test_nodes_are_checked_when_they_are_added(cuda: CudaCalls) -> None:
    graph, start = cuda.graph(), cuda.memory.data_ptr()
    refused(
        Code.INVALID_CONFIGURATION, cuda.add_kernel, graph, "appends_digit", grid=Grid(threads=257)
    )
    refused(Code.INVALID_VALUE, cuda.add_memset, graph, start + (1 << 20), 1, 1)
    refused(Code.INVALID_DIRECTION, cuda.add_copy, graph, start, start, 4, 1)
    refused(Code.INVALID_VALUE, cuda.add_node, graph, KERNEL)  # without a parameter
    count = ctypes.c_size_t()
    cuda.call("cudaGraphGetNodes", ctypes.c_void_p(graph), None, ctypes.byref(count))
    assert count.value == 0


def build_and_launch(cuda: CudaCalls) -> None:
    """Every call that a builder of loops makes, once or more."""
    stream, graph = cuda.stream(), cuda.graph()
    condition = cuda.condition(graph, default=1)
    fill = cuda.add_memset(graph, cuda.memory.data_ptr(), 0, 8)
    kernel = cuda.add_kernel(graph, "appends_digit", value=1, behind=[fill])
    cuda.add_copy(graph, cuda.memory.data_ptr() + 8, cuda.memory.data_ptr(), 4)
    _, [body] = cuda.add_conditional(graph, condition, WHILE, behind=[kernel])
    with cuda.capturing_to(stream, body):
        cuda.launch("counts_down", stream, condition=condition)
    cuda.begin(stream)
    cuda.destroy(graph=cuda.end(stream))
    executable = cuda.instantiate(graph)
    cuda.launch_graph(executable, stream)
    cuda.call("cudaStreamSynchronize", ctypes.c_void_p(stream))
    cuda.destroy(stream=stream, graph=graph, executable=executable)


CALLS = [
    "cudaStreamCreateWithFlags",
    "cudaGraphCreate",
    "cudaGraphConditionalHandleCreate",
    "cudaGraphAddMemsetNode",
    "cudaGraphAddKernelNode",
    "cudaGraphAddMemcpyNode1D",
    "cudaGraphAddNode",
    "cudaStreamBeginCaptureToGraph",
    "cudaLaunchKernel",
    "cudaStreamEndCapture",
    "cudaStreamBeginCapture",
    "cudaGraphInstantiate",
    "cudaGraphLaunch",
    "cudaStreamSynchronize",
    "cudaStreamDestroy",
    "cudaGraphDestroy",
    "cudaGraphExecDestroy",
]


@pytest.mark.parametrize("call", CALLS)
def test_every_call_can_be_told_to_fail(cuda: CudaCalls, emulator: Emulator, call: str) -> None:
    build_and_launch(cuda)
    emulator.fail_call(call, Code.OUT_OF_MEMORY)
    with pytest.raises(CudaError, match=f"2: {call}, told to fail"):
        build_and_launch(cuda)


def test_a_condition_without_memory_is_refused(cuda: CudaCalls, emulator: Emulator) -> None:
    graph = cuda.graph()
    emulator.fail_allocation()
    refused(Code.OUT_OF_MEMORY, cuda.condition, graph)
    cuda.condition(graph)


def test_a_broken_device_refuses_every_call(cuda: CudaCalls, emulator: Emulator) -> None:
    emulator.fail_for_good("the device has fallen off the bus")
    with pytest.raises(CudaError, match="719: the device has fallen off the bus"):
        cuda.graph()
