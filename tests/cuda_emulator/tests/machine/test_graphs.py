"""Graphs of kernels, fills, copies and conditions: in which order what runs, and how often."""

import ctypes

import pytest
import torch
from cuda_calls import IF, WHILE, Code, CudaCalls, CudaError, Grid
from emulator import Emulator, Settings

pytestmark = pytest.mark.emulated

HOSTILE = [Settings(seed=seed, mean_slice=3, delays_stores=True) for seed in (1, 2, 3)]
ALL = pytest.mark.parametrize("settings", [Settings(), *HOSTILE])
TWO = Grid(blocks=2)


@pytest.fixture
def cuda(emulator: Emulator) -> CudaCalls:
    memory = torch.zeros(8, dtype=torch.int32, device=emulator.device)
    return CudaCalls(emulator, memory)


def numbers(cuda: CudaCalls) -> list[int]:
    found: list[int] = cuda.memory.tolist()
    return found


def set_counter(cuda: CudaCalls, count: int) -> None:
    cuda.memory[1] = count


def digits(cuda: CudaCalls, graph: int, *values: int, behind: int = 0) -> int:
    """Nodes one behind the other, each of which appends its digit; returns the last."""
    for value in values:
        nodes = [behind] if behind else []
        behind = cuda.add_kernel(graph, "appends_digit", value=value, behind=nodes)
    return behind


def test_a_captured_launch_runs_when_its_graph_does(cuda: CudaCalls, emulator: Emulator) -> None:
    stream = cuda.stream()
    cuda.begin(stream)
    assert cuda.status(stream) == 1
    for value in (1, 2, 3):
        cuda.launch("appends_digit", stream, value)
    graph = cuda.end(stream)
    assert (cuda.status(stream), numbers(cuda)[0], emulator.launches) == (0, 0, 0)
    executable = cuda.instantiate(graph)
    cuda.destroy(graph=graph)
    for _ in range(2):
        cuda.launch_graph(executable, stream)
    assert numbers(cuda)[0] == 123123
    counted = (emulator.launches, emulator.host_launches, emulator.graph_launches)
    assert counted == (6, 0, 2)


def test_an_executable_graph_is_the_graph_as_it_was(cuda: CudaCalls) -> None:
    graph = cuda.graph()
    last = digits(cuda, graph, 1)
    executable = cuda.instantiate(graph)
    digits(cuda, graph, 2, behind=last)
    cuda.launch_graph(executable)
    assert numbers(cuda)[0] == 1


@ALL
def test_nodes_run_behind_what_they_depend_on(
    cuda: CudaCalls, emulator: Emulator, settings: Settings
) -> None:
    emulator.restart(settings)
    graph = cuda.graph()
    digits(cuda, graph, 1, 2, 3, 4)
    cuda.launch_graph(cuda.instantiate(graph))
    assert numbers(cuda)[0] == 1234


def test_nodes_that_nothing_orders_run_in_any_order(cuda: CudaCalls, emulator: Emulator) -> None:
    graph = cuda.graph()
    digits(cuda, graph, 1)
    digits(cuda, graph, 2)
    executable = cuda.instantiate(graph)
    found = set()
    for seed in range(1, 9):
        emulator.restart(Settings(seed=seed))
        cuda.memory.zero_()
        cuda.launch_graph(executable)
        found.add(numbers(cuda)[0])
    assert found == {12, 21}


def test_memory_is_set_and_copied_in_a_graph(cuda: CudaCalls) -> None:
    graph = cuda.graph()
    start = cuda.memory.data_ptr()
    fill = cuda.add_memset(graph, start + 16, 7, 2)
    digits(cuda, graph, 1, behind=fill)
    stream = cuda.stream()
    cuda.begin(stream)
    size = ctypes.c_size_t(4)
    pointers = (ctypes.c_void_p(start + 24), ctypes.c_void_p(start))
    cuda.call("cudaMemcpyAsync", *pointers, size, 3, ctypes.c_void_p(stream))
    cuda.call("cudaMemsetAsync", ctypes.c_void_p(start), 1, size, ctypes.c_void_p(stream))
    captured = cuda.end(stream)
    assert numbers(cuda) == [0] * 8
    for each in (graph, captured):
        cuda.launch_graph(cuda.instantiate(each))
    assert numbers(cuda) == [0x01010101, 0, 0, 0, 7, 7, 1, 0]


