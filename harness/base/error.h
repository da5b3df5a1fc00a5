#pragma once

#include <stdexcept>
#include <string>

namespace assay {

/// A place in a case file; line and column count from 1.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
};

/// Exit codes of the binary (contract with scripts and farms).
enum class ExitCode : int {
  Fine = 0,
  Failures = 1,        ///< failing cases or regressions
  Usage = 2,           ///< usage, load errors, nothing selected, no case reached PASS or FAIL
  Infrastructure = 3,  ///< lost device, wrong device, unwritable output
  NoDevice = 77,       ///< no Vulkan device (the value that test runners read as "skipped")
};

/// An error whose message says what was being done, on what, why it failed and, where there is a remedy, what
/// to do. `code` becomes the exit code when nothing handles the error.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitCode code = ExitCode::Usage)
      : std::runtime_error(message), code_(code) {}

  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// Reports an impossible value of one parameter. The case loader turns it into a load error at the place
/// where that parameter was written; `parameter` is a path such as "shape" or "x.scale".
class ParameterError : public Error {
 public:
  ParameterError(std::string parameter, const std::string& message)
      : Error(message), parameter_(std::move(parameter)) {}

  const std::string& parameter() const { return parameter_; }

 private:
  std::string parameter_;
};

}  // namespace assay
