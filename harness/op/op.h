#pragma once

#include "harness/device/device_info.h"
#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/op/program.h"
#include "harness/tensor/dtype.h"
#include "harness/tensor/fill/fill.h"
#include "harness/tensor/form.h"
#include "harness/tensor/tensor.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

namespace chain {
struct Chain;
}

/// One tensor of an op, for given parameters.
struct TensorSpec {
  enum class Role : std::uint8_t { Input, Output };

  std::string name;  ///< the name in cases and reports: "x", "scale", "y"
  Role role = Role::Input;
  /// For inputs: weights, scales and bias, which stay the same while activations change, so that a setup
  /// dispatch may read them.
  bool constant = false;
  DType dtype = DType::F32;
  Shape shape;
  std::vector<Form> forms;  ///< accepted physical forms; the first is the default
  FillDomain domain;        ///< inputs: the values it may take; integer outputs: lo and hi, if they differ
  OutputClass output_class = OutputClass::Exact;  ///< outputs: how it is checked; the only place that says so
  /// For an output that is updated in place: the index of the input whose data its memory holds when the
  /// program begins, and which kernels may therefore read there. That input has the same name, dtype, shape
  /// and only form, and no dispatch binds it.
  std::optional<std::uint32_t> starts_as;
  /// For an output with `starts_as`: whether kernels write some of its elements, the same ones each time, and
  /// read none. A second program then finds nothing that it could use, so that programs are timed in batches,
  /// over memory that was restored before the block. The data that it begins with are equal in all data sets
  /// of a case, since these share its memory.
  bool written_in_part = false;

  /// For outputs: why a trivial answer can be right, by formula (empty: it never is). An output with a reason
  /// is not MISTRUSTED if the best constant (`constant_because`) or the copied input (`copy_because`) would
  /// pass, or if integers are at the ends of their range (`ends_because`).
  std::string constant_because;
  std::string copy_because;
  std::string ends_because;

  bool is_input() const { return role == Role::Input; }
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

/// Whether some output is updated in place by kernels that may read it: its data must be restored before each
/// program.
bool is_updated_in_place(std::span<const TensorSpec> tensors);
/// Whether some output is written in part.
bool is_written_in_part(std::span<const TensorSpec> tensors);
/// Whether a tensor is the data that an output of its name begins with.
bool is_data_before(std::span<const TensorSpec> tensors, std::size_t tensor);
/// Whether a tensor is the data that an output that is written in part begins with.
bool is_data_before_part(std::span<const TensorSpec> tensors, std::size_t tensor);

/// The minimum that any implementation must do.
struct Work {
  std::int64_t bytes_read = 0;     ///< each input once
  std::int64_t bytes_written = 0;  ///< each output once
  std::int64_t operations = 0;     ///< 2 per multiply-add, only taps and channels that exist
};

/// Returns the work of an op that reads each input once, writes each output once and computes next to
/// nothing.
Work streaming_work(std::span<const TensorSpec> tensors);

/// A named integer that `tune:` in YAML may set for an impl: workgroup and tile sizes.
struct Tunable {
  std::string name;
  std::int64_t fallback = 0;  ///< 0: chosen by the impl
  std::int64_t min = 1;
  std::int64_t max = 1024;
  std::string doc;
  std::vector<std::int64_t> allowed =
      {};  ///< the possible values, if not every value from min to max is possible

  bool allows(std::int64_t value) const;
  /// Returns "1..1024" or "32, 64, 128".
  std::string range_text() const;
};

/// The values that `tune:` sets, by tunable name.
using Tune = std::map<std::string, std::int64_t>;

/// One point of a product, independent of the device.
struct ImplPoint {
  const Params& params;
  std::span<const TensorSpec> tensors;  ///< in the op's order; Resource::tensor(i) refers to them
  std::span<const Form> forms;          ///< the form of each tensor
  const Tune& tune;

  Physical physical(std::size_t tensor) const {
    return {forms[tensor], tensors[tensor].dtype, tensors[tensor].shape};
  }
  /// Returns the tuned value, or `fallback` if the case does not set it.
  std::int64_t tuned(std::string_view name, std::int64_t fallback) const;
};

/// Everything an impl may use to build its program.
struct BuildContext : ImplPoint {
  BuildContext(const ImplPoint& point, const DeviceInfo& on) : ImplPoint(point), device(on) {}
  BuildContext(const Params& with_params, std::span<const TensorSpec> with_tensors,
               std::span<const Form> with_forms, const DeviceInfo& on, const Tune& with_tune)
      : BuildContext(ImplPoint{with_params, with_tensors, with_forms, with_tune}, on) {}

