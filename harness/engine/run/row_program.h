#pragma once

#include "harness/cases/case.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/op/device_info.h"
#include "harness/op/program.h"

#include <optional>
#include <set>
#include <span>
#include <string>

namespace assay {

/// What a case runs on a device, or why it cannot.
struct RowProgram {
  const Impl* impl = nullptr;              ///< the case's, or the one that it chooses
  Ceiling ceiling = Ceiling::Bandwidth;    ///< of the impl at this point
  std::optional<Program> program;          ///< absent where what the impl lacks was known without it
  std::optional<double> unit_error;        ///< of the impl, where it states one
  std::optional<std::string> unsupported;  ///< the reason, with numbers
};

/// Builds the program of a case; of impl auto that of the first impl that the device can run, else the reason
/// is what is said of the first. Throws what an impl throws, Error for a program that breaks the rules of
/// set-up, and std::logic_error for a case that awaits a device (DeviceCases).
RowProgram row_program(const Case& test_case, const DeviceInfo& device);

/// The shaders of all programs that these rows run on a device: "copy.comp". Rows that cannot run have none.
std::set<std::string> shaders_of(std::span<const PlannedGroup> groups, const DeviceInfo& device);

}  // namespace assay
