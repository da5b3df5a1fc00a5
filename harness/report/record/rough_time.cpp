#include "harness/report/record/rough_time.h"

#include "harness/base/text.h"

#include <fmt/format.h>

namespace assay {

std::string why_rough(const PerfResult& perf) {
  if (perf.blocks < static_cast<int>(fewest_blocks)) {
    return fmt::format("only {} block{}, of the {} that are needed", perf.blocks, perf.blocks == 1 ? "" : "s",
                       fewest_blocks);
  }
  if (perf.ci_pct <= coarsest_pct) return "";
  return fmt::format("its interval is +- {} %", fixed(perf.ci_pct, 1));
}

}  // namespace assay
