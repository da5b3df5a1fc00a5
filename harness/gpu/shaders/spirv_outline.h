#pragma once

#include "harness/gpu/shaders/spirv_access.h"
#include "harness/gpu/shaders/spirv_instructions.h"

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace assay::gpu {

/// What a module's interface is told from, kept to be told for many specializations: parsing takes longer
/// than all the rest. Holds no reference to the words.
class SpirvOutline {
 public:
  /// Throws Error as each_instruction() does.
  SpirvOutline(std::span<const std::uint32_t> words, std::string_view what);

  /// Tells `visit` of each instruction in order; the body of a function is a single OpNop that mentions all
  /// its ids. Left out is what no interface is told from: names of locals and of members, lines of the
  /// source, the precision of what bodies compute.
  void each(const std::function<void(const SpirvInstruction&)>& visit) const;

  /// What the bodies of functions do with global variables.
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
