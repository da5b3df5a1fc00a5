#pragma once

#include "harness/chain/layout_plan.h"
#include "harness/engine/accuracy/accuracy.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/experiment.h"
#include "harness/gpu/gpu.h"

namespace assay {

/// Checks a case whose op is a chain, which `experiment` runs as it was planned. First its steps run with a
/// tensor of its own for every intermediate value, and each is judged by its op's reference over what the
/// device left in its inputs; so errors of one node do not count against the next. Then `experiment`, whose
/// program is the timed one, must give the same bits; those of a chain of exact ops must also equal the
/// references of all nodes, one after the other. At last it must give them again with the memory of dead
/// intermediate tensors poisoned (check_dead_memory()).
AccuracyOutcome assess_chain(Experiment& experiment, gpu::Device& device, gpu::ShaderLibrary& shaders,
                             const Case& test_case, const chain::PlannedChain& planned, const DataSet& data);

}  // namespace assay
