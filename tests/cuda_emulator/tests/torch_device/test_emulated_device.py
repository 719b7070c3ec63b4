"""The emulated GPU keeps to itself as CUDA does: memory of its own, and errors that torch knows."""

import copy
import ctypes
import gc
import io
import threading
from collections.abc import Callable, Iterator

import pytest
import torch
from device_library import DEVICE_MEMORY
from stand_in_half import stand_in_half
from torch import Tensor, nn
from torch.nn import functional

from earshot.decoder_kernels.native import kernels
from earshot.native.dlpack import dlpack_capsule

KDL_EXT_DEV = 12  # DLDeviceType, in dlpack.h


@pytest.fixture
def memory(emulated) -> Iterator[ctypes.CDLL]:
    """The device's memory, to be asked and broken; as new after the test."""
    library = ctypes.CDLL(str(DEVICE_MEMORY))
    library.emulator_fail_allocation.argtypes = [ctypes.c_size_t]
    library.emulator_is_written.argtypes = [ctypes.c_void_p]
    library.emulator_is_written.restype = ctypes.c_bool
    library.emulator_allocations.restype = ctypes.c_size_t
    yield library
    library.emulator_recover()


@pytest.fixture
def there(emulated) -> Tensor:
    """``[[0, 1, 2], [3, 4, 5]]`` on the device."""
    return torch.arange(6.0, device=emulated).view(2, 3)


@pytest.fixture
def here() -> Tensor:
    """The same on the CPU."""
    return torch.arange(6.0).view(2, 3)


def written(memory: ctypes.CDLL, tensor: Tensor) -> list[bool]:
    """Whether the host has written each byte of the storage that a tensor lies in."""
    storage = tensor.untyped_storage()
    return [memory.emulator_is_written(storage.data_ptr() + i) for i in range(len(storage))]


MIXED: dict[str, Callable[[Tensor, Tensor], object]] = {
    "sum": lambda there, here: there + here,
    "in place": lambda there, here: there.add_(here),
    "in place on the CPU": lambda there, here: here.add_(there),
    "one number of the device, in place": lambda there, _: torch.tensor(1.0).add_(there[0, 0]),
    "product": lambda there, here: there @ here.T,
    "affine": lambda there, here: functional.linear(there, here),
    "concatenation": lambda there, here: torch.cat([here, there]),
    "stack of single numbers": lambda there, here: torch.stack([there[0, 0], here[0, 0]]),
    "condition": lambda there, here: torch.where(here > 2, there, there),
    "gather": lambda there, _: there.gather(0, torch.zeros(1, 3, dtype=torch.int64)),
    "embedding": lambda there, _: functional.embedding(torch.tensor([1]), there),
    "mask": lambda there, here: there.masked_fill(here > 2, 0.0),
    "index of the device": lambda there, here: here[there[0].long()],
    "values to an index": lambda there, here: there.__setitem__(torch.tensor([1]), here[:1]),
    "result": lambda there, _: torch.add(there, there, out=torch.empty(0)),
    "convolution": lambda there, _: nn.Conv1d(2, 4, 1)(there),
    "equality": torch.equal,
}


@pytest.mark.parametrize("operation", MIXED.values(), ids=MIXED)
def test_an_operation_over_both_devices_is_refused(there, here, operation) -> None:
    with pytest.raises(RuntimeError, match=r"same device|indices should be"):
        operation(there, here)


def test_numpy_cannot_see_the_memory(there) -> None:
    with pytest.raises(TypeError, match="emulated"):
        there.numpy()


def test_single_numbers_and_indices_may_lie_on_the_cpu(there, emulated) -> None:
    for result in (
        there + torch.tensor(1.0),
        torch.tensor(1.0) + there,
        there[torch.tensor([1])],
        there[torch.tensor([True, False])],
    ):
        assert result.device == there.device
    there[torch.tensor([0])] = torch.tensor(9.0)
    there[1] = torch.ones(3)
    assert there.tolist() == [[9.0] * 3, [1.0] * 3]


