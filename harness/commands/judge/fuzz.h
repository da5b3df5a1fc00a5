#pragma once

#include "harness/cases/case.h"
#include "harness/commands/judge/shader_use.h"
#include "harness/commands/points/candidates.h"
#include "harness/op/op.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace assay::app {

/// Draws cases that no file has, by varying those of `judged` (variation.h), and writes them as case files
/// below `folder`: `count` in all, but at least two of each op. A quarter of each op's have a tensor of more
/// than 300,000 elements, and some of these one of several million. Keeps cases that the op accepts, that an
/// impl can run on the device, whose operations the CPU's reference does in about a second, and whose SPIR-V
/// the submission changes. Equal seeds give equal cases.
DrawnCases fuzzed_cases(std::span<const Case* const> judged, const Registry& registry, ShaderUse& use,
                        std::size_t count, std::uint64_t seed, const std::filesystem::path& folder);

}  // namespace assay::app
