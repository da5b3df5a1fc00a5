#include "harness/app/rewrite_schedule.h"

#include <algorithm>

namespace assay::app {
namespace {

constexpr double shortest_interval_s = 2;
constexpr double run_per_rewrite = 20;

}  // namespace

void RewriteSchedule::rewrote(double began_s, double ended_s) {
  next_s_ = ended_s + std::max(shortest_interval_s, run_per_rewrite * (ended_s - began_s));
}

}  // namespace assay::app
