#pragma once

// Runs an impl of an op on the default device and holds it against the reference.

#include "harness/op/op.h"
#include "tests/support/gpu.h"

#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::test {

/// One thing to run: an op with parameters, forms, data.
struct Trial {
  const Op* op = nullptr;
  Params params;
  std::vector<Form> forms;  ///< one per tensor
  FillKind fill = FillKind::Normal;
  std::map<std::string, FillSpec> fills = {};  ///< by input, where they differ from `fill`
  std::uint64_t seed = 0;
  std::map<std::string, std::int64_t> tune;
  std::string impl;  ///< empty: the op's first
  /// Changes what the impl is told of the device, to what the device can do as well.
  std::function<void(DeviceInfo&)> as_if;

  std::string describe() const;
};

/// With the validation layer on: any message fails the test.
class OnDeviceTest : public GpuTest {
 protected:
  /// Runs the impl twice, over two poisons, and expects: outputs as the reference says, guards and inputs
  /// untouched.
  void expect_right(const Trial& trial);

  /// The program that the impl builds.
  Program program_of(const Trial& trial);

  static gpu::ShaderLibrary& shaders();

  /// What the reference says of a trial's inputs.
  static std::vector<Expected> expected_of(const Trial& trial);
  /// Whether a trial's outputs could have these values.
  bool accepts(const Trial& trial, std::span<const Expected> answers);

 private:
  /// The device's properties as the impl sees them.
  DeviceInfo device_of(const Trial& trial);
  UnitError unit_error_of(const Trial& trial);
};

/// Random choices of a test, the same in every run.
class Draw {
 public:
  explicit Draw(std::uint32_t seed) : random_(seed) {}

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  template <class T>
  T one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(values.size()) - 1))];
  }

  /// A shape of rank 1 to 4, each dim at most `most`.
  Shape shape(std::int64_t most);
  /// A scale of everyday size and any zero point of int8.
  QParams qparams();
  /// For each tensor one of its forms that can hold it.
  std::vector<Form> forms(std::span<const TensorSpec> tensors);

 private:
  std::mt19937 random_;
};

/// Whether a Physical of this form exists; whether a device has room for it is another question.
bool can_hold(Form form, const TensorSpec& tensor);

/// The value of a specialization constant; a test fails where the dispatch sets none.
std::uint32_t constant_of(const Dispatch& dispatch, std::string_view name);

/// The value of a #define, "none" where the dispatch has none.
std::string define_or_none(const Dispatch& dispatch, std::string_view name);

/// `params` with every parameter that it lacks set to the op's default.
Params with_defaults(const Op& op, Params params);

}  // namespace assay::test