  const DeviceInfo& device;
  /// Whether later dispatches of the same program, those of other nodes, read the outputs.
  bool is_node_of_chain = false;
};

/// One way to compute an op on a device.
struct Impl {
  std::string name;
  std::string summary;
  std::vector<Feature> needs;
  Ceiling ceiling = Ceiling::Bandwidth;  ///< the device's limit that its operations are compared with
  /// The ceiling if it depends on the kernel that the impl takes for a point on a device. Optional.
  std::function<Ceiling(const BuildContext&)> ceiling_here;
  std::vector<Tunable> tunables;
  std::function<Program(const BuildContext&)> build;
  /// Only impl `auto` has this, and then no `build`: names of impls of the same op, best first. The first one
  /// that can run is taken.
  std::function<std::vector<std::string>(const BuildContext&)> choose;
  /// Returns why this impl can run this point of a product on no device (INVALID), or nothing. Optional.
  std::function<std::optional<std::string>(const ImplPoint&)> invalid_reason;
  /// Returns what the run was not given although the impl needs it on this device, and how to give it
  /// (SKIPPED), or nothing. Optional.
  std::function<std::optional<std::string>(const BuildContext&)> skipped_reason;
  /// Returns what is missing on this device beyond `needs`, with numbers (UNSUPPORTED), or nothing: a matrix
  /// shape, or shared memory for a tuned tile. Optional.
  std::function<std::optional<std::string>(const BuildContext&)> unsupported_reason;
  /// For outputs with magnitudes (Expected): the largest error over magnitude that this impl's arithmetic can
  /// make for an element, such as gamma(K) of its accumulator. Required if the op's reference gives
  /// magnitudes.
  std::function<UnitError(const BuildContext&)> unit_error;
  /// For impls of convolutions: the int8x4 layout that `buffer/CONV2D` in case files stands for when this
  /// impl runs. Either every impl of an op with a program has one or none does; `auto` uses the chosen
  /// impl's.
  std::optional<Layout> conv2d_layout;
};

/// The declaration of an op, returned by one file in ops/.
struct Op {
  std::string name;
  std::string summary;
  int version = 1;  ///< raised when the reference's answers change
  std::vector<ParamSpec> params;
  /// Returns inputs and outputs for checked parameters. Throws ParameterError for impossible combinations.
  std::function<std::vector<TensorSpec>(const Params&)> tensors;
  /// Returns expected outputs in the order of the output tensors; `inputs` are in the order of the input
  /// tensors.
  std::function<std::vector<Expected>(const Params&, std::span<const HostTensor> inputs)> reference;
  /// For an op without a reference, each of whose cases brings its answers: makes the expected outputs of
  /// the values that a case gives for all of them. Null for others.
  std::function<std::vector<Expected>(const Params&, std::vector<HostTensor>)> answers_of_case;
  std::function<Work(const Params&, std::span<const TensorSpec>)> work;
  /// Returns how many tokens (rows of activations) one program handles. Optional, for ops that have tokens.
  std::function<std::int64_t(const Params&)> tokens;
  std::vector<Impl> impls;
  /// Paths from the source tree's root, for `assay ops` and docs/ops.md: the file that declares the op, then
  /// those of its family and of references/ that it includes. The registry that CMake generates fills it in.
  std::vector<std::string> files;
  /// For ops that are not part of the binary, because case files declare them: what decides their answers
  /// besides parameters. Equal texts mean equal answers.
  std::string definition;
  /// For a reference outside of the binary: a text that is another one when its answers may be others, for
  /// those who keep them. It may be slow. Null for others.
  std::function<std::string()> answer_version;
  /// For an op that a manifest declares: the manifest's file; empty for others.
  std::filesystem::path declared_in;
  /// For a chain: what it consists of, so that its nodes can be judged one by one. Null for other ops.
  std::shared_ptr<const chain::Chain> chain;

  const Impl* find_impl(std::string_view name) const;

  /// What a case that names no impl runs: `auto`, what a user of the op would run, or the first impl where
  /// there is none; null for an op without impls.
  const Impl* default_impl() const;
  const ParamSpec* find_param(std::string_view name) const;
};

/// Returns the ceiling that the operations of `impl` are compared with at this point.
Ceiling ceiling_of(const Impl& impl, const BuildContext& context);

/// Returns why `impl` cannot run on the device, as far as this is known without its program: a missing
/// feature or another unmet need. Nothing if it can run.
std::optional<std::string> missing_for(const Impl& impl, const BuildContext& context);

/// Returns whether nothing excludes the point and nothing is missing, as far as this is known without the
/// program.
bool can_run(const Impl& impl, const BuildContext& context);

/// Returns the impls whose program may run, best first: `impl` alone, or those that it chooses from. Throws
/// std::logic_error if a chosen impl does not exist or chooses itself, or if none is chosen.
std::vector<const Impl*> candidates(const Op& op, const Impl& impl, const BuildContext& context);

/// Returns the first candidate that can run, else the first candidate.
const Impl& chosen_impl(const Op& op, const Impl& impl, const BuildContext& context);

/// Returns the layouts that `buffer/CONV2D` can stand for with the op's impls, without duplicates and in the
/// order of impls. Empty if the op does not define the alias.
std::vector<Layout> conv2d_layouts(const Op& op);

/// The ops that a binary contains. It is passed explicitly; there is no global registry.
class Registry {
 public:
  /// Throws std::logic_error if two ops have the same name, or if only some impls of an op define CONV2D.
  explicit Registry(std::vector<Op> ops);
  std::span<const Op> ops() const { return ops_; }
  const Op* find(std::string_view name) const;

 private:
  std::vector<Op> ops_;
};

/// Returns the scratch that a program must leave as it finds it, without duplicates: what
/// is_zero_between_runs, and what setup dispatches bind, in their order. What they leave there is as constant
/// as weights.
std::vector<Resource> constant_scratch(const Program& program);

/// Returns why the program's setup does more than set up, or nothing. Setup dispatches run once and are not
/// timed, so their results must be the same for every run: they may bind inputs that the op declares
/// `TensorSpec::constant`, and scratch that no dispatch of another role binds before them. Whether later
/// dispatches leave that scratch alone depends on their shaders, which gpu::Executable checks.
std::optional<std::string> broken_setup_rule(const Program& program, std::span<const TensorSpec> tensors);

/// Throws std::logic_error naming the op and the output if a reference's answer does not match the op's
/// declaration: the dtype (a bounded output may be float64), the shape, and exactly the lists that the
/// output's class needs, with one entry per element. Exact: only values. Banded: integers, `unrounded` and
/// `magnitude`. Bounded: `bound`, `magnitude` or both. An output that is written in part has `kept` besides.
void check_expected(std::string_view op, const TensorSpec& output, const Expected& expected);

}  // namespace assay
