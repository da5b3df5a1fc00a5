#pragma once

#include "harness/op/ceilings.h"
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
  /// Inputs: weights, scales, bias, which stay as they are while activations change: a setup dispatch may
  /// read it.
  bool constant = false;
  DType dtype = DType::F32;
  Shape shape;
  std::vector<Form> forms;  ///< accepted physical forms; the first is the default
  FillDomain domain;  ///< inputs: which values it may take; outputs of integers: lo and hi, when they differ
  OutputClass output_class = OutputClass::Exact;  ///< outputs: how it is judged; nothing else says so

  /// Outputs: why a trivial answer is the right one, by formula (empty: it never is). A declared output is
  /// not MISTRUSTED when the best constant (`constant_because`) or the copied input (`copy_because`) would
  /// pass, nor one of integers for being at the ends of its range (`ends_because`).
  std::string constant_because;
  std::string copy_because;
  std::string ends_because;

  bool is_input() const { return role == Role::Input; }
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

/// The least that any implementation must do.
struct Work {
  std::int64_t bytes_read = 0;     ///< each input once
  std::int64_t bytes_written = 0;  ///< each output once
  std::int64_t operations = 0;     ///< 2 per multiply-add, only taps and channels that exist
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
  std::vector<std::int64_t> allowed = {};  ///< when not every value from min to max will do: those that will

  bool allows(std::int64_t value) const;
  /// "1..1024", or "32, 64, 128".
  std::string range_text() const;
};

/// What `tune:` sets, by the names of tunables.
using Tune = std::map<std::string, std::int64_t>;

/// One point of a product, whatever the device.
struct ImplPoint {
  const Params& params;
  std::span<const TensorSpec> tensors;  ///< in the op's order; Resource::tensor(i) refers to them
  std::span<const Form> forms;          ///< the form of each tensor
  const Tune& tune;

  Physical physical(std::size_t tensor) const {
    return {forms[tensor], tensors[tensor].dtype, tensors[tensor].shape};
  }
  /// The tuned value, or `fallback` when the case does not set it.
  std::int64_t tuned(std::string_view name, std::int64_t fallback) const;
};

/// Everything an impl may look at when it builds its program.
struct BuildContext : ImplPoint {
  BuildContext(const ImplPoint& point, const DeviceInfo& on) : ImplPoint(point), device(on) {}
  BuildContext(const Params& with_params, std::span<const TensorSpec> with_tensors,
               std::span<const Form> with_forms, const DeviceInfo& on, const Tune& with_tune)
      : BuildContext(ImplPoint{with_params, with_tensors, with_forms, with_tune}, on) {}

  const DeviceInfo& device;
};

/// One way to compute an op on a device.
struct Impl {
  std::string name;
  std::string summary;
  std::vector<Feature> needs;
  Ceiling ceiling = Ceiling::Bandwidth;  ///< the device's limit that its operations are held against
  /// The same where it depends on which kernel the impl takes for a point on a device. Optional.
  std::function<Ceiling(const BuildContext&)> ceiling_here;
  std::vector<Tunable> tunables;
  std::function<Program(const BuildContext&)> build;
  /// Impl `auto` has this and no `build`: names of impls of the same op, the best one here first. The first
  /// that can run here is taken.
  std::function<std::vector<std::string>(const BuildContext&)> choose;
  /// Why this impl excludes this point of a product on whatever device (INVALID), or nothing. Optional.
  std::function<std::optional<std::string>(const ImplPoint&)> excludes;
  /// What this impl lacks on this device beyond `needs`, with the numbers (UNSUPPORTED), or nothing: matrices
  /// of some shape, shared memory for a tuned tile. Optional.
  std::function<std::optional<std::string>(const BuildContext&)> lacks;
  /// Outputs with magnitudes (Expected): the largest error of an element over its magnitude that this impl's
  /// arithmetic can make, gamma(K) of its accumulator say. Required where the op's reference gives
  /// magnitudes.
  std::function<double(const BuildContext&)> unit_error;
  /// Impls of convolutions: the layout of int8x4 that `buffer/CONV2D` of case files stands for where this
  /// impl runs. Of an op, every impl with a program says so or none does; `auto` has that of the impl that it
  /// takes.
  std::optional<Layout> conv2d_layout;
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
  /// How many tokens, rows of activations, one program handles. Optional: ops that know of tokens.
  std::function<std::int64_t(const Params&)> tokens;
  std::vector<Impl> impls;
  /// Paths below the source tree's root, for `assay ops` and docs/ops.md: the file that declares the op, then
  /// those of its family and of references/ that it includes. The registry that CMake writes fills it in.
  std::vector<std::string> files;

  const Impl* find_impl(std::string_view name) const;
  const ParamSpec* find_param(std::string_view name) const;
};

/// What the operations of `impl` are held against at this point.
Ceiling ceiling_of(const Impl& impl, const BuildContext& context);

/// Why `impl` cannot run on the device, as far as that is known without its program: a feature that it needs
/// or whatever else it lacks. Nothing: it can.
std::optional<std::string> missing_for(const Impl& impl, const BuildContext& context);

/// Nothing excludes the point and nothing is missing, as far as that is known without the impl's program.
bool can_run(const Impl& impl, const BuildContext& context);

/// The impls whose program may run, the best first: `impl` alone, or those that it chooses among. Throws
/// std::logic_error for a choice that the op does not have, that chooses in turn, or for none at all.
std::vector<const Impl*> candidates(const Op& op, const Impl& impl, const BuildContext& context);

/// The first candidate that can run, else the first.
const Impl& chosen_impl(const Op& op, const Impl& impl, const BuildContext& context);

/// The layouts that `buffer/CONV2D` stands for with one impl of the op or another, each once, in the order of
/// impls. None: the op does not know the alias.
std::vector<Layout> conv2d_layouts(const Op& op);

/// The ops that a binary knows. Given to whoever needs it; there is no global one.
class Registry {
 public:
  /// Throws std::logic_error on two ops of one name, and for an op whose impls disagree whether there is
  /// CONV2D.
  explicit Registry(std::vector<Op> ops);
  std::span<const Op> ops() const { return ops_; }
  const Op* find(std::string_view name) const;

 private:
  std::vector<Op> ops_;
};

}  // namespace assay
