"""The CUDA runtime's calls on the emulated device, as a host program makes them."""

import ctypes
import enum
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from emulator import Emulator

KERNEL, MEMCPY, MEMSET, HOST, EMPTY = 0, 1, 2, 3, 5
ALLOCATION, CONDITIONAL = 0xA, 0xD
IF, WHILE = 0, 1
ASSIGN_DEFAULT = 1
NON_BLOCKING = 1
NODE_PARAMS_BYTES = 256  # of cudaGraphNodeParams, whose union begins at byte 16


class Mode(enum.IntEnum):
    """Of a capture: whose unsafe calls are forbidden meanwhile."""

    GLOBAL = 0
    THREAD_LOCAL = 1
    RELAXED = 2


class Code(enum.IntEnum):
    """What calls return."""

    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    INVALID_CONFIGURATION = 9
    INVALID_DIRECTION = 21
    INVALID_FUNCTION = 98
    INVALID_HANDLE = 400
    ILLEGAL_STATE = 401
    LAUNCH_FAILURE = 719
    NOT_SUPPORTED = 801
    CAPTURE_UNSUPPORTED = 900
    CAPTURE_INVALIDATED = 901
    CAPTURE_IMPLICIT = 906
    WRONG_THREAD = 908


class CudaError(Exception):
    """A call that failed: its code, and the device's words."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(f"{code}: {words}")
        self.code = code


class Given(ctypes.Structure):
    """The parameter of the kernels of ``probes/graph_probes.cu``."""

    _fields_ = (
        ("memory", ctypes.c_void_p),
        ("value", ctypes.c_int),
        ("condition", ctypes.c_uint64),
    )


class _Dim(ctypes.Structure):
    _fields_ = (("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint))


class _KernelParams(ctypes.Structure):
    _fields_ = (
        ("func", ctypes.c_void_p),
        ("grid", _Dim),
        ("block", _Dim),
        ("shared_bytes", ctypes.c_uint),
        ("params", ctypes.POINTER(ctypes.c_void_p)),
        ("extra", ctypes.c_void_p),
    )


class _MemsetParams(ctypes.Structure):
    _fields_ = (
        ("to", ctypes.c_void_p),
        ("pitch", ctypes.c_size_t),
        ("value", ctypes.c_uint),
        ("element_bytes", ctypes.c_uint),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    )


class _ConditionalParams(ctypes.Structure):
    _fields_ = (
        ("handle", ctypes.c_uint64),
        ("type", ctypes.c_int),
        ("size", ctypes.c_uint),
        ("bodies", ctypes.POINTER(ctypes.c_void_p)),
    )


class _NodeParams(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("reserved0", ctypes.c_int * 3),
        ("conditional", _ConditionalParams),
        ("reserved1", ctypes.c_byte * (NODE_PARAMS_BYTES - 24 - ctypes.sizeof(_ConditionalParams))),
        ("reserved2", ctypes.c_longlong),
    )


@dataclass(frozen=True)
class Grid:
    """How a kernel is launched."""

    blocks: int = 1
    threads: int = 32


ONE = Grid()
Handle = int


class CudaCalls:
    """Calls by their names; those that need a structure have a method."""

    def __init__(self, emulator: Emulator, memory: torch.Tensor) -> None:
        """memory: of the kernels, 32-bit integers on the device."""
        self.memory = memory
        self._library = emulator.library
        self._library.emulator_graph_kernel.restype = ctypes.c_void_p
        self._library.cudaGetErrorString.restype = ctypes.c_char_p

    def call(self, name: str, *arguments: object) -> None:
        """Raises CudaError where it does not return success."""
        code = getattr(self._library, name)(*arguments)
        if code:
            self._library.cudaGetLastError()
            raise CudaError(code, self._library.cudaGetErrorString(code).decode())

    def make(self, name: str, *arguments: object) -> Handle:
        """What a call returns by its first argument."""
        made = ctypes.c_void_p()
        self.call(name, ctypes.byref(made), *arguments)
        return made.value or 0

    def stream(self, flags: int = NON_BLOCKING) -> Handle:
        return self.make("cudaStreamCreateWithFlags", flags)

    def graph(self) -> Handle:
        return self.make("cudaGraphCreate", 0)

    def begin(self, stream: Handle, mode: Mode = Mode.THREAD_LOCAL) -> None:
        self.call("cudaStreamBeginCapture", ctypes.c_void_p(stream), int(mode))

    def end(self, stream: Handle) -> Handle:
        graph = ctypes.c_void_p()
        self.call("cudaStreamEndCapture", ctypes.c_void_p(stream), ctypes.byref(graph))
        assert graph.value is not None
        return graph.value

    @contextmanager
    def capturing_to(self, stream: Handle, graph: Handle) -> Iterator[None]:
        """What the stream is given meanwhile goes to the graph, one behind the other."""
        self.call(
            "cudaStreamBeginCaptureToGraph",
            *(ctypes.c_void_p(stream), ctypes.c_void_p(graph), None, None, ctypes.c_size_t(0)),
            int(Mode.THREAD_LOCAL),
        )
        yield
        assert self.end(stream) == graph

    def status(self, stream: Handle) -> int:
        """0 none, 1 active, 2 invalidated."""
        status = ctypes.c_int()
        self.call("cudaStreamIsCapturing", ctypes.c_void_p(stream), ctypes.byref(status))
        return status.value

    def given(self, value: int = 0, condition: int = 0) -> Given:
        return Given(self.memory.data_ptr(), value, condition)

    def launch(
        self, kernel: str, stream: Handle = 0, value: int = 0, condition: int = 0, grid: Grid = ONE
    ) -> None:
        """As ``<<<...>>>`` does."""
        given = self.given(value, condition)
        args = (ctypes.c_void_p * 1)(ctypes.addressof(given))
        function = ctypes.c_void_p(self._function(kernel))
        sizes = (_Dim(grid.blocks, 1, 1), _Dim(grid.threads, 1, 1))
        self.call(
            "cudaLaunchKernel", function, *sizes, args, ctypes.c_size_t(0), ctypes.c_void_p(stream)
        )

    def add_kernel(
        self,
        graph: Handle,
        kernel: str,
        *,
        value: int = 0,
        condition: int = 0,
        grid: Grid = ONE,
        behind: Sequence[Handle] = (),
    ) -> Handle:
        given = self.given(value, condition)
        args = (ctypes.c_void_p * 1)(ctypes.addressof(given))
        params = _KernelParams(
            self._function(kernel), _Dim(grid.blocks, 1, 1), _Dim(grid.threads, 1, 1), 0, args, None
        )
        return self._add("cudaGraphAddKernelNode", graph, behind, ctypes.byref(params))

    def add_memset(
        self, graph: Handle, to: int, value: int, width: int, *, behind: Sequence[Handle] = ()
    ) -> Handle:
        """width: 32-bit numbers."""
        params = _MemsetParams(to, 0, value, 4, width, 1)
        return self._add("cudaGraphAddMemsetNode", graph, behind, ctypes.byref(params))

    def add_copy(self, graph: Handle, to: int, source: int, size: int, kind: int = 3) -> Handle:
        """kind: 3 for within the device."""
        copy = (ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(size), kind)
        return self._add("cudaGraphAddMemcpyNode1D", graph, (), *copy)

    def add_conditional(
        self,
        graph: Handle,
        condition: int,
        kind: int,
        bodies: int = 1,
        behind: Sequence[Handle] = (),
    ) -> tuple[Handle, list[Handle]]:
        """The node and its bodies."""
        params = _NodeParams(type=CONDITIONAL)
        params.conditional = _ConditionalParams(condition, kind, bodies, None)
        node = self.add_node(graph, params, behind)
        return node, [params.conditional.bodies[i] or 0 for i in range(bodies)]

    def add_node(
        self, graph: Handle, params: "int | _NodeParams", behind: Sequence[Handle] = ()
    ) -> Handle:
        """A node of those parameters, or of a type without any."""
        if isinstance(params, int):
            params = _NodeParams(type=params)
        nodes = (ctypes.c_void_p * len(behind))(*behind)
        count = ctypes.c_size_t(len(behind))
        return self.make(
            "cudaGraphAddNode", ctypes.c_void_p(graph), nodes, None, count, ctypes.byref(params)
        )

    def condition(self, graph: Handle, default: int = 0, flags: int = ASSIGN_DEFAULT) -> int:
        handle = ctypes.c_uint64()
        self.call(
            "cudaGraphConditionalHandleCreate",
            *(ctypes.byref(handle), ctypes.c_void_p(graph), default, flags),
        )
        return handle.value

    def instantiate(self, graph: Handle) -> Handle:
        return self.make("cudaGraphInstantiate", ctypes.c_void_p(graph), ctypes.c_ulonglong(0))

    def launch_graph(self, executable: Handle, stream: Handle = 0) -> None:
        self.call("cudaGraphLaunch", ctypes.c_void_p(executable), ctypes.c_void_p(stream))

    def destroy(self, *, stream: Handle = 0, graph: Handle = 0, executable: Handle = 0) -> None:
        named = {
            "cudaStreamDestroy": stream,
            "cudaGraphDestroy": graph,
            "cudaGraphExecDestroy": executable,
        }
        for name, handle in named.items():
            if handle:
                self.call(name, ctypes.c_void_p(handle))

    def _function(self, kernel: str) -> Handle:
        function = self._library.emulator_graph_kernel(kernel.encode())
        if not function:
            raise KeyError(kernel)
        return int(function)

    def _add(
        self, name: str, graph: Handle, behind: Sequence[Handle], *arguments: object
    ) -> Handle:
        nodes = (ctypes.c_void_p * len(behind))(*behind)
        count = ctypes.c_size_t(len(behind))
        return self.make(name, ctypes.c_void_p(graph), nodes, count, *arguments)
