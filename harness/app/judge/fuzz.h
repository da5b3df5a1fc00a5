#pragma once

#include "harness/app/judge/submission.h"
#include "harness/cases/case.h"
#include "harness/op/op.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

struct FuzzedCases {
  std::vector<std::filesystem::path> files;  ///< one per op
  std::vector<std::string> ids;
};

/// Draws at most `count` cases with shapes that no file has, by mutating `mattering` ones, and writes them as
/// case files below `folder`. Keeps small cases that the op accepts, that an impl can run on the device, and
/// whose program uses the submission. Equal seeds give equal cases.
FuzzedCases fuzzed_cases(std::span<const Case* const> mattering, const Registry& registry, ShaderUse& use,
                         std::size_t count, std::uint64_t seed, const std::filesystem::path& folder);

}  // namespace assay::app
