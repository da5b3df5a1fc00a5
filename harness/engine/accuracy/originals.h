#pragma once

#include "harness/cases/case.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/packed_inputs.h"
#include "harness/gpu/gpu.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace assay {

/// The poison that each part of memory gets before a program runs.
struct Poisons {
  std::optional<Poison> padding = Poison::A;  ///< of the inputs; nothing: keep the last one
  Poison outputs = Poison::A;                 ///< outputs, and scratch with its guards
  Poison guards = Poison::A;                  ///< around inputs and outputs

  /// The same poison everywhere.
  static Poisons all(Poison poison) { return {poison, poison, poison}; }
};

/// Reference copies of a case's tensors in device memory that no program can access: the inputs as the host
/// packed them, uploaded once, and the outputs of a run, once the host has read them. Runs get their inputs
/// from here, and the memory that they leave is compared with these copies on the device, so only differing
/// data cross the bus. The host inspects whatever differs.
class Originals {
 public:
  /// All arguments must outlive this object. Throws gpu::OutOfMemory.
  Originals(gpu::Device& device, gpu::DeviceMemory& memory, const Case& test_case, PackedInputs& inputs);

  /// Copies the inputs into a workspace and poisons the rest of it. The workspace may belong to another
  /// program over the same tensors.
  void lay_out(gpu::Workspace& workspace, const Program& program, const Poisons& poisons);

  /// Poisons the outputs and their guards again; everything else stays.
  void poison_outputs(gpu::Workspace& workspace, Poison poison);

  /// Whether the inputs of a workspace are unchanged since lay_out(), padding included.
  bool inputs_are_whole(const gpu::Workspace& workspace);

  /// The kept answer, if the outputs of a workspace are bitwise equal to it, padding included; else null.
  Answer recognize(const gpu::Workspace& workspace);
  /// Whether each of these workspaces holds the answer that was kept, padding included. There must be one.
  bool recognizes_all(std::span<const gpu::Workspace* const> workspaces);
  /// Keeps a copy of the outputs of a workspace, which the host has read as `answer`, instead of the previous
  /// ones.
  void keep(const gpu::Workspace& workspace, Answer answer);

  std::uint64_t memory_bytes() const { return tensors_.memory_bytes(); }

 private:
  void upload(Poison padding);
  /// Gives the outputs that are updated in place the data that they begin with.
  void begin_updated(gpu::Workspace& workspace);

  gpu::DeviceMemory* memory_;
  const Case* case_;
  PackedInputs* packed_;
  std::vector<Resource> inputs_;
  std::vector<Resource> outputs_;
  std::vector<gpu::DeviceMemory::Copy> updated_;
  gpu::Workspace tensors_;
  std::optional<Poison> padding_;  ///< of the uploaded inputs
  Answer answer_;                  ///< the kept outputs; null: none yet
};

}  // namespace assay
