#pragma once

#include "harness/cases/case.h"
#include "harness/op/params.h"

#include <string>

namespace assay::app {

/// An entry of `cases:` of a case file: the op, impl, forms, tuning, fills and timeout of `like`, with these
/// parameters and of mode accu. Parameters that have the value that the op derives from the others are left
/// out. Neither data from files nor what is tolerated nor a seed goes along.
std::string case_yaml(const Case& like, const Params& params, const std::string& name);

}  // namespace assay::app
