#pragma once

#include "harness/report/compare/row_verdict.h"

#include <span>

namespace assay {

/// A case that names no impl runs `auto` where the op has it; before that was so it ran the op's first impl,
/// and the impl is the last part of an id. Of a case whose only row went and whose only new row runs `auto`,
/// this adds to the reasons of GONE and NEW that both are the same case under another impl, and which row is
/// the other one.
void explain_default_impls(std::span<RowVerdict> rows);

}  // namespace assay