@ALL
@pytest.mark.parametrize("turns", [1, 4])
def test_a_while_node_runs_its_body_until_the_condition_is_0(
    cuda: CudaCalls, emulator: Emulator, settings: Settings, turns: int
) -> None:
    emulator.restart(settings)
    graph = cuda.graph()
    condition = cuda.condition(graph, default=1)
    first = digits(cuda, graph, 1)
    loop, [body] = cuda.add_conditional(graph, condition, WHILE, behind=[first])
    digits(cuda, graph, 9, behind=loop)
    stream = cuda.stream()
    with cuda.capturing_to(stream, body):
        cuda.launch("appends_digit", stream, 2)
        cuda.launch("counts_down", stream, condition=condition)
    executable = cuda.instantiate(graph)
    for _ in range(2):  # the condition has its default at each launch
        cuda.memory.zero_()
        set_counter(cuda, turns)
        cuda.launch_graph(executable)
        assert numbers(cuda)[0] == int("1" + "2" * turns + "9")


def test_a_while_node_whose_default_is_0_runs_nothing(cuda: CudaCalls) -> None:
    graph = cuda.graph()
    _, [body] = cuda.add_conditional(graph, cuda.condition(graph, default=0), WHILE)
    digits(cuda, body, 1)
    cuda.launch_graph(cuda.instantiate(graph))
    assert numbers(cuda)[0] == 0


@pytest.mark.parametrize(("value", "found"), [(0, 139), (1, 129), (5, 129)])
def test_an_if_node_chooses_a_body(cuda: CudaCalls, value: int, found: int) -> None:
    graph = cuda.graph()
    condition = cuda.condition(graph, flags=0)
    first = digits(cuda, graph, 1)
    choice = cuda.add_kernel(
        graph, "sets_condition", value=value, condition=condition, behind=[first]
    )
    node, bodies = cuda.add_conditional(graph, condition, IF, 2, [choice])
    for body, digit in zip(bodies, (2, 3), strict=True):
        digits(cuda, body, digit)
    digits(cuda, graph, 9, behind=node)
    cuda.launch_graph(cuda.instantiate(graph))
    assert numbers(cuda)[0] == found


def nested(cuda: CudaCalls, *, sets_again: bool) -> int:
    """Two loops: the outer one runs memory[1] times; the inner body once in each turn."""
    graph = cuda.graph()
    outer = cuda.condition(graph, default=1)
    inner = cuda.condition(graph, default=1)
    _, [body] = cuda.add_conditional(graph, outer, WHILE)
    begin = digits(cuda, body, 1)
    if sets_again:
        begin = cuda.add_kernel(body, "sets_condition", value=1, condition=inner, behind=[begin])
    loop, [inner_body] = cuda.add_conditional(body, inner, WHILE, behind=[begin])
    last = digits(cuda, inner_body, 2)
    cuda.add_kernel(inner_body, "sets_condition", value=0, condition=inner, behind=[last])
    cuda.add_kernel(body, "counts_down", condition=outer, behind=[loop])
    return cuda.instantiate(graph)


def test_loops_are_nested(cuda: CudaCalls) -> None:
    executable = nested(cuda, sets_again=True)
    set_counter(cuda, 3)
    cuda.launch_graph(executable)
    assert numbers(cuda)[0] == 121212


def test_a_default_comes_once_a_launch_and_not_once_a_turn(cuda: CudaCalls) -> None:
    executable = nested(cuda, sets_again=False)
    set_counter(cuda, 3)
    cuda.launch_graph(executable)
    assert numbers(cuda)[0] == 1211


def test_a_graph_is_built_while_its_stream_captures(cuda: CudaCalls) -> None:
    """A conditional node put into a capture: asked for its graph, it is given its next place."""
    stream, other = cuda.stream(), cuda.stream()
    cuda.begin(stream)
    cuda.launch("appends_digit", stream, 1)
    status, identity, count = ctypes.c_int(), ctypes.c_ulonglong(), ctypes.c_size_t()
    graph, nodes = ctypes.c_void_p(), ctypes.POINTER(ctypes.c_void_p)()
    cuda.call(
        "cudaStreamGetCaptureInfo",
        *(ctypes.c_void_p(stream), ctypes.byref(status), ctypes.byref(identity)),
        *(ctypes.byref(graph), ctypes.byref(nodes), None, ctypes.byref(count)),
    )
    assert (status.value, count.value) == (1, 1)
    home, last = graph.value or 0, nodes[0] or 0
    condition = cuda.condition(home, default=1)
    node, [body] = cuda.add_conditional(home, condition, WHILE, behind=[last])
    place = (ctypes.c_void_p * 1)(node)
    cuda.call(
        "cudaStreamUpdateCaptureDependencies",
        *(ctypes.c_void_p(stream), place, None, ctypes.c_size_t(1), 1),
    )
    with cuda.capturing_to(other, body):
        cuda.launch("appends_digit", other, 2)
        cuda.launch("counts_down", other, condition=condition)
    cuda.launch("appends_digit", stream, 3)
    assert cuda.end(stream) == home
    set_counter(cuda, 2)
    cuda.launch_graph(cuda.instantiate(home))
    assert numbers(cuda)[0] == 1223


