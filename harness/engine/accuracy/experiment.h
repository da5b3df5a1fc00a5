#pragma once

#include "harness/cases/case.h"
#include "harness/engine/accuracy/answer.h"
#include "harness/engine/accuracy/guards.h"
#include "harness/engine/accuracy/originals.h"
#include "harness/engine/accuracy/packed_inputs.h"
#include "harness/gpu/gpu.h"
#include "harness/tensor/pack.h"
#include "harness/tensor/tensor.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// What one run left behind.
struct RunResult {
  Answer outputs;
  std::vector<Finding> findings;
};

/// One case on one device: its tensors in device memory, its program ready to run with chosen poison.
///
/// There are two ways for tensors to get there and for answers to be seen. By the host: it packs, poisons,
/// uploads and reads everything. With originals: all of that is copied, poisoned and compared on the device,
/// and the host reads what is new. What is found out must not depend on the way: where anything is not as it
/// should be, the host looks at it, and the originals are given up.
class Experiment {
 public:
  /// All but the device's memory must outlive this. `originals` are of the same case; null: everything by the
  /// host. Throws gpu::OutOfMemory, gpu::CompileError.
  Experiment(gpu::Device& device, gpu::ShaderLibrary& shaders, const Case& test_case, const Program& program,
             PackedInputs& inputs, std::unique_ptr<Originals> originals = nullptr);

  /// Compiles what such an experiment runs, before there is one; any thread may. Throws gpu::CompileError.
  static void prepare(gpu::Device& device, gpu::ShaderLibrary& shaders, const Case& test_case,
                      const Program& program);

  /// Poisons all memory that holds no input element, runs the program once and looks at everything.
  RunResult run(const Poisons& poisons);

  /// What each element of an output would be if nothing had written it.
  HostTensor unwritten(std::size_t output, Poison poison) const;

  /// A further set of memory for the same program: inputs filled in, outputs poisoned, setup done. `lender`:
  /// its outputs are this set's too, and its scratch but for what set-up writes; it must outlive the set.
  gpu::Workspace fresh_workspace(Poison outputs, const gpu::Workspace* lender = nullptr);
  /// The same without anything in it.
  gpu::Workspace empty_workspace();
  /// What timed programs write: outputs, and scratch but for what set-up writes.
  std::vector<Resource> written_when_timed() const;
  /// The outputs that a workspace holds.
  Answer outputs_of(const gpu::Workspace& workspace);
  /// How many of these sets hold this answer, counted from the first up to one that does not. With originals,
  /// the device compares all of them in one submission.
  std::size_t count_holding(std::span<const gpu::Workspace* const> sets, const Answer& answer);

  /// An input's memory, without guards, its padding poisoned; `tensor` counts inputs and outputs.
  PackedInput packed(std::size_t tensor, Poison padding) const;

  gpu::Executable& executable() { return executable_; }
  std::uint64_t memory_bytes() const { return memory_bytes_; }
  /// Frees the experiment's own set of memory and its packed inputs; what needs them makes new ones.
  void release();
  /// Null without, or when they were given up.
  const Originals* originals() const { return originals_.get(); }
  std::unique_ptr<Originals> take_originals() { return std::move(originals_); }

 private:
  /// Bytes before and after the data of a tensor.
  std::uint32_t guard(std::size_t tensor) const {
    return gpu::guard_of(case_->forms[tensor], gpu::guard_bytes);
  }
  gpu::Workspace workspace_of(const gpu::Workspace* lender);
  void pack_inputs(Poison padding);
  ByteBuffer with_guards(std::size_t tensor, Poison guards) const;
  ByteBuffer poisoned_output(std::size_t tensor, Poison guards, Poison outputs) const;
  void fill(gpu::Workspace& workspace, const Poisons& poisons);
  void fill_by_host(gpu::Workspace& workspace, const Poisons& poisons);
  void look_by_host(const Poisons& poisons, RunResult& seen);
  HostTensor inspect(std::size_t tensor, Poison guards, RunResult& seen) const;
  void look_on_device(const Poisons& poisons, RunResult& seen);
  void inspect_guards(const std::string& name, Resource resource, Form form, Poison poison,
                      RunResult& seen) const;
  void inspect_scratch(Poison outputs, RunResult& seen) const;
  HostTensor read(const gpu::Workspace& workspace, std::size_t tensor) const;

  gpu::Device* device_;
  const Case* case_;
  const Program* program_;
  PackedInputs* inputs_;
  std::vector<Physical> physical_;  ///< one per tensor
  /// By the host: what the inputs' memory was filled with last, one per tensor; nothing for outputs, empty
  /// before the first.
  std::vector<PackedInput> uploaded_;
  Poison uploaded_padding_ = Poison::A;
  std::unique_ptr<Originals> originals_;
  gpu::Executable executable_;
  std::optional<gpu::Workspace> workspace_;
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace assay
