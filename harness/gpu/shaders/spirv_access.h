#pragma once

#include "harness/gpu/shaders/spirv_instructions.h"

#include <cstdint>
#include <map>
#include <set>

namespace assay::gpu {

/// Which global variables of a module have their content taken by some instruction (loaded, fetched, returned
/// by an atomic whose result is used), and which have it changed. What the source or a decoration says of
/// that is not asked. An instruction that is not known counts as one that does both.
class SpirvAccess {
 public:
  /// All instructions of a module in order.
  void read(const SpirvInstruction& instruction);

  /// Of buffers and images, by the id of the variable.
  bool is_read(std::uint32_t variable) const;
  bool is_written(std::uint32_t variable) const { return written_.contains(variable); }

 private:
  std::uint32_t root_of(std::uint32_t id) const;
  void follow(const SpirvInstruction& instruction);
  void follow_pointer(const SpirvInstruction& instruction, std::uint32_t root);
  void note_all(const SpirvInstruction& instruction);

  bool in_function_ = false;
  std::map<std::uint32_t, std::uint32_t> roots_;  ///< pointers into variables, and images: of which
  std::set<std::uint32_t> handles_;               ///< variables that hold images: loading them reads nothing
  std::set<std::uint32_t> read_;
  std::set<std::uint32_t> written_;
  std::map<std::uint32_t, std::uint32_t> atomics_;  ///< their results: of which variable
  std::set<std::uint32_t> mentioned_;               ///< ids in functions
};

}  // namespace assay::gpu
