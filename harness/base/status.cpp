#include "harness/base/status.h"

#include "harness/base/names.h"

#include <array>
#include <stdexcept>

namespace assay {
namespace {

constexpr Names<8> names{"start", "ceilings", "host", "reference", "compile", "dispatch", "timing", "ahead"};
constexpr Names<8> stories{
    "while it loaded the cases and opened the device",
    "while it measured the device's ceilings",
    "in work on the CPU",
    "while the reference computed on the CPU",
    "while shaders and pipelines were compiled",
    "while the device ran the program",
    "while the row was timed",
    "while it waited for rows that it prepared ahead",
};

struct StatusInfo {
  Status status;
  std::string_view name;
  StatusClass of_class;
};

constexpr std::array<StatusInfo, 16> statuses{{
    {Status::Pass, "PASS", StatusClass::Fine},
    {Status::Unsupported, "UNSUPPORTED", StatusClass::Fine},
    {Status::Invalid, "INVALID", StatusClass::Fine},
    {Status::Skipped, "SKIPPED", StatusClass::Fine},
    {Status::ExpectedFail, "EXPECTED_FAIL", StatusClass::Fine},
    {Status::Fail, "FAIL", StatusClass::Failing},
    {Status::Mistrusted, "MISTRUSTED", StatusClass::Failing},
    {Status::Suspect, "SUSPECT", StatusClass::Failing},
    {Status::Crash, "CRASH", StatusClass::Failing},
    {Status::Timeout, "TIMEOUT", StatusClass::Failing},
    {Status::OutOfMemory, "OUT_OF_MEMORY", StatusClass::Failing},
    {Status::Flaky, "FLAKY", StatusClass::Failing},
    {Status::UnexpectedPass, "UNEXPECTED_PASS", StatusClass::Failing},
    {Status::DeviceLost, "DEVICE_LOST", StatusClass::Infrastructure},
    {Status::Missing, "MISSING", StatusClass::Infrastructure},
    {Status::Interrupted, "INTERRUPTED", StatusClass::Infrastructure},
}};

const StatusInfo& info_of(Status status) {
  for (const StatusInfo& info : statuses) {
    if (info.status == status) return info;
  }
  throw std::out_of_range("a status that the table does not list");
}

}  // namespace

std::string_view name_of(Phase phase) {
  return name_in(names, phase);
}

std::optional<Phase> parse_phase(std::string_view name) {
  return value_in<Phase>(names, name);
}

std::string_view story_of(Phase phase) {
  return name_in(stories, phase);
}

StatusClass class_of(Status status) {
  return info_of(status).of_class;
}

bool is_lost(Status status) {
  return status == Status::Timeout || status == Status::DeviceLost || status == Status::Crash;
}

std::string_view name_of(Status status) {
  return info_of(status).name;
}

std::optional<Status> parse_status(std::string_view name) {
  for (const StatusInfo& info : statuses) {
    if (info.name == name) return info.status;
  }
  return std::nullopt;
}

}  // namespace assay
