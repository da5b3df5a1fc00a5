#pragma once

#include "harness/gpu/spirv/spirv_access.h"
#include "harness/gpu/spirv/spirv_instructions.h"

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace assay::gpu {

/// The instructions of a module that its interface depends on, kept so that many specializations need only
/// one parse, which takes longer than all the rest. Does not refer to the words.
class SpirvOutline {
 public:
  /// Throws Error as each_instruction() does.
  SpirvOutline(std::span<const std::uint32_t> words, std::string_view what);

  /// Calls `visit` for each instruction in order; the body of a function is a single OpNop that mentions all
  /// its ids. Instructions that no interface depends on are left out: names of locals and members, source
  /// lines, precision of values in bodies.
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
  void forget_names_of_locals();

  std::vector<Kept> all_;
  SpirvAccess access_;
  bool in_body_ = false;
};

}  // namespace assay::gpu
