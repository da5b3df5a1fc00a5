#pragma once

#include "harness/tensor/dtype.h"
#include "harness/tensor/form.h"
#include "harness/tensor/tensor.h"

#include <array>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assay {

namespace chain {
struct PlannedChain;
}

/// A tensor of the op, or a scratch tensor of the program.
struct Resource {
  enum class Kind : std::uint8_t { Tensor, Scratch } kind = Kind::Tensor;
  std::uint32_t index = 0;

  static Resource tensor(std::uint32_t index) { return {Kind::Tensor, index}; }
  static Resource scratch(std::uint32_t index) { return {Kind::Scratch, index}; }
  friend bool operator==(const Resource&, const Resource&) = default;
};

/// Says what is bound at one binding of a dispatch, and how the shader accesses it.
struct Binding {
  enum class Access : std::uint8_t {
    Storage,  ///< a storage buffer or storage image, according to its form; read or written
    Sampled   ///< a texture read through a sampler: texelFetch, or texture() at the nearest texel, clamped
  };

  /// Says which part of a buffer's memory (guard, data, guard) the shader sees.
  enum class Range : std::uint8_t {
    All,           ///< all of it: the shader adds `guard_words` to every index
    DataAndAfter,  ///< from the data on, for shaders that know of no guards: what lies before is out of reach
    Data           ///< the data alone, for such shaders that ask for a buffer's length
  };

  // A resource alone is bound as storage, which most dispatches use.
  Binding(Resource bound, Access how = Access::Storage) : resource(bound), access(how) {}
  bool is_sampled() const { return access == Access::Sampled; }

  Resource resource;
  Access access = Access::Storage;
  Range range = Range::All;
  friend bool operator==(const Binding&, const Binding&) = default;
};

/// Binds a texture that the shader declares as `sampler2D`, `isampler3D`, ..., which is the fastest way to
/// read textures on some devices.
inline Binding sampled(Resource texture) {
  return {texture, Binding::Access::Sampled};
}

/// A tensor that exists only inside a program, in a buffer or texture that is poisoned and guarded like the
/// others.
struct Scratch {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  Form form;
  /// The scratch in whose memory this one lies, from its start: one that needs as much memory or more, is of
  /// the same kind (a texture: of the same dtype, shape and form), has its own memory, and is bound by no
  /// dispatch. Scratch that shares memory must not be in use at the same time.
  std::optional<std::uint32_t> in_memory_of = std::nullopt;
  /// Whether it holds zeros instead of poison when a program begins: counters by which workgroups find out
  /// that they are the last. The program must leave zeros there; that is checked. It has its own memory.
  bool is_zero_between_runs = false;
  friend bool operator==(const Scratch&, const Scratch&) = default;
};

/// The purpose of a dispatch. `Setup` runs once, untimed (weight packing); `Transition` only changes layouts.
enum class DispatchRole : std::uint8_t { Op, Transition, Setup };

std::string_view name_of(DispatchRole role);  ///< "op", "transition", "setup"

/// The value of a specialization constant, by its name in GLSL. A dispatch sets exactly those that its shader
/// variant declares, except the local size (ids 0, 1, 2) and `guard_words`, which accessors add to every
/// index; the runner sets these.
struct SpecConstant {
  std::string name;
  std::uint32_t value = 0;  ///< the bits of an int, uint, float or bool (0 or 1)
  friend bool operator==(const SpecConstant&, const SpecConstant&) = default;
};

/// A number whose type in the shader decides how it is encoded.
using Number = std::variant<std::int64_t, double>;

struct NamedNumber {
  std::string name;
  Number value;
  friend bool operator==(const NamedNumber&, const NamedNumber&) = default;
};

/// How a kernel is called that follows none of this harness's conventions: a dispatch names what the kernel
/// declares, and where that is and of which type is found in its SPIR-V.
struct ExternalCall {
  /// Where the dispatch's shader and what it includes are looked for, before the embedded sources: the op's
  /// folder, then others. Equal shaders in other folders run equally.
  std::vector<std::filesystem::path> folders;
  /// For each of the dispatch's bindings: the variable's or block's name, or "set.binding".
  std::vector<std::string> places;
  /// The workgroup's size, in place of a fixed one of the module: some projects leave it out of their
  /// sources. 0: the module's own.
  std::array<std::uint32_t, 3> local_size{};
  /// Specialization constants by name, by id ("3"), or `local_size_x`, `_y`, `_z`. Others keep their
  /// defaults.
  std::vector<NamedNumber> constants;
  /// Members of the push-constant block, all of them: "columns", "size.x", "strides[2]"; "*" are all others.
  /// In a module without names a member is its index: "0", "1.2".
  std::vector<NamedNumber> push;
  /// Members of uniform blocks: "Block.columns", "0.1.columns" (set 0, binding 1).
  std::vector<NamedNumber> uniforms;
  std::string declared_at;  ///< "FILE:LINE:COLUMN" of the dispatch, for messages; may be empty
  friend bool operator==(const ExternalCall&, const ExternalCall&) = default;
};

