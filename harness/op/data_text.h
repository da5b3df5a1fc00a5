#pragma once

#include "harness/op/op.h"
#include "harness/op/params.h"

#include <string>

namespace assay {

/// The parameters as the text from which the data of a case are drawn, and by which reports name a row's
/// parameters: Params::canonical() without the choices that are what the op derives from the other
/// parameters. They say nothing that those do not. So a choice that an op gets later leaves the data of its
/// older cases as they were, and their rows the same tasks as in older reports.
std::string data_text(const Op& op, const Params& params);

}  // namespace assay
