#pragma once

#include "harness/commands/judge/judgement.h"
#include "harness/commands/judge/judgement_json.h"

#include <string>

namespace assay::app {

/// A line for each row with a reason or a time, and the verdict, for people. `color`: with ANSI escape
/// sequences.
std::string judgement_text(const Judgement& judgement, const JudgeFacts& facts, bool color);

}  // namespace assay::app
