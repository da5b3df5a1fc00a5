#include "harness/engine/diagnosis/reference_probe.h"

#include "harness/base/error.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace assay {
namespace {

constexpr double operations_of_byte = 8;  ///< estimated cost of moving a byte in a reference
/// How many answers the budget is enough for where each is a process: about a second.
constexpr double answers_of_programs = 8;

double cost_of(const Case& test_case) {
  if (!test_case.op->work) return ReferenceProbe::default_budget;
  const Work work = test_case.op->work(test_case.params, test_case.tensors);
  const double of_work = static_cast<double>(work.operations) +
                         operations_of_byte * static_cast<double>(work.bytes_read + work.bytes_written) +
                         1000;
  const bool is_program = test_case.op->answer_version != nullptr;
  return is_program ? std::max(of_work, ReferenceProbe::default_budget / answers_of_programs) : of_work;
}

template <class T>
void store(HostTensor& tensor, std::int64_t index, double value) {
  const auto low = static_cast<double>(lowest(tensor.dtype()));
  const auto high = static_cast<double>(highest(tensor.dtype()));
  tensor.as<T>()[static_cast<std::size_t>(index)] =
      static_cast<T>(std::clamp(std::nearbyint(value), low, high));
}

const TensorSpec* spec_of_output(std::span<const TensorSpec> tensors, std::size_t output) {
  for (const TensorSpec& spec : tensors) {
    if (!spec.is_input() && output-- == 0) return &spec;
  }
  return nullptr;
}

}  // namespace

ReferenceProbe::ReferenceProbe(const Case& test_case, std::span<const HostTensor> inputs, std::size_t output,
                               double budget)
    : case_(&test_case), inputs_(inputs), output_(output), cost_(cost_of(test_case)), budget_(budget) {
  if (const TensorSpec* spec = spec_of_output(test_case.tensors, output)) shape_ = spec->shape;
}

Point ReferenceProbe::here() const {
  return {case_->params, {inputs_.begin(), inputs_.end()}};
}

/// Whether the op accepts the point's inputs with its parameters.
bool ReferenceProbe::fits(const Point& point) const {
  const std::vector<TensorSpec> tensors = case_->op->tensors(point.params);
  std::size_t input = 0;
  for (const TensorSpec& spec : tensors) {
    if (!spec.is_input()) continue;
    if (input >= point.inputs.size()) return false;
    const HostTensor& tensor = point.inputs[input++];
    if (tensor.shape() != spec.shape || tensor.dtype() != spec.dtype) return false;
  }
  return input == point.inputs.size();
}

std::optional<HostTensor> ReferenceProbe::ask(const Point& point) {
  if (!can_afford(1)) return std::nullopt;
  budget_ -= cost_;
  try {
    if (!fits(point)) return std::nullopt;
    std::vector<Expected> expected = case_->op->reference(point.params, point.inputs);
    if (output_ >= expected.size()) return std::nullopt;
    return cropped(expected[output_].values, shape_);
  } catch (const Error&) {  // parameters that make no sense together
    return std::nullopt;
  } catch (const std::logic_error&) {  // parameters that the op does not have
    return std::nullopt;
  }
}

std::optional<HostTensor> cropped(const HostTensor& tensor, const Shape& shape) {
  if (tensor.shape() == shape) return tensor;
  if (tensor.shape().size() != shape.size()) return std::nullopt;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (tensor.shape()[d] < shape[d]) return std::nullopt;
  }
  HostTensor part(DType::F64, shape);
  const std::span<double> values = part.as<double>();
  for (std::int64_t i = 0; i < part.numel(); ++i) {
    std::int64_t from = 0;
    const std::vector<std::int64_t> at = coordinates(shape, i);
    for (std::size_t d = 0; d < shape.size(); ++d) from = from * tensor.shape()[d] + at[d];
    values[static_cast<std::size_t>(i)] = tensor.at(from);
  }
  return part;
}

void set_element(HostTensor& tensor, std::int64_t index, double value) {
  const auto at = static_cast<std::size_t>(index);
  switch (tensor.dtype()) {
    case DType::F32:
      tensor.as<float>()[at] = static_cast<float>(value);
      return;
    case DType::F16:
      tensor.as<Half>()[at] = to_half(static_cast<float>(value));
      return;
    case DType::F64:
      tensor.as<double>()[at] = value;
      return;
    case DType::I32:
      return store<std::int32_t>(tensor, index, value);
    case DType::I16:
      return store<std::int16_t>(tensor, index, value);
    case DType::I8:
      return store<std::int8_t>(tensor, index, value);
    case DType::U8:
      return store<std::uint8_t>(tensor, index, value);
    case DType::I64:
      tensor.as<std::int64_t>()[at] = static_cast<std::int64_t>(std::nearbyint(value));
      return;
  }
  throw std::logic_error("set_element: not a dtype");
}

std::vector<const TensorSpec*> input_specs(const Case& test_case) {
  std::vector<const TensorSpec*> specs;
  for (const TensorSpec& spec : test_case.tensors) {
    if (spec.is_input()) specs.push_back(&spec);
  }
  return specs;
}

double zero_of_input(const Case& test_case, const Point& point, std::size_t input, std::int64_t index) {
  constexpr double two_zero_nibbles = 0x88;
  const std::vector<const TensorSpec*> specs = input_specs(test_case);
  const TensorSpec& spec = *specs[input];
  if (is_float(spec.dtype)) return 0;
  if (point.params.has(spec.name) && std::holds_alternative<QParams>(point.params.at(spec.name)))
    return point.params.qparams(spec.name).zero_point;
  for (std::size_t k = 0; k < specs.size(); ++k) {
    if (specs[k]->name != spec.name + "_zero_point") continue;
    // One zero point per leading index: rows.
    const std::int64_t of_one = numel(spec.shape) / numel(specs[k]->shape);
    return point.inputs[k].at(index / of_one);
  }
  return spec.constant && spec.dtype == DType::U8 ? two_zero_nibbles : 0;
}

}  // namespace assay
