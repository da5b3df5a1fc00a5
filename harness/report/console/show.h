#pragma once

#include "harness/report/record/record.h"

#include <span>
#include <string>

namespace assay {

/// The plan of a chain as a Graphviz graph: a box for each step, and an edge for each tensor from the step
/// that writes it to those that read it, labelled with the tensor's form. Copies to another form are filled.
std::string plan_as_dot(const Record& record);

struct PageOptions {
  bool color = false;
  bool samples = false;  ///< also show every raw sample, not only the median of each block
};

/// Everything that is known about rows of one run, for people: sections for each row (status, case, accuracy,
/// time), then the run and its device once. Only raw samples are left out unless asked for, and the device's
/// Vulkan properties (run.json has them).
std::string show_text(const RunInfo& run, std::span<const Record* const> rows,
                      const PageOptions& options = {});

}  // namespace assay
