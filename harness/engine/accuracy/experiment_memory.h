#pragma once

#include "harness/base/byte_buffer.h"
#include "harness/cases/case.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/gpu/gpu.h"
#include "harness/op/op.h"
#include "harness/op/program.h"
#include "harness/tensor/form.h"
#include "harness/tensor/pack.h"
#include "harness/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace assay {

/// Something wrong in the memory that a run left behind.
struct Finding {
  std::string metric;      ///< see AccuracyResult::metric: "write_out_of_bounds", "wrong_value", ...
  std::string reason;      ///< a sentence: which tensor, where, how many bytes
  std::string memory{};    ///< names the guard that was written; empty for other findings
  std::int64_t bytes = 0;  ///< how many bytes of it were written
};

/// The guards of one allocation: `before` starts at offset 0, `after` at offset `end`, both in bytes.
struct Guards {
  std::span<const std::byte> before, after;
  std::uint64_t end = 0;
};

/// Adds a finding for each guard that no longer holds `poison`.
void check_guards(const std::string& name, const Guards& guards, Poison poison, std::vector<Finding>& found);

/// Adds the findings of another run of the same program to `found`. A guard that both runs wrote stays one
/// finding, that of the run with more changed bytes: where a written byte equals the poison by chance, one
/// run shows fewer.
void add_findings(std::vector<Finding>& found, const std::vector<Finding>& more);

/// Around which buffers' data a stray write of the program would be seen, as reports say it: "both" sides, or
/// by tensor for kernels that know of no guards, "x=after y=none". Empty: the program binds no buffer.
/// `tensors` and `forms` are those of the case.
std::string guards_seen(const Program& program, std::span<const TensorSpec> tensors,
                        std::span<const Form> forms);

/// The poison of one resource of a program. No two resources have the same poison byte at the same offset, so
/// a kernel that copies one tensor's guard into another's is detected.
constexpr Poison poison_of(Poison poison, Resource resource) {
  constexpr std::uint32_t scratch = 128;  // after the tensors
  return poison.of(1 + resource.index + (resource.kind == Resource::Kind::Scratch ? scratch : 0));
}

/// The bytes of one input as laid out in device memory, without guards.
struct PackedInput {
  std::span<const std::byte> bytes;
  std::shared_ptr<const ByteBuffer> owner;  ///< keeps the bytes alive; null: they belong to the tensor
};

/// The inputs of a group, packed in the forms of its cases. All users that hold an input at the same time
/// share one packed copy, which is freed with the last of them; so rows that differ only in impl or tuning
/// share their bytes. An input whose device layout equals its tensor's is never packed.
class PackedInputs {
 public:
  /// `inputs` must outlive this.
  explicit PackedInputs(std::span<const HostTensor> inputs) : inputs_(inputs) {}

  /// Input `index` in its physical form, its padding poisoned (offsets count from the first byte). Throws
  /// Error when dtype or shape differ.
  PackedInput get(std::size_t index, const Physical& physical, Poison poison);

 private:
  using Key = std::tuple<std::size_t, Form, Poison>;

  std::span<const HostTensor> inputs_;
  std::map<Key, std::weak_ptr<const ByteBuffer>> packed_;
};

/// The poison that each part of memory gets before a program runs.
struct Poisons {
  std::optional<Poison> padding = Poison::A;  ///< of the inputs; nothing: keep the last one
  Poison outputs = Poison::A;                 ///< outputs, and scratch with its guards
  Poison guards = Poison::A;                  ///< around inputs and outputs
  Poison workgroup_memory = Poison::A;

  /// The same poison everywhere.
  static Poisons all(Poison poison) { return {poison, poison, poison, poison}; }
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
  void poison(gpu::Workspace& workspace, std::span<const Resource> resources, Poison poison);

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
