#pragma once

#include "harness/cases/case.h"
#include "harness/op/device_info.h"
#include "harness/op/program.h"

#include <functional>
#include <span>
#include <vector>

namespace assay {

/// Devices that differ in what impls ask a device before they build a program: optional features, subgroups
/// of one size or of several, a GPU or the host's own processors, small limits or large ones. The first has
/// the least of everything, the second every feature.
std::vector<DeviceInfo> contrasting_devices();

/// Called with a program and the point that it was built for.
using UseProgram = std::function<void(const Program&, const BuildContext&)>;

/// Calls `use` with each program that the impls of `op` build for the points which `cases` name (those of
/// other ops are passed over): every parameter set with every tuning given for it, in every combination of
/// forms that the tensors accept and the impl does not exclude, on each of `devices` that has what the impl
/// needs. An impl that chooses another (`auto`) builds nothing itself. Throws what an impl throws.
void each_reachable_program(const Op& op, std::span<const Case> cases, std::span<const DeviceInfo> devices,
                            const UseProgram& use);

}  // namespace assay
