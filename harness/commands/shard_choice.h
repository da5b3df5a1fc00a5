#pragma once

#include "harness/engine/run/shards.h"

#include <functional>
#include <optional>
#include <string>

namespace assay::app {

/// The value of an environment variable, or null: std::getenv.
using Environment = std::function<const char*(const char* name)>;

/// A shard, and the option or variables that chose it.
struct AskedShard {
  Shard shard;
  std::string by;  ///< "--shard", or the names of the variables
};

/// Parses "2/8", the second of eight. Throws Error(Usage).
Shard parse_shard(const std::string& text);

/// The shard that a run should have. The first of these that is given counts: `option` (--shard),
/// GTEST_SHARD_INDEX of GTEST_TOTAL_SHARDS (GoogleTest, from 0 on), TEST_SHARD_INDEX of TEST_TOTAL_SHARDS
/// (Bazel, from 0 on), CI_NODE_INDEX of CI_NODE_TOTAL (GitLab, from 1 on). nullopt: the run has all rows.
/// Throws Error(Usage) that names the variables if they are inconsistent: a shard that ran all rows, or none,
/// would go unnoticed.
std::optional<AskedShard> asked_shard(const std::string& option, const Environment& environment);

/// Creates the files that GTEST_SHARD_STATUS_FILE and TEST_SHARD_STATUS_FILE name: they show the caller that
/// sharding is supported. Throws Error(Infrastructure).
void touch_shard_status_files(const Environment& environment);

}  // namespace assay::app
