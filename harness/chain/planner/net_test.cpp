#include "harness/chain/planner/net.h"

#include "harness/chain/planner/planner_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace assay::chain {
namespace {

using test::chain_of_three;
using test::complaint;
using testing::HasSubstr;

/// The complaint about the chain of three after a change.
template <typename Change>
std::string complaint_after(const Change& change) {
  PlanProblem net = chain_of_three();
  change(net);
  return complaint(net, PlanMode::Naive);
}

TEST(PlanProblem, WrongCountsAreRefused) {
  EXPECT_EQ(complaint_after([](PlanProblem&) {}), "");
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.nodes[1].choices[2].forms.pop_back(); }),
              HasSubstr("choice 2 of node 1 has 1 forms, but the node has 1 inputs and 1 outputs"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.nodes[2].choices.clear(); }),
              HasSubstr("node 2 has no choices"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.tensors[3].copy_cost[1].push_back(1); }),
              HasSubstr("tensor 3 has 3 forms, but 4 costs of copies from form 1"));
}

TEST(PlanProblem, IndicesOutOfRangeAreRefused) {
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.nodes[1].choices[2].forms[1] = 3; }),
              HasSubstr("choice 2 of node 1 names form 3 of tensor 2, which has 3 forms"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.nodes[1].inputs[0] = 4; }),
              HasSubstr("node 1 names tensor 4, but there are 4 tensors"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.tensors[0].given = 3; }),
              HasSubstr("`given` names form 3 of tensor 0"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.tensors[3].wanted = 5; }),
              HasSubstr("`wanted` names form 5 of tensor 3"));
}

TEST(PlanProblem, ATensorHasOneProducerBeforeItsConsumers) {
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.tensors[0].given.reset(); }),
              HasSubstr("tensor 0 has no producer"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.tensors[2].given = 0; }),
              HasSubstr("tensor 2 has two producers: it is given, and an output of node 1"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.nodes[2].outputs[0] = 2; }),
              HasSubstr("tensor 2 has two producers: it is an output of node 1 and of node 2"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { std::swap(net.nodes[0], net.nodes[1]); }),
              HasSubstr("node 0 reads tensor 1, which node 1 produces"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.nodes[1].inputs[0] = 2; }),
              HasSubstr("node 1 reads tensor 2, which node 1 produces"));
}

TEST(PlanProblem, CostsThatAreNoNumbersFromZeroAreRefused) {
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.tensors[1].copy_cost[0][2] = -1; }),
              HasSubstr("a copy of tensor 1 from form 0 to 2 costs -1"));
  EXPECT_THAT(complaint_after([](PlanProblem& net) { net.nodes[1].choices[1].cost = std::nan(""); }),
              HasSubstr("choice 1 of node 1 costs nan"));
}

}  // namespace
}  // namespace assay::chain
