#pragma once

#include "harness/cases/case.h"
#include "harness/op/params.h"

#include <string>

namespace assay::app {

/// An entry of `cases:` in a case file: the op, impl, forms, tuning, fills and timeout of `like`, with these
/// parameters and mode accu. Parameters with the value that the op derives from the others are left out. Data
/// from files, the tolerance and the seed are not copied.
std::string case_yaml(const Case& like, const Params& params, const std::string& name);

}  // namespace assay::app
