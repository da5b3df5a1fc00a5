#pragma once

#include "harness/engine/diagnosis/reference_probe.h"
#include "harness/engine/diagnosis/wrong_output.h"
#include "harness/report/record/record.h"

#include <optional>

namespace assay {

/// The kind of error: the likeliest hypothesis that explains at least least_share of the wrong elements;
/// nothing when none does. Hypotheses about values come before those about places; when an error explained by
/// its values occurs only at the end of a dim, the diagnosis mentions that too.
std::optional<Diagnosis> diagnose(const WrongOutput& output, ReferenceProbe& probe);

}  // namespace assay
