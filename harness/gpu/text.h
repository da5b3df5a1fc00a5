#pragma once

#include <cstdint>
#include <string>

namespace assay::gpu {

/// "512 bytes", "214.0 MB", "3.2 GB": powers of ten, as data sheets count.
std::string bytes_text(std::uint64_t bytes);

}  // namespace assay::gpu
