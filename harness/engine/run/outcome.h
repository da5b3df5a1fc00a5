#pragma once

#include "harness/base/error.h"
#include "harness/base/status.h"
#include "harness/gpu/gpu.h"

#include <exception>
#include <new>
#include <optional>
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

}  // namespace assay
