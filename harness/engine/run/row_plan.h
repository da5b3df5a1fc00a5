#pragma once

#include "harness/base/error.h"
#include "harness/base/status.h"
#include "harness/cases/case.h"
#include "harness/device/device_info.h"
#include "harness/engine/run/device_context.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/gpu/gpu.h"
#include "harness/op/program.h"

#include <exception>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>

namespace assay {

/// How a row ended, and why.
struct Outcome {
  Status status = Status::Pass;
  std::string reason;
  bool stopped = false;  ///< see RowEnd
};

/// Runs `body` and converts its exceptions to the outcome of the row; nothing when it throws none. Errors of
/// recording pass through.
template <class Body>
std::optional<Outcome> outcome_of(Body&& body) {
  try {
    body();
    return std::nullopt;
  } catch (const gpu::OutOfMemory& error) {
    return Outcome{Status::OutOfMemory, error.what()};
  } catch (const std::bad_alloc&) {
    return Outcome{Status::OutOfMemory, "the host has no memory left for this case's tensors"};
  } catch (const gpu::Unsupported& error) {
    return Outcome{Status::Unsupported, error.what()};
  } catch (const gpu::Timeout& error) {
    return Outcome{Status::Timeout, error.what()};
  } catch (const gpu::DeviceLost& error) {
    return Outcome{Status::DeviceLost, error.what()};
  } catch (const Error& error) {
    if (error.code() == ExitCode::Infrastructure)
      throw;  // such as an unwritable dump, which is no fault of the case
    return Outcome{Status::Fail, error.what()};
  } catch (const std::exception& error) {
    return Outcome{Status::Fail, error.what()};
  }
}

/// The program of a case on a device, or why it cannot run.
struct RowProgram {
  const Impl* impl = nullptr;              ///< the case's, or the one that impl auto chooses
  Ceiling ceiling = Ceiling::Bandwidth;    ///< the one that limits the impl at this point
  std::optional<Program> program;          ///< absent if the impl was unsupported already without it
  std::optional<UnitError> unit_error;     ///< of the impl, if it states one
  std::optional<std::string> unsupported;  ///< the reason, with numbers
};

/// Builds the program of a case. Impl auto takes the first impl that the device can run; if there is none,
/// the reason is the first impl's. Throws what an impl throws, Error for a program that breaks the rules of
/// set-up, and std::logic_error for a case whose CONV2D layout is not resolved yet (DeviceCases).
RowProgram row_program(const Case& test_case, const DeviceInfo& device);

/// The kernels of all programs that these rows run on a device, such as "copy.comp". Rows that cannot run
/// have none.
std::set<gpu::KernelName> kernels_of(std::span<const PlannedGroup> groups, const DeviceInfo& device);

/// The program that a row runs, or why it is not run.
struct RowPlan {
  RowProgram made;
  std::optional<Outcome> not_run;  ///< INVALID, SKIPPED, UNSUPPORTED, or what went wrong while it was built
};

/// Plans a case by what the device can do alone: without expectations and limits on time.
RowPlan plan_of_case(const Case& test_case, const DeviceInfo& device);

/// Plans a row. `info` is the row as reports describe it; `ceilings` are the device's, as far as they are
/// known. May be called from any thread.
RowPlan plan_of_row(const PlannedRow& row, const RowInfo& info, const DeviceContext& context,
                    const Ceilings& ceilings);

}  // namespace assay
