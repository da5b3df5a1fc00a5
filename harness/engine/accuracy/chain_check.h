#pragma once

#include "harness/cases/case.h"
#include "harness/chain/layout_plan.h"
#include "harness/engine/accuracy/accuracy.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/experiment.h"
#include "harness/gpu/gpu.h"
#include "harness/op/program.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay {

/// Where a scratch tensor takes memory that it shares with others: all that is there is dead.
struct MemoryTaking {
  std::size_t before = 0;     ///< the first dispatch that binds the tensor
  std::uint32_t scratch = 0;  ///< the tensor
  Resource memory;            ///< the scratch in which it lies
  friend bool operator==(const MemoryTaking&, const MemoryTaking&) = default;
};

/// Returns where the program's scratch takes shared memory, in the order of dispatches.
std::vector<MemoryTaking> memory_takings(const Program& program);

/// Runs an experiment whose answer is right twice more, with complementary poison, and just before a scratch
/// tensor takes shared memory all of that is poisoned. The answer must stay the same, bit by bit: otherwise
/// the program reads a tensor whose memory another one has taken, or takes what is left there for what it
/// should have written. Then `outcome` becomes a failure that names the first such tensor. Programs whose
/// scratch shares no memory are not run.
void check_dead_memory(Experiment& experiment, const Case& test_case, AccuracyOutcome& outcome);

/// Checks a case whose op is a chain, which `experiment` runs as it was planned. First its steps run with a
/// tensor of its own for every intermediate value, and each is judged by its op's reference over what the
/// device left in its inputs; so errors of one node do not count against the next. Then `experiment`, whose
/// program is the timed one, must give the same bits; those of a chain of exact ops must also equal the
/// references of all nodes, one after the other. At last it must give them again with the memory of dead
/// intermediate tensors poisoned (check_dead_memory()).
AccuracyOutcome assess_chain(Experiment& experiment, gpu::Device& device, gpu::ShaderLibrary& shaders,
                             const Case& test_case, const chain::PlannedChain& planned, const DataSet& data);

}  // namespace assay
