#pragma once

#include "harness/base/system_state.h"

#include <vector>

namespace assay {

/// One block of a row's samples, as it was measured.
struct Block {
  static constexpr int most_batch = 20000;  ///< bounds the length of a command buffer

  /// Number of the round, in which rows alternate. A row's blocks count up from 0, except for rounds that it
  /// took no part in. Blocks of compared rows were sampled together if their rounds are equal.
  int round = 0;
  int skipped = 0;                 ///< rounds just before this one that ran without this row
  int batch = 1;                   ///< programs in a sample, most_batch at most
  std::vector<double> samples_ns;  ///< time of one submission each, so of `batch` programs
  double probe_ns = 0;             ///< median of the clock probes run with the samples; 0: none ran
  bool wrong = false;              ///< the timed outputs differ from the judged ones
  SystemState system;              ///< the state of the device's machine when the block ended

  /// Time of one program in each sample, in ns.
  std::vector<double> program_ns() const {
    std::vector<double> values;
    for (const double ns : samples_ns) values.push_back(ns / batch);
    return values;
  }
};

}  // namespace assay
