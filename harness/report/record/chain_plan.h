#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

/// One part of a chain's program: a node, or a copy of a tensor to another form.
struct ChainStep {
  std::string name;  ///< the node's; "a to buffer/4C1W" for a copy
  std::string op;
  std::string impl;
  bool is_transition = false;
  std::vector<std::string> reads;  ///< tensors, without constants that only this node has: "a as buffer/4W4C"
  std::vector<std::string> writes;  ///< likewise
};

/// How the tensors of a chain are laid out on the device.
struct ChainPlan {
  int transitions = 0;                ///< copies of a tensor to another form
  std::int64_t transition_bytes = 0;  ///< read and written by them
  std::vector<std::string> folded;    ///< nodes for which nothing runs: input and output are one resource
  std::int64_t peak_bytes = 0;        ///< device memory of the tensors between nodes
  bool is_exact = true;               ///< impl optimal or fastest: no other plan costs less
  std::string hash;                   ///< of the steps: equal hashes mean equal plans
  std::string times_run;              ///< impl fastest: id of the run that its times are from (--times)
  std::vector<ChainStep> steps;       ///< in the order in which they run
};

}  // namespace assay
