#pragma once

#include "harness/gpu/spirv/spirv_instructions.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace assay::gpu {

/// How an instruction uses the variable that its first id refers to.
enum class VariableUse : std::uint8_t {
  PassesOn,  ///< its result refers to the same variable
  Reads,
  Writes,
  Updates,  ///< an atomic that makes the new content from the previous one and returns the latter
  Asks,     ///< queries a size
  Unknown
};

VariableUse use_of_variable(std::uint16_t opcode);

/// Which global variables of a module are read by some instruction (loaded, fetched, returned by an atomic
/// whose result is used), which are written, and which are updated: by an atomic that makes the new content
/// from the old, whether its result is used or not. Only instructions count, not what the source or a
/// decoration declares. An unknown instruction counts as all three.
class SpirvAccess {
 public:
  /// Takes the next instruction; call it with all instructions of a module, in order.
  void read(const SpirvInstruction& instruction);

  /// Whether a buffer or image is read; `variable` is its id.
  bool is_read(std::uint32_t variable) const;
  bool is_written(std::uint32_t variable) const { return written_.contains(variable); }
  bool is_updated(std::uint32_t variable) const { return updated_.contains(variable); }

 private:
  std::uint32_t root_of(std::uint32_t id) const;
  void follow(const SpirvInstruction& instruction);
  void follow_pointer(const SpirvInstruction& instruction, std::uint32_t root);
  void note_all(const SpirvInstruction& instruction);

  bool in_function_ = false;
  std::unordered_map<std::uint32_t, std::uint32_t> roots_;  ///< the variable of each pointer and image
  std::set<std::uint32_t> handles_;  ///< variables that hold images: loading one reads no texel
  std::set<std::uint32_t> read_;
  std::set<std::uint32_t> written_;
  std::set<std::uint32_t> updated_;
  std::map<std::uint32_t, std::uint32_t> atomics_;  ///< the variable of each atomic's result
  std::unordered_set<std::uint32_t> mentioned_;     ///< ids in functions
};

/// The instructions of a module that its interface depends on, kept so that many specializations need only
/// one parse, which takes longer than all the rest. Does not refer to the words.
class SpirvOutline {
 public:
  /// Throws Error as each_instruction() does.
  SpirvOutline(std::span<const std::uint32_t> words, std::string_view what);

  /// Calls `visit` for each instruction in order; the body of a function is a single OpNop that mentions the
  /// global variables and the functions that it does. Instructions that no interface depends on are left out:
  /// names of locals and members, source lines, precision of values in bodies.
  void each(const std::function<void(const SpirvInstruction&)>& visit) const;

  /// How the bodies of functions access global variables.
  const SpirvAccess& access() const { return access_; }

 private:
  struct Kept {
    std::uint16_t opcode = spv::OpNop;
    std::uint32_t type = 0, result = 0;
    std::vector<std::uint32_t> operands, ids;
  };
  void keep(const SpirvInstruction& instruction);
  void forget_locals();

  std::vector<Kept> all_;
  SpirvAccess access_;
  bool in_body_ = false;
};

}  // namespace assay::gpu
