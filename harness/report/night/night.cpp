#include "harness/report/night/night.h"

#include "harness/base/names.h"
#include "harness/base/status.h"

#include <algorithm>

namespace assay {
namespace {

constexpr Names<night_verdict_count> verdict_names{"GOOD", "NOTHING_JUDGED", "REGRESSIONS", "FAILURES",
                                                   "INFRASTRUCTURE"};

NightVerdict verdict_of(const RunDigest& run) {
  if (!run.complete || run.count(StatusClass::Infrastructure) > 0) return NightVerdict::Infrastructure;
  if (run.count(StatusClass::Failing) > 0) return NightVerdict::Failures;
  const bool judged = run.statuses.contains(Status::Pass) || run.statuses.contains(Status::ExpectedFail);
  return judged ? NightVerdict::Good : NightVerdict::NothingJudged;
}

}  // namespace

std::string_view name_of(NightVerdict verdict) {
  return name_in(verdict_names, verdict);
}

ExitCode exit_code(NightVerdict verdict) {
  switch (verdict) {
    case NightVerdict::Good:
      return ExitCode::Fine;
    case NightVerdict::NothingJudged:
      return ExitCode::Usage;
    case NightVerdict::Regressions:
    case NightVerdict::Failures:
      return ExitCode::Failures;
    case NightVerdict::Infrastructure:
      break;
  }
  return ExitCode::Infrastructure;
}

std::size_t DeviceNight::regressions() const {
  if (!last_good) return 0;
  std::size_t sum = 0;
  for (const auto& [verdict, count] : last_good->comparison.totals)
    sum += failing.contains(verdict) ? count : 0;
  return sum;
}

NightVerdict DeviceNight::verdict() const {
  if (!problems.empty() || !run) return NightVerdict::Infrastructure;
  const NightVerdict own =
      has_strict_notes ? std::max(verdict_of(*run), NightVerdict::Failures) : verdict_of(*run);
  const bool is_worse = regressions() > 0 && !is_accepted;
  return is_worse ? std::max(own, NightVerdict::Regressions) : own;
}

NightVerdict Night::verdict() const {
  NightVerdict worst =
      problems.empty() && !devices.empty() ? NightVerdict::Good : NightVerdict::Infrastructure;
  for (const DeviceNight& device : devices) worst = std::max(worst, device.verdict());
  return worst;
}

std::size_t Night::good() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      devices, [](const DeviceNight& device) { return device.verdict() == NightVerdict::Good; }));
}

}  // namespace assay
