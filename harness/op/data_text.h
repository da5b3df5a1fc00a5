#pragma once

#include "harness/op/op.h"
#include "harness/op/params.h"

#include <string>

namespace assay {

/// The parameters as the text from which the data of a case are drawn: Params::canonical() without the
/// choices that are what the op derives from the other parameters. They say nothing that those do not, and a
/// choice that an op gets later leaves the data of its older cases as they were.
std::string data_text(const Op& op, const Params& params);

}  // namespace assay
