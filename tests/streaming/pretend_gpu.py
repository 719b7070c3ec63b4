"""A GPU that is none: CPU tensors that say they lie on ``cuda``, and refuse to meet others.

What a real one would refuse, this refuses too: an operation over both devices, NumPy's look at a
device tensor, an index that lies on the wrong side. Kernels run on the CPU half, which insists on
what the CUDA half would: tensors of the device.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from decoder_kernels import native, prefix_search, wfst_memory
from decoder_kernels.lane_batch import LaneBatch
from decoder_kernels.native import native_module
from streaming.engine import Engine

HERE, THERE = torch.device("cpu"), torch.device("cuda", 0)


class MixedDevices(RuntimeError):
    """An operation that a GPU would refuse."""


class DeviceTensor(Tensor):
    """A tensor of the pretended device."""


def tensors(value: Any) -> Iterator[Tensor]:
    """All in nested arguments."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from tensors(each)
    elif isinstance(value, dict):
        yield from tensors(list(value.values()))


def is_there(value: Any) -> bool:
    """Whether it is a tensor, or the name, of the device."""
    if isinstance(value, torch.device | str):
        return torch.device(value).type == "cuda"
    return isinstance(value, DeviceTensor)


def plain(value: Any) -> Any:
    """Arguments as torch really gets them."""
    if isinstance(value, DeviceTensor):
        return value.detach().as_subclass(Tensor)
    if isinstance(value, torch.device):
        return HERE
    if type(value) in (list, tuple):
        return type(value)(map(plain, value))
    return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else value


def sent(value: Any) -> Any:
    """What torch returned, as tensors of the device."""
    if isinstance(value, list | tuple):  # also what names its parts, such as the result of `max`
        return type(value)([*map(sent, value)])
    return value.detach().as_subclass(DeviceTensor) if isinstance(value, Tensor) else value


class PretendGpu(TorchFunctionMode):
    """Torch as it would be with the device, on the thread that enters it."""

    def __init__(self) -> None:
        super().__init__()
        self.operations = 0

    def __torch_function__(
        self, func: Callable[..., Any], types: object, args: tuple = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        with torch._C.DisableTorchFunctionSubclass():
            special = _SPECIAL.get(func.__name__)
            if func == Tensor.device.__get__:
                return THERE if is_there(args[0]) else HERE
            if special is not None:
                return special(func, args, kwargs)
            return self._ordinary(func, args, kwargs)

    def _ordinary(self, func: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
        """On the one device that all arguments lie on; numbers in tensors may lie on either."""
        if "device" in kwargs:
            made = func(*plain(args), **plain(kwargs))
            return sent(made) if is_there(kwargs["device"]) else made
        given = list(tensors((args, kwargs)))
        if not any(map(is_there, given)):
            return func(*args, **kwargs)
        name = func.__name__
        if strays := [tuple(each.shape) for each in given if each.dim() and not is_there(each)]:
            raise MixedDevices(f"{name} of tensors on both devices; on the CPU: {strays}")
        self.operations += 1
        result = func(*plain(args), **plain(kwargs))
        in_place = name.endswith("_") and not name.endswith("__")
        return args[0] if in_place else sent(result)


def _numpy(func: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
    if is_there(args[0]):
        raise MixedDevices("NumPy cannot see the device's memory")
    return func(*args, **kwargs)


def _to_cpu(func: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
    return plain(args[0]).clone() if is_there(args[0]) else args[0]


def _to(func: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
    named = [each for each in (*args[1:], *kwargs.values()) if isinstance(each, torch.device | str)]
    moved = func(*plain(args), **plain(kwargs))
    return sent(moved) if is_there(named[0] if named else args[0]) else moved


def _get_item(func: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
    """The device's tensors take indices of either side, the CPU's those of the CPU."""
    if not is_there(args[0]) and any(map(is_there, tensors(args[1]))):
        raise MixedDevices("a CPU tensor is indexed by one of the device")
    found = func(*plain(args))
    return sent(found) if is_there(args[0]) else found


def _set_item(func: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> None:
    """A slice may be set from either side; what an index chooses, from its own."""
    target, index, value = args
    chosen = list(tensors(index))
    if not is_there(target) and any(map(is_there, chosen)):
        raise MixedDevices("a CPU tensor is set by an index on the device")
    crosses = isinstance(value, Tensor) and is_there(value) != is_there(target)
    if crosses and chosen and value.dim():
        raise MixedDevices("what an index chooses is set from the other device")
    func(*plain(args))


def _copy(func: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Tensor:
    func(*plain(args), **kwargs)
    target: Tensor = args[0]
    return target


_SPECIAL = {
    "numpy": _numpy,
    "__array__": _numpy,
    "cpu": _to_cpu,
    "to": _to,
    "get_device": lambda _, args, __: 0 if is_there(args[0]) else -1,
    "__getitem__": _get_item,
    "__setitem__": _set_item,
    "copy_": _copy,
}


class _Half:
    """The CPU half, for tensors of the device alone."""

    def __init__(self) -> None:
        self._half = native.native_half(HERE)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if not all(map(is_there, tensors((args, kwargs)))):
                raise MixedDevices(f"{name} got a tensor on the CPU")
            return getattr(self._half, name)(*plain(args), **plain(kwargs))

        return call


def send_model(model: nn.Module) -> None:
    """Its weights to the device."""
    for module in model.modules():
        for name, weight in module._parameters.items():
            if weight is not None:
                there = weight.detach().as_subclass(DeviceTensor)
                module._parameters[name] = nn.Parameter(there, requires_grad=False)
        for name, buffer in module._buffers.items():
            module._buffers[name] = sent(buffer)


def pretend(monkeypatch: pytest.MonkeyPatch) -> PretendGpu:
    """Let engines and kernels find the device. To be entered where an engine is made."""
    gpu, run, lend = PretendGpu(), Engine._run, native.to_dlpack

    def run_there(engine: Engine) -> None:
        with gpu:
            run(engine)

    def half_of(device: torch.device) -> Any:
        return _Half() if is_there(device) else native.native_half(device)

    monkeypatch.setattr(Engine, "_run", run_there)
    for module in (prefix_search, wfst_memory):
        monkeypatch.setattr(module, "native_half", half_of)
    monkeypatch.setattr(native, "to_dlpack", lambda tensor: lend(plain(tensor)))
    solo = native_module().Launch(threads=1, workers=1, stream=0)
    monkeypatch.setattr(LaneBatch, "launch", lambda _: solo)
    return gpu
