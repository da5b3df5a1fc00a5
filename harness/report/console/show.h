#pragma once

#include "harness/report/record/record.h"

#include <span>
#include <string>

namespace assay {

struct PageOptions {
  bool color = false;
  bool samples = false;  ///< every raw sample too, not only the median of each block
};

/// Everything that is known about rows of one run, laid out for a person: a page a row (verdict, case,
/// accuracy, time), then the run and its device once. Raw samples are the only thing that is left out unless
/// asked for, and what Vulkan says of the device (run.json has it).
std::string show_text(const RunInfo& run, std::span<const Record* const> rows,
                      const PageOptions& options = {});

}  // namespace assay
