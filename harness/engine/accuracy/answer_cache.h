#pragma once

#include "harness/op/expected.h"
#include "harness/op/op.h"
#include "harness/op/params.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

struct AnswerCacheOptions {
  std::filesystem::path directory;  ///< empty: nothing is kept
  /// Hash of all code that references are made of, with its compiler: answers of other code are never found.
  std::string reference_code;
  std::uint64_t most_bytes = std::uint64_t{4} << 30;  ///< the oldest files go when there are more
  double least_ms = 50;                               ///< answers that took less are made again
};

/// What references answered, on disk, a file for each set of inputs: the same for all devices, impls, forms
/// and nights. A file that is damaged, or is not what the op declares, counts as absent. A folder that cannot
/// be written is no error: nothing is kept then. Several processes may use one folder.
class AnswerCache {
 public:
  explicit AnswerCache(AnswerCacheOptions options) : options_(std::move(options)) {}

  /// Depends on everything that answers depend on: the op's name and version, all parameters, dtypes and
  /// shapes of the tensors, the inputs (`input_hash`) and the code of references.
  std::string key_of(const Op& op, const Params& params, std::span<const TensorSpec> tensors,
                     const std::string& input_hash) const;

  /// The answers for that key, checked against the outputs among `tensors`.
  std::optional<std::vector<Expected>> load(const std::string& key,
                                            std::span<const TensorSpec> tensors) const;

  /// Keeps answers that took `took_ms`, whole or not at all; not those that are made sooner than read.
  void store(const std::string& key, std::span<const Expected> answers, double took_ms) const;

  std::filesystem::path file_of(const std::string& key) const;

 private:
  void remove_oldest() const;

  AnswerCacheOptions options_;
};

/// $XDG_CACHE_HOME/assay/answers or ~/.cache/assay/answers; empty without either.
std::filesystem::path default_answer_directory();

}  // namespace assay
