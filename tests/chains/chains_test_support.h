#pragma once

#include "harness/cases/case.h"
#include "harness/chain/layout_plan.h"
#include "harness/op/op.h"
#include "harness/report/record/record.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace assay::test {

/// The ops of the tree.
const Registry& tree_ops();

/// The cases of a file, or of a file with this text. A test fails where there is an error in it.
std::vector<Case> load(const std::filesystem::path& path, const Registry& ops = tree_ops());
std::vector<Case> load_text(const std::string& text, const Registry& ops = tree_ops());

/// The case with that name and impl.
const Case& named(const std::vector<Case>& cases, const std::string& name, const std::string& impl);

/// The plan of a chain on the default device.
chain::LayoutPlan plan_of(const Case& test_case, chain::PlanMode mode);

/// Runs the one row that a case has in that mode, on the default device.
Record run(const Case& test_case, Mode mode = Mode::Accu);

/// The case with a change to the program that is timed; the steps that are judged one by one stay as they
/// are.
Case with_timed_program(Case test_case, const std::function<void(Program&)>& change);

/// The first dispatch of a node.
Dispatch& dispatch_of(Program& program, const std::string& node);

/// Limits of random_net().
struct NetLimits {
  std::size_t fewest_nodes = 3;
  std::size_t most_nodes = 10;
};

/// Returns a case file with one chain of random shape, in the three ways to plan it. Its nodes are exact ops:
/// convolutions, additions, clamps, clones, pixel shuffles, and ops on floats between a dequantization and a
/// quantization. Tensors have a few hundred values, and may be read by several nodes or by none, or leave the
/// chain and be read too; tensors that enter or leave have random forms. Nodes are declared in random order.
/// The same seed always gives the same text.
std::string random_net(std::uint64_t seed, const NetLimits& limits);

}  // namespace assay::test
