#include "tests/support/on_device.h"

#include "harness/base/error.h"
#include "harness/cases/fit_array.h"
#include "harness/engine/accuracy/experiment_memory.h"
#include "harness/engine/accuracy/output_check.h"
#include "harness/op/op.h"
#include "harness/tensor/npy/array_file.h"
#include "harness/tensor/pack.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace assay::test {
namespace {

constexpr std::uint32_t guard = gpu::guard_bytes;  ///< of buffers

std::vector<Physical> physical_tensors(std::span<const TensorSpec> tensors, std::span<const Form> forms) {
  std::vector<Physical> physical;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    physical.emplace_back(forms[i], tensors[i].dtype, tensors[i].shape);
  }
  return physical;
}

/// The contents of one allocation before a run.
std::vector<std::byte> image(const Physical& physical, const HostTensor* data, Poison poison) {
  const std::size_t around = gpu::guard_of(physical.form(), guard);
  std::vector<std::byte> bytes(static_cast<std::size_t>(physical.bytes()) + 2 * around);
  fill_poison(bytes, poison);
  if (data != nullptr) {
    const std::vector<std::byte> packed = pack(*data, physical, poison, around);
    std::memcpy(bytes.data() + around, packed.data(), packed.size());
  }
  return bytes;
}

std::span<const std::byte> data_of(const Physical& physical, std::span<const std::byte> allocation) {
  return allocation.subspan(gpu::guard_of(physical.form(), guard),
                            static_cast<std::size_t>(physical.bytes()));
}

bool guards_kept(const Physical& physical, std::span<const std::byte> now,
                 std::span<const std::byte> before) {
  const std::size_t around = gpu::guard_of(physical.form(), guard);
  const auto equal = [](std::span<const std::byte> a, std::span<const std::byte> b) {
    return std::equal(a.begin(), a.end(), b.begin());
  };
  return equal(now.first(around), before.first(around)) && equal(now.last(around), before.last(around));
}

void expect_accepted(const TensorSpec& spec, const Expected& expected, const UnitError& unit_error,
                     const HostTensor& got) {
  const Acceptance acceptance(spec, expected, {.unit_error = unit_error});
  const OutputCheck check = check_output(acceptance, got);
  EXPECT_FALSE(check.too_many_flips) << spec.name << ": " << check.flips << " flips";
  if (!check.first_bad) return;
  const std::int64_t first = *check.first_bad;
  FAIL() << spec.name << ", element " << first << ": expected " << acceptance.expected(first) << ", got "
         << got.at(first) << ", bound " << acceptance.bound(first);
}

std::vector<HostTensor> filled_inputs(const Trial& trial, std::span<const TensorSpec> tensors) {
  std::vector<HostTensor> inputs;
  for (std::uint32_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].is_input()) continue;
    const auto own = trial.fills.find(tensors[i].name);
    const FillSpec fill = own != trial.fills.end() ? own->second : FillSpec{.kind = trial.fill};
    inputs.push_back(fill.kind == FillKind::Npy ? fit_array(read_array(fill.file), tensors[i])
                                                : make_filled(tensors[i].dtype, tensors[i].shape, fill,
                                                              tensors[i].domain, {trial.seed, 1, i}));
  }
  return inputs;
}

/// Shaders of tests and those of the tree, which may be another than the one that was built. Before them a
/// folder that the environment names: kernels with a fault (tests/faults/seeded).
std::vector<std::filesystem::path> shader_directories() {
  std::vector<std::filesystem::path> all;
  if (const char* faulty = std::getenv("ASSAY_TEST_SHADERS"); faulty != nullptr) all.emplace_back(faulty);
  for (const char* own : {ASSAY_SOURCE_DIR "/tests/support/testdata", ASSAY_SOURCE_DIR "/shaders"}) {
    if (std::filesystem::is_directory(own)) all.emplace_back(own);
  }
  return all;
}

const Impl& impl_of(const Trial& trial) {
  if (trial.impl.empty()) return trial.op->impls.front();
  const Impl* impl = trial.op->find_impl(trial.impl);
  if (impl == nullptr) throw std::logic_error(trial.op->name + " has no impl " + trial.impl);
  return *impl;
}

}  // namespace

std::string Trial::describe() const {
  std::string text = op->name + (impl.empty() ? "" : "/" + impl) + " " + params.canonical() +
                     " fill=" + std::string(name_of(fill)) + " seed=" + std::to_string(seed);
  for (const Form form : forms) text.append(" ").append(to_string(form));
  for (const auto& [name, value] : tune)
    text.append(" ").append(name).append("=").append(std::to_string(value));
  return text;
}

gpu::ShaderLibrary& OnDeviceTest::shaders() {
  static gpu::ShaderLibrary library(
      {.directories = shader_directories(), .cache_directory = gpu::default_cache_directory()});
  return library;
}

DeviceInfo OnDeviceTest::device_of(const Trial& trial) {
  DeviceInfo info = device().info();
  if (trial.as_if) trial.as_if(info);
  return info;
}

Program OnDeviceTest::program_of(const Trial& trial) {
  const std::vector<TensorSpec> tensors = trial.op->tensors(trial.params);
  const DeviceInfo info = device_of(trial);
  return impl_of(trial).build({trial.params, tensors, trial.forms, info, trial.tune});
}

