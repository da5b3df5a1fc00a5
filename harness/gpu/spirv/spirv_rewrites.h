#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
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

/// The module with another size of its workgroups. Nothing if its size depends on constants or is declared as
/// one (WorkgroupSize), which this would not change. A compiler may have computed with the size that it saw.
/// Throws Error as each_instruction() does.
std::optional<std::vector<std::uint32_t>> with_local_size(std::span<const std::uint32_t> words,
                                                          const std::array<std::uint32_t, 3>& size);

/// The module, in which each variable in workgroup memory has zero as its initial value, so that a workgroup
/// finds nothing there that an earlier one left. Needs the feature shaderZeroInitializeWorkgroupMemory; it
/// takes time, which must be the same for whatever is compared. Throws Error as each_instruction() does.
std::vector<std::uint32_t> with_cleared_workgroup_memory(std::span<const std::uint32_t> words);

}  // namespace assay::gpu
