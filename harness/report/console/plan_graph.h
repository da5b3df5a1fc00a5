#pragma once

#include "harness/report/record/record.h"

#include <string>

namespace assay {

/// The plan of a chain as a Graphviz graph: a box for each step, and an edge for each tensor from the step
/// that writes it to those that read it, labelled with the tensor's form. Copies to another form are filled.
std::string plan_as_dot(const Record& record);

}  // namespace assay
