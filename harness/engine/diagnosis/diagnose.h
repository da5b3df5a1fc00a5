#pragma once

#include "harness/engine/diagnosis/reference_probe.h"
#include "harness/engine/diagnosis/wrong_output.h"
#include "harness/report/record/record.h"

#include <optional>

namespace assay {

/// What kind of error it is: the likeliest hypothesis that explains at least least_share of the wrong
/// elements; nothing where none does. Values before places: what is wrong only at the end of a dim, and is
/// explained there, has that told beside it.
std::optional<Diagnosis> diagnose(const WrongOutput& output, ReferenceProbe& probe);

}  // namespace assay
