#include "harness/base/status.h"

#include "harness/base/names.h"

namespace assay {
namespace {

constexpr Names<16> status_names{
    "PASS",          "UNSUPPORTED", "INVALID",         "SKIPPED",     "EXPECTED_FAIL",
    "FAIL",          "MISTRUSTED",  "SUSPECT",         "CRASH",       "TIMEOUT",
    "OUT_OF_MEMORY", "FLAKY",       "UNEXPECTED_PASS", "DEVICE_LOST", "MISSING",
    "INTERRUPTED"};

}  // namespace

StatusClass class_of(Status status) {
  if (status <= Status::ExpectedFail) return StatusClass::Fine;
  if (status <= Status::UnexpectedPass) return StatusClass::Failing;
  return StatusClass::Infrastructure;
}

bool is_lost(Status status) {
  return status == Status::Timeout || status == Status::DeviceLost || status == Status::Crash;
}

std::string_view name_of(Status status) {
  return name_in(status_names, status);
}

std::optional<Status> parse_status(std::string_view name) {
  return value_in<Status>(status_names, name);
}

}  // namespace assay
