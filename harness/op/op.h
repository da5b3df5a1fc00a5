#pragma once

#include "harness/op/device_info.h"
#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/op/program.h"
#include "harness/tensor/dtype.h"
#include "harness/tensor/fill.h"
#include "harness/tensor/form.h"
#include "harness/tensor/shape.h"
#include "harness/tensor/tensor.h"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// One tensor of an op, for given parameters.
struct TensorSpec {
  enum class Role : std::uint8_t { Input, Output };

  std::string name;  ///< "x", "scale", "y": what cases and reports call it
  Role role = Role::Input;
  DType dtype = DType::F32;
  Shape shape;
  std::vector<Form> forms;                        ///< accepted physical forms; the first is the default
  FillDomain domain;  ///< inputs: which values it may take; banded outputs: lo and hi, when they differ
  OutputClass output_class = OutputClass::Exact;  ///< outputs: how it is judged; nothing else says so

  /// Outputs: why a trivial answer is the right one, by formula (empty: it never is). A declared output is
  /// not MISTRUSTED when the best constant (`constant_because`) or the copied input (`copy_because`) would
  /// pass.
  std::string constant_because;
  std::string copy_because;

  bool is_input() const { return role == Role::Input; }
};

/// The least that any implementation must do, and the device limit it is held against.
struct Work {
  std::int64_t bytes_read = 0;     ///< each input once
  std::int64_t bytes_written = 0;  ///< each output once
  std::int64_t operations = 0;     ///< 2 per multiply-add, only taps and channels that exist
  enum class Ceiling : std::uint8_t {
    Bandwidth,
    Fp32,
    Fp16,
    Dot4x8,
    CoopInt8,
    CoopFp16
  } ceiling = Ceiling::Bandwidth;
};

/// Work of an op that reads each input and writes each output once and computes nothing to speak of.
Work streaming_work(std::span<const TensorSpec> tensors);

/// A named integer that YAML's `tune:` may set for an impl: workgroup and tile sizes.
struct Tunable {
  std::string name;
  std::int64_t fallback = 0;  ///< 0: chosen by the impl
  std::int64_t min = 1;
  std::int64_t max = 1024;
  std::string doc;
};

/// Everything an impl may look at when it builds its program.
struct BuildContext {
  const Params& params;
  std::span<const TensorSpec> tensors;  ///< in the op's order; Resource::tensor(i) refers to them
  std::span<const Form> forms;          ///< the form of each tensor
  const DeviceInfo& device;
  const std::map<std::string, std::int64_t>& tune;

  Physical physical(std::size_t tensor) const {
    return {forms[tensor], tensors[tensor].dtype, tensors[tensor].shape};
  }
  /// The tuned value, or `fallback` when the case does not set it.
  std::int64_t tuned(std::string_view name, std::int64_t fallback) const;
};

/// One way to compute an op on a device.
struct Impl {
  std::string name;
  std::string summary;
  std::vector<Feature> needs;
  std::vector<Tunable> tunables;
  std::function<Program(const BuildContext&)> build;
  /// Impl `auto` has this and no `build`: the name of the impl of the same op that is best here.
  std::function<std::string(const BuildContext&)> choose;
  /// The error of this impl for each unit of Expected::magnitude: from the accumulator's type and the number
  /// and order of its steps, gamma(K) for one. Needed where the op's reference returns magnitudes, of all
  /// impls but `auto`; finite and not negative.
  std::function<double(const BuildContext&)> unit_error;
  /// Why this impl excludes this point of a product (INVALID), or nothing. Optional.
  std::function<std::optional<std::string>(const Params&, std::span<const TensorSpec>, std::span<const Form>)>
      excludes;
};

/// The declaration of an op; one file in ops/ returns one.
struct Op {
  std::string name;
  std::string summary;
  int version = 1;  ///< raised when the reference's answers change
  std::vector<ParamSpec> params;
  /// Inputs and outputs for checked parameters. Throws ParameterError for combinations that make no sense.
  std::function<std::vector<TensorSpec>(const Params&)> tensors;
  /// Expected outputs, in the order of the output tensors; `inputs` in the order of the input tensors.
  std::function<std::vector<Expected>(const Params&, std::span<const HostTensor> inputs)> reference;
  std::function<Work(const Params&, std::span<const TensorSpec>)> work;
  std::vector<Impl> impls;
  /// Paths below the source tree's root, for `assay ops` and docs/ops.md: the file that declares the op, then
  /// those of its family and of references/ that it includes. The registry that CMake writes fills it in.
  std::vector<std::string> files;

  const Impl* find_impl(std::string_view name) const;
  const ParamSpec* find_param(std::string_view name) const;
};

/// The impl whose program runs: `impl`, or the one that it chooses. Throws std::logic_error for a choice that
/// the op does not have or that chooses in turn.
const Impl& chosen_impl(const Op& op, const Impl& impl, const BuildContext& context);

/// The ops that a binary knows. Given to whoever needs it; there is no global one.
class Registry {
 public:
  explicit Registry(std::vector<Op> ops);  ///< throws std::logic_error on two ops of one name
  std::span<const Op> ops() const { return ops_; }
  const Op* find(std::string_view name) const;

 private:
  std::vector<Op> ops_;
};

}  // namespace assay
