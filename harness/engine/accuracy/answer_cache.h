#pragma once

#include "harness/op/expected.h"
#include "harness/op/op.h"
#include "harness/op/params.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

struct AnswerCacheOptions {
  std::filesystem::path directory;  ///< empty: nothing is cached
  /// Hash of all code of the references and of its compiler: answers of other code are never found.
  std::string reference_code;
  std::uint64_t most_bytes = std::uint64_t{4} << 30;  ///< beyond it the oldest files are removed
  double least_ms = 50;                               ///< answers that took less time are not stored
};

/// The answers of references on disk, one file for each set of inputs, shared by all devices, impls, forms
/// and nights. A file that is damaged, does not match what the op declares, is larger than such answers or is
/// no regular file counts as absent. A folder that cannot be written is no error: nothing is stored then.
/// Several processes may use one folder. Files that the cache did not write stay.
class AnswerCache {
 public:
  explicit AnswerCache(AnswerCacheOptions options) : options_(std::move(options)) {}

  /// The key of an answer. It depends on everything that the answer depends on: the op's name and version,
  /// all parameters, dtypes and shapes of the tensors, the inputs (`input_hash`) and the code of the
  /// references.
  std::string key_of(const Op& op, const Params& params, std::span<const TensorSpec> tensors,
                     const std::string& input_hash) const;

  /// The answers for that key, checked against the outputs among `tensors`.
  std::optional<std::vector<Expected>> load(const std::string& key,
                                            std::span<const TensorSpec> tensors) const;

  /// Stores answers that took `took_ms` to compute, whole or not at all; skips those below `least_ms`, which
  /// are recomputed faster than read.
  void store(const std::string& key, std::span<const Expected> answers, double took_ms) const;

  std::filesystem::path file_of(const std::string& key) const;

 private:
  void remove_oldest() const;

  AnswerCacheOptions options_;
};

/// $XDG_CACHE_HOME/assay/answers or ~/.cache/assay/answers; empty without either.
std::filesystem::path default_answer_directory();

/// Encodes the answers of a reference as bytes, with a checksum at the end.
std::vector<std::byte> encode_answers(std::span<const Expected> answers);

/// The largest number of bytes that encode_answers() makes of answers for the outputs among `tensors`.
std::uint64_t most_encoded_bytes(std::span<const TensorSpec> tensors);

/// Decodes the bytes of encode_answers(); nothing for other or damaged bytes.
std::optional<std::vector<Expected>> decode_answers(std::span<const std::byte> bytes);

}  // namespace assay
