#pragma once

#include "harness/cases/case.h"
#include "harness/engine/accuracy/answer.h"
#include "harness/engine/accuracy/packed_inputs.h"
#include "harness/gpu/gpu.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace assay {

/// What is put where before a program runs.
struct Poisons {
  std::optional<Poison> padding = Poison::A;  ///< of the inputs; nothing: whichever it was last
  Poison outputs = Poison::A;                 ///< outputs, and scratch with its guards
  Poison guards = Poison::A;                  ///< around inputs and outputs

  /// The same everywhere.
  static Poisons all(Poison poison) { return {poison, poison, poison}; }
};

/// A case's tensors on the device, in memory that no program is given: the inputs as the host packed them,
/// uploaded once, and the outputs that a run left, once the host has read them. Runs get their inputs from
/// here, and what they leave is compared with it, all on the device: what crosses the bus is what differs.
/// Whatever is found different is for the host to look at.
class Originals {
 public:
  /// All must outlive this. Throws gpu::OutOfMemory.
  Originals(gpu::Device& device, gpu::DeviceMemory& memory, const Case& test_case, PackedInputs& inputs);

  /// Poisons all of a workspace that holds no input element, and copies the inputs into it. It may be of
  /// another program over the same tensors.
  void lay_out(gpu::Workspace& workspace, const Program& program, const Poisons& poisons);

  /// Whether the inputs of a workspace still hold what was copied, padding included.
  bool inputs_are_whole(const gpu::Workspace& workspace);

  /// The answer that was kept, if a workspace holds the very same one, padding included; else null.
  Answer recognize(const gpu::Workspace& workspace);
  /// Whether each of these workspaces holds the answer that was kept, padding included. There must be one.
  bool recognizes_all(std::span<const gpu::Workspace* const> workspaces);
  /// Keeps the outputs of a workspace, which the host has read as `answer`, in place of those of before.
  void keep(const gpu::Workspace& workspace, Answer answer);

  std::uint64_t memory_bytes() const { return tensors_.memory_bytes(); }

 private:
  void upload(Poison padding);

  gpu::DeviceMemory* memory_;
  const Case* case_;
  PackedInputs* packed_;
  std::vector<Resource> inputs_;
  std::vector<Resource> outputs_;
  gpu::Workspace tensors_;
  std::optional<Poison> padding_;  ///< of the inputs that are there
  Answer answer_;                  ///< what the outputs are; null: nothing yet
};

}  // namespace assay
