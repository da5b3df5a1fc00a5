#include "harness/report/console/plan_graph.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(PlanGraph, HasAStepForEachPartAndAnEdgeForEachTensor) {
  Record record;
  record.info.id = "net/one/\"quoted\"";
  record.chain = ChainPlan{.steps = {{.name = "conv",
                                      .op = "q8ta_conv2d",
                                      .impl = "general",
                                      .reads = {"x as buffer/4W4C"},
                                      .writes = {"a as buffer/4C"}},
                                     {.name = "a to buffer/4W",
                                      .op = "q8ta_clone",
                                      .impl = "tiled",
                                      .is_transition = true,
                                      .reads = {"a as buffer/4C"},
                                      .writes = {"a as buffer/4W"}},
                                     {.name = "add",
                                      .op = "q8ta_add",
                                      .impl = "fused",
                                      .reads = {"a as buffer/4W", "x as buffer/4W4C"},
                                      .writes = {"b as buffer/4W"}}}};
  EXPECT_EQ(plan_as_dot(record), R"dot(digraph "net/one/\"quoted\"" {
  node [shape=box]
  step0 [label="conv: q8ta_conv2d/general"]
  step1 [label="a to buffer/4W", style=filled]
  step2 [label="add: q8ta_add/fused"]
  "outside x" [shape=plaintext, label="x"]
  "outside x" -> step0 [label="x as buffer/4W4C"]
  step0 -> step1 [label="a as buffer/4C"]
  step1 -> step2 [label="a as buffer/4W"]
  "outside x" -> step2 [label="x as buffer/4W4C"]
  "outside b" [shape=plaintext, label="b"]
  step2 -> "outside b" [label="b as buffer/4W"]
}
)dot");
}

}  // namespace
}  // namespace assay
