#pragma once

#include <span>
#include <string_view>

namespace assay::gpu {

/// A shader source that is part of the binary (cmake/embed_shaders.cmake).
struct EmbeddedSource {
  std::string_view name;  ///< path below shaders/: "common/indexing.glslh"
  std::string_view text;
};

/// Everything in shaders/, sorted by name.
std::span<const EmbeddedSource> embedded_shaders();

}  // namespace assay::gpu