/// A `#define` that selects a variant of a shader.
struct Define {
  std::string name;
  std::string value;
  friend auto operator<=>(const Define&, const Define&) = default;
};

/// A define that asks for the matrices of VK_KHR_cooperative_matrix: GLSL that is written with those of
/// GL_NV_cooperative_matrix, the only ones that the distribution's compiler knows, becomes a module with
/// them.
inline constexpr std::string_view khr_matrices_define = "KHR_MATRICES";

bool ask_for_khr_matrices(std::span<const Define> defines);
void add_khr_matrices(std::vector<Define>& defines);
/// The defines without it, for readers of SPIR-V that do not know KHR's matrices.
std::vector<Define> without_khr_matrices(std::vector<Define> defines);

/// Push constants: 32-bit scalars in the order of their declaration in GLSL (std430, no vectors).
class PushConstants {
 public:
  PushConstants& add(std::int64_t value) {
    words_.push_back(static_cast<std::uint32_t>(value));
    return *this;
  }
  PushConstants& add(float value) {
    words_.push_back(std::bit_cast<std::uint32_t>(value));
    return *this;
  }
  const std::vector<std::uint32_t>& words() const { return words_; }
  friend bool operator==(const PushConstants&, const PushConstants&) = default;

 private:
  std::vector<std::uint32_t> words_;
};

struct Dispatch {
  std::string
      label;  ///< for example "quantize" or "permute"; the dispatch's share of the time is reported under it
  std::string shader;  ///< file in shaders/: "q8ta_pixel_shuffle.comp"
  std::vector<Define> defines;
  std::array<std::uint32_t, 3> local_size{64, 1, 1};
  std::array<std::uint32_t, 3> workgroups{1, 1, 1};
  std::vector<SpecConstant> constants;
  PushConstants push;
  std::vector<Binding> bindings;  ///< set 0, binding i; a resource may be bound once
  DispatchRole role = DispatchRole::Op;
  /// The subgroup size to require, with all subgroups full (DeviceInfo::can_demand). 0: the driver chooses.
  std::uint32_t subgroup_size = 0;
  /// The size of shared memory, if the op knows it: checked against the device's limit before the shader is
  /// compiled. It must not be smaller than the shader's.
  std::uint32_t shared_bytes = 0;
  /// For kernels from outside. `local_size`, `constants` and `push` are then not used, and `bindings` are
  /// bound at the call's places; a resource that is only read may be bound several times.
  std::optional<ExternalCall> external = std::nullopt;
  friend bool operator==(const Dispatch&, const Dispatch&) = default;
};

/// What an impl submits: dispatches in order, with a full compute barrier between each pair.
struct Program {
  std::vector<Scratch> scratch;
  std::vector<Dispatch> dispatches;
  /// Why a dispatch reads an output that an earlier dispatch of the program has written. Without a reason
  /// shaders that read outputs are refused, because data found there could save a program work that an
  /// earlier run has done.
  std::string free_access_because;
  /// For tests of the defences behind that one: why nothing is checked about what shaders read and write.
  std::string unchecked_because;
  /// For a chain: its nodes and layouts, so that they can be judged one by one and reported. Null for other
  /// ops.
  std::shared_ptr<const chain::PlannedChain> chain;

  /// Whether both do the same: how a chain was planned is no part of that.
  friend bool operator==(const Program& a, const Program& b) {
    return a.scratch == b.scratch && a.dispatches == b.dispatches &&
           a.free_access_because == b.free_access_because && a.unchecked_because == b.unchecked_because;
  }
};

/// The scratch that has memory of its own.
std::vector<Resource> scratch_with_memory(const Program& program);

/// The scratch that is_zero_between_runs.
std::vector<Resource> zero_scratch(const Program& program);

/// Adds a scratch tensor to `program`.
Resource add_scratch(Program& program, Scratch scratch);

/// Appends the program of an op that this op consists of. Tensor i of `part` becomes `tensors[i]` of
/// `program`, and its scratch is added after the existing scratch. Throws std::logic_error if `tensors` has
/// no such tensor.
void append(Program& program, const Program& part, std::span<const Resource> tensors);

/// The number of workgroups in one dimension that every Vulkan device supports.
inline constexpr std::uint32_t workgroups_of_any_device = 65535;

/// Returns the workgroups for `invocations` in one dimension, folded so that at most `most_along_x` are along
/// x: {x, y, 1} with x*y*local >= invocations. Shaders get the flat index from `flat_invocation()`
/// (common/indexing.glslh) and return early past the end. `most_along_x` is the device's
/// max_workgroup_count[0]; anything above workgroups_of_any_device is not used, so that a grid is folded on
/// all devices or on none. Throws Error if no grid of two such dimensions, or no 32-bit index, is large
/// enough.
std::array<std::uint32_t, 3> fold_grid(std::int64_t invocations, std::uint32_t local_size,
                                       std::uint32_t most_along_x = workgroups_of_any_device);

}  // namespace assay
