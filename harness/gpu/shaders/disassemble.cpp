#include "harness/gpu/gpu.h"

#include <glslang/SPIRV/disassemble.h>

#include <sstream>

namespace assay::gpu {

std::string disassemble(std::span<const std::uint32_t> words) {
  std::ostringstream text;
  spv::Disassemble(text, {words.begin(), words.end()});
  return text.str();
}

}  // namespace assay::gpu
