#pragma once

#include "harness/cases/case.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/experiment_memory.h"
#include "harness/gpu/gpu.h"
#include "harness/tensor/pack.h"
#include "harness/tensor/tensor.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// The outputs of one run and what was found wrong in memory.
struct RunResult {
  Answer outputs;
  std::vector<Finding> findings;
};

/// One case on one device: its tensors in device memory, its program ready to run with chosen poison.
///
/// Tensors reach the device and outputs are inspected in one of two ways. By the host: it packs, poisons,
/// uploads and reads everything. With originals: copying, poisoning and comparing happen on the device, and
/// the host reads only what is new. The findings must not depend on the way: as soon as anything is wrong,
/// the originals are dropped and the host inspects everything.
class Experiment {
 public:
  /// All arguments must outlive this object. `originals` must be made for the same case; null: everything
  /// goes through the host. Throws gpu::OutOfMemory, gpu::CompileError.
  Experiment(gpu::Device& device, gpu::ShaderLibrary& shaders, const Case& test_case, const Program& program,
             PackedInputs& inputs, std::unique_ptr<Originals> originals = nullptr);

  /// Compiles the program of such an experiment ahead of time; may be called from any thread. Throws
  /// gpu::CompileError.
  static void prepare(gpu::Device& device, gpu::ShaderLibrary& shaders, const Case& test_case,
                      const Program& program);

  /// Poisons all memory that holds no input element, runs the program once and inspects all memory.
  /// `overwrites` change scratch in the middle of the run.
  RunResult run(const Poisons& poisons, std::span<const gpu::Executable::Overwrite> overwrites = {});

  /// Runs the program with other values in uninitialized variables. Nothing: it reads none, or on this device
  /// they hold what the driver leaves there.
  std::optional<RunResult> run_with_other_variables(const Poisons& poisons);

  /// The values that an output would have if nothing had written it.
  HostTensor unwritten(std::size_t output, Poison poison) const;

  /// Another workspace for the same program: inputs filled in, all other memory poisoned, as in a run with
  /// Poisons::all(poison), and setup done. It shares the outputs of `lender`, and its scratch except for what
  /// set-up writes; `lender` must outlive it.
  gpu::Workspace fresh_workspace(Poison poison, const gpu::Workspace* lender = nullptr);
  /// Poisons the outputs of a fresh_workspace(poison) again, and nothing else. An output that begins with
  /// an input's data gets these, here and wherever outputs are poisoned.
  void poison_outputs(gpu::Workspace& workspace, Poison poison);
  /// Poisons the scratch of a workspace that programs write, if one of its dispatches may read what it wrote
  /// itself: only a program that has zero_scratch() may (docs/trust.md).
  void poison_joined(gpu::Workspace& workspace, Poison poison);
  /// Its tensors, and its scratch with memory of its own.
  std::vector<Resource> resources() const;
  /// What programs changed of the inputs and guards of a fresh_workspace(poison).
  std::vector<Finding> changes_in(const gpu::Workspace& workspace, Poison poison);
  /// The same for inputs alone.
  std::vector<Finding> changed_inputs_in(const gpu::Workspace& workspace, Poison poison);
  /// Calls `make`, which allocates device memory. Originals are optional: they are dropped when there is not
  /// enough memory for both. Throws gpu::OutOfMemory when there is not enough without them.
  template <class Make>
  auto with_room(const Make& make) -> decltype(make()) {
    try {
      return make();
    } catch (const gpu::OutOfMemory&) {
      if (!originals_) throw;
      originals_.reset();
      return make();
    }
  }
  /// Another workspace for the same program, uninitialized.
  gpu::Workspace empty_workspace();
  /// `count` of them, whose memory is allocated together.
  std::vector<gpu::Workspace> empty_workspaces(std::size_t count);
  /// Everything that timed programs write: outputs, and scratch except for what set-up writes.
  std::vector<Resource> written_when_timed() const;
  /// Reads the outputs from a workspace.
  Answer outputs_of(const gpu::Workspace& workspace);
  /// How many of these sets hold this answer, counted from the first up to one that does not. With originals,
  /// the device compares all of them in one submission.
  std::size_t count_holding(std::span<const gpu::Workspace* const> sets, const Answer& answer);

  /// An input as packed for the device, without guards, its padding poisoned; `tensor` counts inputs and
  /// outputs.
  PackedInput packed(std::size_t tensor, Poison padding) const;

  gpu::Executable& executable() { return executable_; }
  /// Whether a second program would find what the first one made of its data: poison_outputs() before each.
  bool updates_in_place() const { return is_updated_in_place(case_->tensors); }
  /// Whether memory that was overwritten holds nothing any more that a program leaves as it is.
  bool writes_in_part() const { return is_written_in_part(case_->tensors); }
  std::uint64_t memory_bytes() const { return memory_bytes_; }
  /// Frees the experiment's own workspace and its packed inputs; they are made again when needed.
  void release();
  /// Null when there are none or they were dropped.
  const Originals* originals() const { return originals_.get(); }
  std::unique_ptr<Originals> take_originals() { return std::move(originals_); }

 private:
  /// The guard size of a tensor in bytes.
  std::uint32_t guard(std::size_t tensor) const {
    return gpu::guard_of(case_->forms[tensor], gpu::guard_bytes);
  }
  gpu::Workspace workspace_of(const gpu::Workspace* lender);
  RunResult run_by(gpu::Executable& executable, const Poisons& poisons,
                   std::span<const gpu::Executable::Overwrite> overwrites = {});
  void pack_inputs(Poison padding);
  ByteBuffer with_guards(std::size_t tensor, Poison guards) const;
  ByteBuffer poisoned_output(std::size_t tensor, Poison guards, Poison outputs) const;
  void fill(gpu::Workspace& workspace, const Poisons& poisons);
  void fill_by_host(gpu::Workspace& workspace, const Poisons& poisons);
  void poison_by_host(gpu::Workspace& workspace, std::span<const Resource> scratch, Poison poison);
  /// Fills the scratch that holds zeros when a program begins.
  void fill_with_zeros(gpu::Workspace& workspace, const Poisons& poisons);
  void inspect_zeros(std::vector<Finding>& found) const;
  void look_by_host(const Poisons& poisons, RunResult& seen);
  HostTensor inspect(std::size_t tensor, Poison guards, RunResult& seen) const;
  void check_input(std::size_t tensor, std::span<const std::byte> data, std::vector<Finding>& found) const;
  void look_on_device(const Poisons& poisons, RunResult& seen);
  void inspect_guards(const gpu::Workspace& workspace, const Poisons& poisons,
                      std::vector<Finding>& found) const;
  void inspect_guards_of(const gpu::Workspace& workspace, Resource resource, Form form, Poison poison,
                         std::vector<Finding>& found) const;
  void inspect_scratch(const gpu::Workspace& workspace, Poison outputs, std::vector<Finding>& found) const;
  std::string name_of(Resource resource) const;
  HostTensor read(const gpu::Workspace& workspace, std::size_t tensor) const;

  gpu::Device* device_;
  gpu::ShaderLibrary* shaders_;
  const Case* case_;
  const Program* program_;
  PackedInputs* inputs_;
  std::vector<Physical> physical_;  ///< one per tensor
  /// Used by the host's way only: the bytes last uploaded for each tensor. Outputs have none; empty before
  /// the first upload.
  std::vector<PackedInput> uploaded_;
  Poison uploaded_padding_ = Poison::A;
  std::unique_ptr<Originals> originals_;
  gpu::Executable executable_;
  std::optional<gpu::Workspace> workspace_;
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace assay
