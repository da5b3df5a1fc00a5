#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace assay::gpu {

/// Where a module's variable is bound.
struct BindingPlace {
  std::uint32_t set = 0, binding = 0;
  friend auto operator<=>(const BindingPlace&, const BindingPlace&) = default;
};

/// The module with its variables at other places: `moved` is called with each declared place and returns the
/// new one. Nothing else changes. Throws Error as each_instruction() does.
std::vector<std::uint32_t> with_places(std::span<const std::uint32_t> words,
                                       const std::function<BindingPlace(BindingPlace)>& moved);

/// The module with its compute entry point named "main", which pipelines ask for: compilers of HLSL and Slang
/// keep the function's name. A module with several entry points, which no kernel may have, stays as it is.
/// Throws Error as each_instruction() does.
std::vector<std::uint32_t> with_entry_main(std::span<const std::uint32_t> words);

}  // namespace assay::gpu
