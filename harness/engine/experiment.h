#pragma once

#include "harness/cases/case.h"
#include "harness/core/pack.h"
#include "harness/core/tensor.h"
#include "harness/engine/packed_inputs.h"
#include "harness/gpu/gpu.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// Something a run did to memory that it must not do.
struct Trespass {
  std::string metric;  ///< "write_out_of_bounds" or "input_modified"
  std::string reason;  ///< a sentence: which tensor, where, how many bytes
};

/// What one run left behind.
struct Observation {
  std::vector<HostTensor> outputs;
  std::vector<Trespass> trespasses;
};

/// One case on one device: its tensors in device memory, its program ready to run with chosen poison.
class Experiment {
 public:
  /// All but the device's memory must outlive this. `guard` is gpu::guard_bytes, or 0 as in PERF. Throws
  /// gpu::OutOfMemory, gpu::CompileError.
  Experiment(gpu::Device& device, gpu::ShaderLibrary& shaders, const Case& one, const Program& program,
             PackedInputs& inputs, std::uint32_t guard);

  /// Poisons all memory that holds no input element, runs the program once and reads everything back.
  /// `padding` goes into the inputs' padding and all guards, `outputs` into outputs and scratch.
  Observation run(Poison padding, Poison outputs);

  /// What each element of an output would be if nothing had written it.
  HostTensor unwritten(std::size_t output, Poison poison) const;

  /// A further set of memory for the same program: inputs uploaded, outputs poisoned, setup done. The inputs
  /// are packed by the first of these only.
  gpu::Workspace fresh_workspace(Poison outputs);
  /// The same without anything in it.
  gpu::Workspace empty_workspace();
  /// The outputs that a workspace holds.
  std::vector<HostTensor> read_outputs(const gpu::Workspace& workspace) const;

  /// Which of the tensors are outputs, in order.
  std::vector<std::size_t> output_tensors() const;

  gpu::Executable& executable() { return executable_; }
  std::uint64_t memory_bytes() const { return memory_bytes_; }
  /// Frees the experiment's own set of memory and its packed inputs; what needs them makes new ones.
  void release();

 private:
  /// Bytes before and after the data of a tensor.
  std::uint32_t guard(std::size_t tensor) const { return gpu::guard_of(case_->forms[tensor], guard_); }
  void pack_inputs(Poison padding);
  AllocationBytes poisoned_output(std::size_t tensor, Poison padding, Poison outputs) const;
  void fill(gpu::Workspace& workspace, Poison padding, Poison outputs);
  void inspect(std::size_t tensor, Poison padding, Observation& seen) const;

  gpu::Device* device_;
  const Case* case_;
  const Program* program_;
  PackedInputs* inputs_;
  std::uint32_t guard_;
  std::vector<Physical> physical_;  ///< one per tensor
  /// What the inputs' memory was filled with last, one per tensor; null for outputs, empty before the first.
  std::vector<std::shared_ptr<const AllocationBytes>> uploaded_;
  Poison uploaded_padding_ = Poison::A;
  gpu::Executable executable_;
  std::optional<gpu::Workspace> workspace_;
  std::uint64_t memory_bytes_ = 0;
};

/// Physical form of each of a case's tensors.
std::vector<Physical> physical_tensors(const Case& one);

}  // namespace assay
