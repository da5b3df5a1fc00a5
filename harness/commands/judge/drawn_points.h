#pragma once

#include "harness/commands/judge/judged_cases.h"
#include "harness/commands/judge/shader_use.h"
#include "harness/commands/points/candidates.h"
#include "harness/op/op.h"

#include <cstdint>
#include <filesystem>
#include <span>

namespace assay::app {

/// Draws a timed case near each of `judged.performance` (nearby() in variation.h) whose data no case of
/// `all` has and whose shapes no timed one has, of the same impl, with half to twice its operations and
/// bytes, and whose SPIR-V the submission changes. A case for which there is none near has none. With
/// `judged.baselines` each is written in two impls, as its public case and that one's baseline are; `cases`
/// holds those of the first. Writes case files below `folder`. Equal seeds give equal cases.
DrawnCases drawn_points(const JudgedCases& judged, std::span<const Case> all, const Registry& registry,
                        ShaderUse& use, std::uint64_t seed, const std::filesystem::path& folder);

}  // namespace assay::app
