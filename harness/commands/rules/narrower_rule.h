#pragma once

#include "harness/cases/expectations/expectation.h"
#include "harness/report/record/record.h"

#include <span>
#include <string>

namespace assay::app {

/// What is wrong with a rule that is too wide, and to what it can be narrowed, as a sentence; empty if it is
/// not. `rows` are the rows to which it applies. It is too wide if some of them pass and others fail as
/// expected, or if some give a wrong answer and others fail otherwise although it has no metric.
std::string narrower_rule(const Expectation& rule, std::span<const Record* const> rows);

}  // namespace assay::app