SAME: dict[str, Callable[[Tensor], Tensor]] = {
    "elements": lambda x: (x * 2 + 1).exp().clamp(max=50),
    "in place": lambda x: x.add_(1).mul_(x),
    "matrices": lambda x: x @ x.T,
    "maximum": lambda x: x.max(dim=1).indices,
    "sort": lambda x: x.sort(descending=True).values,
    "several results": lambda x: torch.cat(x.topk(2)),
    "views": lambda x: x.unfold(1, 2, 1).permute(2, 0, 1).flatten(1),
    "spectrum": lambda x: torch.fft.rfft(x, n=4).abs(),
    "conjugate": lambda x: torch.view_as_real(x.to(torch.complex64).conj().clone()),
    "parts": lambda x: torch.stack([part.sum() for part in x.split(1)]),
    "a condition": lambda x: x[x > 2],
    "where it holds": lambda x: (x > 2).nonzero(),
    "numbers": lambda x: torch.arange(6, device=x.device).view_as(x),
    "accumulation": lambda x: x.index_put_((x[:, 0].long() // 3,), x + 1, accumulate=True),
    "result that grows": lambda x: torch.add(x, x, out=x.new_empty(0)),
    "results that grow": lambda x: torch.topk(
        x, 2, out=(x.new_empty(0), torch.empty(0, dtype=torch.int64, device=x.device))
    )[0],
    "shape in place": lambda x: x.t_().unsqueeze_(0).squeeze_(),
    "list": lambda x: torch.cat(torch._foreach_add([x, x], 1.0)),
    "attention": lambda x: functional.scaled_dot_product_attention(x[None], x[None], x[None]),
    "convolution": lambda x: functional.conv1d(x, torch.ones(2, 2, 1, device=x.device)),
    "types": lambda x: x.to(torch.int64).to(torch.float64),
    "padding": lambda x: nn.utils.rnn.pad_sequence([x[0], x[1, :2]]),
}


@pytest.mark.parametrize("operation", SAME.values(), ids=SAME)
def test_operations_compute_what_the_cpu_computes(there, here, operation) -> None:
    found, expected = operation(there), operation(here)
    assert found.device == there.device
    assert found.dtype == expected.dtype
    torch.testing.assert_close(found.cpu(), expected)


def test_views_share_memory(there) -> None:
    there[:, ::2].add_(10)
    there.view(-1)[1] = 7
    there.t()[2].zero_()
    there.unfold(1, 2, 1)[1, 0, 1] = 5
    assert there.tolist() == [[10.0, 7.0, 0.0], [13.0, 5.0, 0.0]]


def test_views_made_in_inference_mode_can_be_written(there) -> None:
    with torch.inference_mode():
        there[0, :2] = torch.tensor([8.0, 9.0])
        made = there.clone()
        made[1] = 0.0
    assert there[0].tolist() == [8.0, 9.0, 2.0]
    assert made.tolist() == [[8.0, 9.0, 2.0], [0.0, 0.0, 0.0]]


def test_gradients_flow(emulated) -> None:
    layer = nn.Linear(3, 2).to(emulated)
    layer(torch.ones(4, 3, device=emulated)).sum().backward()
    assert layer.weight.grad is not None
    assert layer.weight.grad.tolist() == [[4.0] * 3] * 2


def test_what_was_not_written_is_known(memory, emulated) -> None:
    fresh = torch.empty(4, 2, dtype=torch.uint8, device=emulated)
    assert written(memory, fresh) == [False] * 8
    fresh[1] = 3
    fresh[2:, 1].copy_(torch.tensor([4, 5], dtype=torch.uint8))
    assert written(memory, fresh) == [False, False, True, True, False, True, False, True]


def test_results_and_copies_are_written(memory, emulated) -> None:
    for made in (
        torch.ones(8, dtype=torch.uint8).to(emulated),
        torch.zeros(8, dtype=torch.uint8, device=emulated),
        torch.arange(8, dtype=torch.uint8, device=emulated) + 1,
        torch.arange(8, dtype=torch.uint8, device=emulated).sort().values,
        torch.arange(8, dtype=torch.uint8, device=emulated).clone(),
    ):
        assert all(written(memory, made))


def test_what_resizing_adds_is_unwritten(memory, emulated) -> None:
    grown = torch.ones(2, dtype=torch.uint8, device=emulated).resize_(4)
    assert written(memory, grown) == [True, True, False, False]
    assert grown[:2].tolist() == [1, 1]


def test_big_and_strided_copies_arrive(emulated) -> None:
    big = torch.randint(0, 255, (4096, 4099), dtype=torch.uint8)
    back = big.to(emulated).t()[::2].cpu()
    assert torch.equal(back, big.t()[::2])
    target = torch.zeros(4099, 4096, dtype=torch.int32).t()
    assert torch.equal(target.copy_(big.to(emulated)), big.int())


def test_no_memory_is_torchs_error_and_leaves_all_as_it_was(memory, there) -> None:
    memory.emulator_fail_allocation(0)
    with pytest.raises(torch.OutOfMemoryError, match="out of memory"):
        there + 1
    memory.emulator_fail_allocation(0)
    with pytest.raises(torch.OutOfMemoryError, match="out of memory"):
        there.resize_(100)
    assert there.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert (there + 1).sum().item() == 21


def test_a_broken_device_refuses_everything(memory, there, here, emulated) -> None:
    memory.emulator_break(b"an illegal memory access was encountered")
    for refused in (
        lambda: torch.empty(1, device=emulated),
        lambda: there.cpu(),
        lambda: there.copy_(here),
        lambda: there.add_(1),
        lambda: there[0, 0].item(),
        lambda: torch.get_device_module(emulated).synchronize(emulated),
        torch.accelerator.synchronize,
    ):
        with pytest.raises(torch.AcceleratorError, match="illegal memory access"):
            refused()
    assert there.shape == there.t().t().shape == (2, 3)


def test_memory_is_given_back(memory, emulated) -> None:
    gc.collect()
    before = memory.emulator_allocations()
    kept = torch.arange(1000.0, device=emulated)
    view = torch.ops.emulated.host_view(kept[10:])
    kept = (kept + 1)[:5].clone()
    assert memory.emulator_allocations() == before + 2  # what is kept, and what the view keeps
    assert view[0].item() == 10.0
    del kept, view
    assert memory.emulator_allocations() == before


def test_threads_may_share_the_device(emulated) -> None:
    sums: dict[int, float] = {}

    def work(number: int) -> None:
        total = torch.zeros(64, device=emulated)
        for step in range(50):
            total += torch.full((64,), float(number), device=emulated).cpu().to(emulated)
            total[step] = total[step] * 1
        sums[number] = total.sum().item()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == {number: 64.0 * 50 * number for number in range(4)}


def test_what_was_saved_is_loaded_to_either_device(there, here, emulated) -> None:
    file = io.BytesIO()
    torch.save({"weights": there}, file)
    for place in (emulated, "cpu"):
        file.seek(0)
        loaded = torch.load(file, map_location=place, weights_only=True)["weights"]
        assert loaded.device.type == torch.device(place).type
        assert torch.equal(loaded.cpu(), here)


def test_copies_of_modules_stay_on_the_device(emulated) -> None:
    layer = copy.deepcopy(nn.LayerNorm(3).to(emulated))
    assert layer.weight.device.type == layer(torch.ones(3, device=emulated)).device.type
    assert layer.to("cpu").weight.device.type == "cpu"


def test_dlpack_names_an_extension_device(there) -> None:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = dlpack_capsule(there)
    address = get(capsule, b"dltensor")
    data, kind, number = (
        field.from_address(address + offset).value
        for field, offset in ((ctypes.c_void_p, 0), (ctypes.c_int32, 8), (ctypes.c_int32, 12))
    )
    assert (data, kind, number) == (there.data_ptr(), KDL_EXT_DEV, 0)
    again = torch.utils.dlpack.from_dlpack(capsule)
    assert again.device == there.device
    assert again.data_ptr() == there.data_ptr()


def test_torch_knows_the_device_by_its_name(there, emulated) -> None:
    module = torch.get_device_module(emulated)
    assert (module.device_count(), module.current_device()) == (1, 0)
    assert module.current_stream(emulated).cuda_stream == 0
    assert repr(there[0]) == "tensor([0., 1., 2.], device='emulated:0')"
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.empty(1, device="emulated:1")
    torch.manual_seed(1)  # without a warning
    first = torch.randn(3, device=emulated).tolist()
    torch.manual_seed(1)
    assert torch.randn(3, device=emulated).tolist() == first
    with torch.autocast("emulated", enabled=False):
        assert (there @ there.T).dtype == torch.float32


def test_the_half_that_stands_in_takes_the_devices_tensors_alone(emulated) -> None:
    half = stand_in_half()
    shape = kernels.SearchShape(
        beam_size=2,
        token_beam=2,
        blank_id=0,
        vocab_size=4,
        node_capacity=8,
        boost_candidates=False,
    )
    slots = torch.zeros(1, half.slot_bytes(shape), dtype=torch.uint8, device=emulated)
    with pytest.raises(TypeError, match="got a tensor of cpu"):
        half.PrefixSearch(shape, slots, *3 * [torch.zeros(1, dtype=torch.int32)])
