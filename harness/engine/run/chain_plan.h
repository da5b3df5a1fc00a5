#pragma once

#include "harness/chain/layout_plan.h"
#include "harness/report/record/record.h"

namespace assay {

/// A chain's plan as reports show it.
ChainPlan chain_plan_of(const chain::PlannedChain& planned);

}  // namespace assay
