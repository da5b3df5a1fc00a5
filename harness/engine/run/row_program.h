#pragma once

#include "harness/cases/case.h"
#include "harness/device/device_info.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/gpu/gpu.h"
#include "harness/op/program.h"

#include <optional>
#include <set>
#include <span>
#include <string>

namespace assay {

/// The program of a case on a device, or why it cannot run.
struct RowProgram {
  const Impl* impl = nullptr;              ///< the case's, or the one that impl auto chooses
  Ceiling ceiling = Ceiling::Bandwidth;    ///< the one that limits the impl at this point
  std::optional<Program> program;          ///< absent if the impl was unsupported already without it
  std::optional<double> unit_error;        ///< of the impl, if it states one
  std::optional<std::string> unsupported;  ///< the reason, with numbers
};

/// Builds the program of a case. Impl auto takes the first impl that the device can run; if there is none,
/// the reason is the first impl's. Throws what an impl throws, Error for a program that breaks the rules of
/// set-up, and std::logic_error for a case whose CONV2D layout is not resolved yet (DeviceCases).
RowProgram row_program(const Case& test_case, const DeviceInfo& device);

/// The kernels of all programs that these rows run on a device, such as "copy.comp". Rows that cannot run
/// have none.
std::set<gpu::KernelName> kernels_of(std::span<const PlannedGroup> groups, const DeviceInfo& device);

}  // namespace assay
