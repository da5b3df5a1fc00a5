#pragma once

#include "harness/commands/mutate/fault_result.h"
#include "harness/mutation/faults.h"

namespace assay::app {

/// A fault and what became of it.
struct FaultRecord {
  mutation::Fault fault;
  FaultResult result;
};

}  // namespace assay::app
