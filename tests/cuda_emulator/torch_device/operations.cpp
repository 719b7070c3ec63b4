// Torch's operations on the device: its memory is handled here, all that computes is left to the
// CPU, which works on the device's memory in place.
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/library.h>

#include <algorithm>
#include <string_view>

#include "allocator.h"
#include "host_views.h"
#include "tensors.h"

namespace earshot::emulated {
namespace {

using torch::jit::Stack;

constexpr std::int64_t kAttentionByMatrices = 0;  // sdp::SDPBackend::math

// One call of an operator, its arguments on the stack.
class Call {
 public:
  Call(const c10::OperatorHandle& op, Stack& stack) : op_(op), stack_(stack) {}

  void run() {
    lend_arguments();
    op_.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack_);
    for (const auto& [host, device] : written_) take_over(host, device);
    return_results();
  }

 private:
  void lend_arguments() {
    const auto& arguments = op_.schema().arguments();
    const std::size_t first = stack_.size() - arguments.size();
    for (std::size_t i = 0; i < arguments.size(); ++i) lend(arguments[i], stack_[first + i]);
  }

  void lend(const c10::Argument& argument, c10::IValue& value) {
    if (value.isTensor()) {
      value = host_view(argument, value.toTensor(), false);
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> views;
      for (const at::Tensor& each : value.toTensorVector()) {
        views.push_back(host_view(argument, each, true));
      }
      value = std::move(views);
    } else if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> views;
      for (const auto& each : value.toOptionalTensorVector()) {
        views.push_back(each ? std::optional(host_view(argument, *each, true)) : std::nullopt);
      }
      value = std::move(views);
    } else if (value.isDevice()) {
      value = c10::Device(c10::kCPU);
    }
  }

  at::Tensor host_view(const c10::Argument& argument, const at::Tensor& tensor, bool in_list) {
    const auto* alias = argument.alias_info();
    const bool writes = alias != nullptr && alias->isWrite();
    if (tensor.defined() && !is_ours(tensor)) require_welcome(argument, tensor, in_list || writes);
    at::Tensor host = views_.of(tensor);
    if (writes && tensor.defined()) written_.emplace_back(host, tensor);
    return host;
  }

  // Of other devices CUDA takes single numbers, and indices of the CPU.
  void require_welcome(const c10::Argument& argument, const at::Tensor& tensor, bool strict) const {
    const std::string_view name = argument.name();
    const bool index = name == "index" || name == "indices";
    const bool welcome = tensor.is_cpu() && (index ? strict : tensor.dim() == 0 && !strict);
    TORCH_CHECK(welcome,
                "Expected all tensors to be on the same device, but found at least two "
                "devices, ",
                kDevice, " and ", tensor.device(), "! (argument ", name, " of ",
                op_.schema().operator_name(), ")");
  }

  void return_results() {
    const std::size_t count = op_.schema().returns().size();
    for (std::size_t i = stack_.size() - count; i < stack_.size(); ++i) {
      c10::IValue& value = stack_[i];
      if (value.isTensor()) {
        value = views_.on_device(value.toTensor());
      } else if (value.isTensorList()) {
        c10::List<at::Tensor> results;
        for (const at::Tensor& each : value.toTensorVector()) {
          results.push_back(views_.on_device(each));
        }
        value = std::move(results);
      }
    }
  }

  const c10::OperatorHandle& op_;
  Stack& stack_;
  HostViews views_;
  std::vector<std::pair<at::Tensor, at::Tensor>> written_;  // the host's view, the device's tensor
};

bool is_view(const c10::FunctionSchema& schema) {
  const auto shares = [](const c10::Argument& result) {
    return result.alias_info() != nullptr && !result.alias_info()->isWrite();
  };
  return std::any_of(schema.returns().begin(), schema.returns().end(), shares);
}

void compute_on_host(const c10::OperatorHandle& op, Stack* stack) {
  if (!is_view(op.schema())) require_working();
  Call(op, *stack).run();
}

// What torch calls on devices it does not know takes the arguments of the convolution that it is.
void convolve(const c10::OperatorHandle&, Stack* stack) {
  static const auto convolution =
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::convolution", "");
  compute_on_host(convolution, stack);
}

// The CPU's fused attention has no name that torch would call for another device.
void choose_attention(const c10::OperatorHandle& op, Stack* stack) {
  torch::jit::drop(*stack, op.schema().arguments().size());
  torch::jit::push(*stack, kAttentionByMatrices);
}

// For those who stand in for the device: a CPU tensor over the same memory.
at::Tensor host_view(const at::Tensor& device) {
  const at::AutoDispatchBelowADInplaceOrView plain;
  return HostViews().of(device);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&compute_on_host>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("resize_", &resize_);
  library.impl("set_.source_Storage_storage_offset", &set_storage);
  library.impl("set_.source_Storage", &set_whole_storage);
  library.impl("set_.source_Tensor", &set_tensor);
  library.impl("_copy_from", &copy);
  library.impl("convolution_overrideable", torch::CppFunction::makeFromBoxedFunction<&convolve>());
  library.impl("_fused_sdp_choice", torch::CppFunction::makeFromBoxedFunction<&choose_attention>());
}

// Copies see to these themselves: torch's resolving them would be a copy again.
TORCH_LIBRARY_IMPL(aten, Conjugate, library) {
  library.impl("_copy_from", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, library) {
  library.impl("_copy_from", torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY(emulated, library) {
  library.def("synchronize() -> ()", &require_working);
  library.def("host_view(Tensor device) -> Tensor", &host_view);
}

}  // namespace
}  // namespace earshot::emulated
