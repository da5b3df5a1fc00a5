#pragma once

#include "harness/engine/run/shards.h"

#include <functional>
#include <optional>
#include <string>

namespace assay::app {

/// The value of an environment variable, or null: std::getenv.
using Environment = std::function<const char*(const char* name)>;

/// A shard, and where it was asked for.
struct AskedShard {
  Shard shard;
  std::string by;  ///< "--shard", or the variables that say so
};

/// "2/8": the second of eight. Throws Error(Usage).
Shard parse_shard(const std::string& text);

/// The shard that a run is to be. The first that is given counts: `option` (--shard), GTEST_SHARD_INDEX of
/// GTEST_TOTAL_SHARDS (GoogleTest, from 0 on), TEST_SHARD_INDEX of TEST_TOTAL_SHARDS (Bazel, from 0 on),
/// CI_NODE_INDEX of CI_NODE_TOTAL (GitLab, from 1 on). Nothing: the run is whole. Throws Error(Usage) that
/// names the variables where they contradict themselves: a shard that ran all rows, or none, would go unseen.
std::optional<AskedShard> asked_shard(const std::string& option, const Environment& environment);

/// Makes the files that GTEST_SHARD_STATUS_FILE and TEST_SHARD_STATUS_FILE name: whoever set them learns that
/// shards are known here. Throws Error(Infrastructure).
void touch_shard_status_files(const Environment& environment);

}  // namespace assay::app
