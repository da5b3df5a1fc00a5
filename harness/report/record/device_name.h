#pragma once

#include <string>
#include <string_view>

namespace assay {

/// A device's name without vendor, driver and remarks in parentheses: "H100 80GB HBM3" for "NVIDIA H100 80GB
/// HBM3", "llvmpipe" for "llvmpipe (LLVM 15.0.6, 256 bits)".
std::string short_device_name(std::string_view name);

}  // namespace assay
