#pragma once

#include "harness/cases/case.h"
#include "harness/commands/judge/judged_cases.h"
#include "harness/commands/judge/submission.h"
#include "harness/commands/points/written_cases.h"
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
/// the submission changes. Equal seeds give equal cases. Throws JudgementStopped as `use` does.
DrawnCases fuzzed_cases(std::span<const Case* const> judged, const Registry& registry, ShaderUse& use,
                        std::size_t count, std::uint64_t seed, const std::filesystem::path& folder);

/// Draws a timed case near each of `judged.performance` (nearby() in variation.h) whose data no case of
/// `all` has and whose shapes no timed one has, of the same impl, with half to twice its operations and
/// bytes, and whose SPIR-V the submission changes. A case for which there is none near has none. With
/// `judged.baselines` each is written in two impls, as its public case and that one's baseline are; `cases`
/// holds those of the first. Writes case files below `folder`. Equal seeds give equal cases. Throws
/// JudgementStopped as `use` does.
DrawnCases drawn_points(const JudgedCases& judged, std::span<const Case> all, const Registry& registry,
                        ShaderUse& use, std::uint64_t seed, const std::filesystem::path& folder);

}  // namespace assay::app
