#include "harness/chain/chain.h"
#include "harness/chain/chain_program.h"
#include "tests/chains/chains_test_support.h"
#include "tests/chains/random_net_test_support.h"
#include "tests/faults/bench.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace assay {
namespace {

using namespace test;

constexpr std::uint64_t nets_on_the_device = 30;

/// What the plans of nets contain.
struct Contents {
  std::int64_t copies = 0;   ///< transitions
  std::int64_t folded = 0;   ///< nodes
  std::int64_t sharing = 0;  ///< tensors in memory that another one had before

  void add(const Case& test_case, chain::PlanMode mode) {
    const chain::LayoutPlan plan = plan_of(test_case, mode);
    const Program program = timed_program(plan, resolve(*test_case.op->chain, test_case.params),
                                          faults::Bench::shared().device().info())
                                .program;
    std::set<std::uint32_t> taken;
    for (const Scratch& scratch : program.scratch) {
      if (scratch.in_memory_of && !taken.insert(*scratch.in_memory_of).second) ++sharing;
    }
    copies += plan.transitions;
    folded += static_cast<std::int64_t>(plan.folded.size());
  }
};

TEST(RandomNets, AreRightInEveryPlanWithTheSameAnswer) {
  Contents naive;
  Contents optimal;
  for (std::uint64_t seed = 1; seed <= nets_on_the_device; ++seed) {
    const std::string text = random_net(seed, {});
    SCOPED_TRACE("seed " + std::to_string(seed) + ":\n" + text);
    std::set<std::string> hashes;
    const std::vector<Case> cases = load_text(text);
    for (const Case& one : cases) {
      const Record record = run(one);
      EXPECT_EQ(record.status, Status::Pass) << one.id << ": " << record.reason;
      if (!record.accuracy) continue;
      EXPECT_TRUE(record.accuracy->hash_is_portable) << "every node is exact";
      hashes.insert(record.accuracy->output_hash);
    }
    EXPECT_EQ(hashes.size(), 1U);
    naive.add(cases.front(), chain::PlanMode::Naive);
    optimal.add(cases.front(), chain::PlanMode::Optimal);
  }
  // Otherwise the nets would not test what they are meant for.
  EXPECT_GT(naive.copies, 50);
  EXPECT_GT(naive.sharing, 50);
  EXPECT_LT(optimal.copies, naive.copies / 2);
  EXPECT_GT(optimal.folded, 5);
  EXPECT_GT(optimal.sharing, 20);
}

}  // namespace
}  // namespace assay
