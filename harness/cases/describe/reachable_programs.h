#pragma once

#include "harness/cases/case.h"
#include "harness/device/device_info.h"
#include "harness/op/program.h"

#include <functional>
#include <span>
#include <vector>

namespace assay {

/// Returns devices that differ in what impls query before they build a program: optional features, one
/// subgroup size or several, GPU or CPU, small or large limits. The first has the least of everything, the
/// second every feature.
std::vector<DeviceInfo> contrasting_devices();

/// Called with a program and the point that it was built for.
using UseProgram = std::function<void(const Program&, const BuildContext&)>;

/// Calls `use` with each program that the impls of `op` build for the points in `cases` (those of other ops
/// are ignored): every parameter set with each of its tunings, in every combination of forms that the tensors
/// accept and the impl does not exclude, on each of `devices` that meets the impl's needs. An impl that
/// chooses another (`auto`) builds nothing itself. Exceptions of impls are passed on.
void each_reachable_program(const Op& op, std::span<const Case> cases, std::span<const DeviceInfo> devices,
                            const UseProgram& use);

}  // namespace assay
