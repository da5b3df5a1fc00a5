#pragma once

#include "harness/app/judge/shader_use.h"
#include "harness/cases/case.h"
#include "harness/op/op.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

struct FuzzedCases {
  std::vector<std::filesystem::path> files;  ///< one an op
  std::vector<std::string> ids;
};

/// Draws at most `count` cases of shapes that no file has, from `mattering` ones by mutated(), and writes
/// them as case files below `folder`. Kept are those that the op accepts, that an impl can run on the device,
/// that are made of the submission and that are small. Equal seeds give equal cases.
FuzzedCases fuzzed_cases(std::span<const Case* const> mattering, const Registry& registry, ShaderUse& use,
                         std::size_t count, std::uint64_t seed, const std::filesystem::path& folder);

}  // namespace assay::app