@ALL
@pytest.mark.parametrize("kernel", ["sets_twice", "sets_behind_a_barrier"])
def test_the_last_of_two_sets_in_order_counts(
    cuda: CudaCalls, emulator: Emulator, settings: Settings, kernel: str
) -> None:
    emulator.restart(settings)
    graph = cuda.graph()
    condition = cuda.condition(graph, default=1)
    first = cuda.add_kernel(graph, kernel, value=0, condition=condition)
    _, [body] = cuda.add_conditional(graph, condition, IF, behind=[first])
    digits(cuda, body, 1)
    cuda.launch_graph(cuda.instantiate(graph))
    assert numbers(cuda)[0] == 0


FAULTS = {
    "sets_in_two_threads": "conflict: two writes",
    "sets_in_all_blocks": "conflict: accesses of two blocks",
    "writes_outside": "outside all allocations",
}


@ALL
@pytest.mark.parametrize("kernel", FAULTS)
def test_a_fault_in_a_node_is_the_launchs(
    cuda: CudaCalls, emulator: Emulator, settings: Settings, kernel: str
) -> None:
    emulator.restart(settings)
    graph = cuda.graph()
    condition = cuda.condition(graph, default=1)
    _, [body] = cuda.add_conditional(graph, condition, WHILE)
    cuda.add_kernel(body, kernel, condition=condition, grid=TWO)
    executable = cuda.instantiate(graph)
    with pytest.raises(CudaError, match=FAULTS[kernel]) as failed:
        cuda.launch_graph(executable)
    assert failed.value.code == Code.LAUNCH_FAILURE
    with pytest.raises(CudaError, match=FAULTS[kernel]):
        cuda.launch("appends_digit")


def test_one_block_of_many_may_set(cuda: CudaCalls) -> None:
    graph = cuda.graph()
    condition = cuda.condition(graph, default=1)
    _, [body] = cuda.add_conditional(graph, condition, WHILE)
    cuda.add_kernel(body, "counts_down", condition=condition, grid=TWO)
    set_counter(cuda, 2)
    cuda.launch_graph(cuda.instantiate(graph))
    assert numbers(cuda)[1] == 0


def test_a_condition_that_nobody_has_set_is_a_fault(cuda: CudaCalls) -> None:
    graph = cuda.graph()
    condition = cuda.condition(graph, flags=0)
    cuda.add_conditional(graph, condition, IF)
    with pytest.raises(CudaError, match="no default and that nobody has set"):
        cuda.launch_graph(cuda.instantiate(graph))


def test_a_loop_that_changes_nothing_is_a_fault(cuda: CudaCalls) -> None:
    graph = cuda.graph()
    condition = cuda.condition(graph, default=1)
    _, [body] = cuda.add_conditional(graph, condition, WHILE)
    cuda.add_kernel(body, "sets_condition", value=1, condition=condition)
    with pytest.raises(CudaError, match="goes on for ever"):
        cuda.launch_graph(cuda.instantiate(graph))


@pytest.mark.parametrize("is_known", [False, True])
def test_a_condition_is_set_by_its_own_graph_alone(cuda: CudaCalls, is_known: bool) -> None:
    graph = cuda.graph()
    condition = cuda.condition(graph, default=0)
    cuda.add_conditional(graph, condition, IF)
    cuda.instantiate(graph)
    with pytest.raises(CudaError, match="condition of no graph that runs"):
        cuda.launch("sets_condition", condition=condition if is_known else 7)


def test_memory_that_was_given_back_is_a_fault(cuda: CudaCalls, emulator: Emulator) -> None:
    graph = cuda.graph()
    gone = torch.zeros(4, dtype=torch.int32, device=emulator.device)
    cuda.add_memset(graph, gone.data_ptr(), 1, 4)
    executable = cuda.instantiate(graph)
    del gone
    with pytest.raises(CudaError, match="set outside all allocations"):
        cuda.launch_graph(executable)


def test_nothing_is_left_of_graphs_that_are_destroyed(cuda: CudaCalls, emulator: Emulator) -> None:
    before = emulator.allocations
    stream, graph = cuda.stream(), cuda.graph()
    cuda.add_conditional(graph, cuda.condition(graph), WHILE)
    executable = cuda.instantiate(graph)
    assert emulator.allocations > before
    cuda.destroy(stream=stream, graph=graph)
    cuda.launch_graph(executable)
    cuda.destroy(executable=executable)
    assert emulator.allocations == before