/// 0 for an impl that states none.
UnitError OnDeviceTest::unit_error_of(const Trial& trial) {
  const Impl& impl = impl_of(trial);
  if (!impl.unit_error) return {};
  const std::vector<TensorSpec> tensors = trial.op->tensors(trial.params);
  const DeviceInfo info = device_of(trial);
  return impl.unit_error({trial.params, tensors, trial.forms, info, trial.tune});
}

std::vector<Expected> OnDeviceTest::expected_of(const Trial& trial) {
  return trial.op->reference(trial.params, filled_inputs(trial, trial.op->tensors(trial.params)));
}

bool OnDeviceTest::accepts(const Trial& trial, std::span<const Expected> answers) {
  const std::vector<Expected> expected = expected_of(trial);
  const std::vector<TensorSpec> tensors = trial.op->tensors(trial.params);
  const auto outputs = std::span(tensors).last(expected.size());
  const UnitError unit_error = unit_error_of(trial);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Acceptance acceptance(outputs[i], expected[i], {.unit_error = unit_error});
    for (std::int64_t k = 0; k < acceptance.numel(); ++k) {
      if (acceptance.judge(k, answers[i].values.at(k)) == ElementVerdict::Wrong) return false;
    }
  }
  return true;
}

void OnDeviceTest::expect_right(const Trial& trial) {
  SCOPED_TRACE(trial.describe());
  const std::vector<TensorSpec> tensors = trial.op->tensors(trial.params);
  ASSERT_EQ(trial.forms.size(), tensors.size());
  const std::vector<Physical> physical = physical_tensors(tensors, trial.forms);
  const std::vector<HostTensor> inputs = filled_inputs(trial, tensors);
  const std::vector<Expected> expected = trial.op->reference(trial.params, inputs);
  for (std::size_t i = 0; i < expected.size(); ++i)
    check_expected(trial.op->name, tensors[inputs.size() + i], expected[i]);

  const Impl& impl = impl_of(trial);
  if (impl.invalid_reason) {
    ASSERT_EQ(impl.invalid_reason(ImplPoint{trial.params, tensors, trial.forms, trial.tune}), std::nullopt);
  }
  const Program program = program_of(trial);
  const UnitError unit_error = unit_error_of(trial);
  ASSERT_EQ(gpu::unsupported(program, physical, impl.needs, device().info(), guard), std::nullopt);
  gpu::Executable executable(device(), shaders(), program, physical, guard);
  gpu::Workspace workspace(device(), program, physical, guard);

  for (const Poison poison : {Poison::A, Poison::B}) {
    std::vector<std::vector<std::byte>> before;
    for (std::uint32_t i = 0; i < tensors.size(); ++i) {
      const std::size_t content = tensors[i].starts_as.value_or(i);
      before.push_back(image(physical[i], content < inputs.size() ? &inputs[content] : nullptr,
                             poison_of(poison, Resource::tensor(i))));
      workspace.write(Resource::tensor(i), before.back());
    }
    executable.run(workspace, trial.op->name, timeout_s);
    for (std::uint32_t i = 0; i < tensors.size(); ++i) {
      const std::vector<std::byte> after = workspace.read(Resource::tensor(i));
      EXPECT_TRUE(guards_kept(physical[i], after, before[i]))
          << tensors[i].name << ": written outside its data";
      if (i < inputs.size()) {
        EXPECT_TRUE(after == before[i]) << tensors[i].name << ": an input was overwritten";
      } else {
        expect_accepted(tensors[i], expected[i - inputs.size()], unit_error,
                        unpack(data_of(physical[i], after), physical[i]));
      }
    }
  }
}

Shape Draw::shape(std::int64_t most) {
  Shape dims;
  for (std::int64_t rank = pick(1, 4); rank > 0; --rank) dims.push_back(pick(1, most));
  return dims;
}

QParams Draw::qparams() {
  return {0.001F * static_cast<float>(pick(3, 200)), static_cast<std::int32_t>(pick(-128, 127))};
}

std::vector<Form> Draw::forms(std::span<const TensorSpec> tensors) {
  std::vector<Form> chosen;
  for (const TensorSpec& tensor : tensors) {
    std::vector<Form> possible;
    for (const Form form : tensor.forms) {
      if (can_hold(form, tensor)) possible.push_back(form);
    }
    chosen.push_back(one_of(possible));
  }
  return chosen;
}

bool can_hold(Form form, const TensorSpec& tensor) {
  try {
    const Physical physical(form, tensor.dtype, tensor.shape);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::uint32_t constant_of(const Dispatch& dispatch, std::string_view name) {
  const auto found = std::find_if(dispatch.constants.begin(), dispatch.constants.end(),
                                  [name](const SpecConstant& constant) { return constant.name == name; });
  if (found != dispatch.constants.end()) return found->value;
  ADD_FAILURE() << dispatch.shader << " has no specialization constant " << name;
  return 0;
}

std::string define_or_none(const Dispatch& dispatch, std::string_view name) {
  const auto found = std::ranges::find(dispatch.defines, name, &Define::name);
  return found == dispatch.defines.end() ? "none" : found->value;
}

Params with_defaults(const Op& op, Params params) {
  for (const ParamSpec& spec : op.params) {
    if (!params.has(spec.name)) params.set(spec.name, spec.default_for(params).value());
  }
  return params;
}

}  // namespace assay::test
