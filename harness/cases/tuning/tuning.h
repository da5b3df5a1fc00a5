#pragma once

#include "harness/cases/case.h"
#include "harness/cases/yaml/source_file.h"
#include "harness/op/op.h"
#include "harness/op/params.h"
#include "harness/op/roofline.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Tuning files (docs/tuning.md): values of tunables that are faster on a device than the built-in defaults,
// each for ranges of an op's parameters.

namespace assay {

/// Whole numbers from `low` to `high`, both included.
struct ValueRange {
  std::int64_t low = 0, high = 0;

  bool has(std::int64_t value) const { return low <= value && value <= high; }
  bool meets(const ValueRange& other) const { return low <= other.high && other.low <= high; }
  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};

/// What an entry asks of one parameter.
struct TuningCondition {
  std::vector<ValueRange> ranges;  ///< of an integer (one), or of each value of a shape or list, in order
  std::string word;      ///< of a choice or a boolean: the value as ids write it; `ranges` is then empty
  bool is_list = false;  ///< it is about a shape or list, which may be empty

  bool holds_for(const Value& value) const;
  /// Whether some value meets both.
  bool meets(const TuningCondition& other) const;
  friend bool operator==(const TuningCondition&, const TuningCondition&) = default;
};

/// One entry of a tuning file.
struct TuningEntry {
  std::string op, impl;
  std::map<std::string, TuningCondition> when;  ///< by parameter; others may have any value
  std::map<std::string, std::string> forms;     ///< by tensor: "buffer/4W4C"; others may have any form
  std::optional<Cache> cache;                   ///< rows with this cache alone; absent: any
  Tune tune;
  /// The measured time with `tune`, divided by the time with the built-in defaults: the geometric mean over
  /// `shapes` points, and the lowest and highest end of their intervals; 0: not given.
  double ratio = 0, ratio_low = 0, ratio_high = 0;
  std::int64_t shapes = 0;  ///< points that were measured in the ranges; 0: not given
  /// How much longer than with its own best values a point takes, in percent, if it had not been measured and
  /// got what the ranges of the others give it: the mean over the points.
  std::optional<double> left_out_pct;
  int line = 0;  ///< in the file, from 1; 0: it is of no file

  /// Whether the entry is about rows of this case with this cache when `of_impl` computes them.
  bool applies_to(const Case& test_case, Cache of_cache, const Impl& of_impl) const;
  /// Whether both are about some point.
  bool meets(const TuningEntry& other) const;
};

/// The contents of a tuning file.
struct Tuning {
  std::string device;   ///< the device's name, as `assay devices` prints it
  std::string driver;   ///< name and version; empty: not given
  std::string version;  ///< of assay, with the commit: "0.1.0+b1a8850ccc06"; empty: not given
  std::vector<TuningEntry> entries;

  /// The entry for a case's rows with this cache when `impl` computes them; null: there is none.
  const TuningEntry* find(const Case& test_case, Cache cache, const Impl& impl) const;
  /// Whether an entry is about that op.
  bool has_op(const std::string& op) const;
};

/// The file's text, without comments. load_tuning() reads it back.
std::string tuning_yaml(const Tuning& tuning);

struct TuningResult {
  std::optional<Tuning> tuning;  ///< absent if there are errors
  std::string hash;              ///< of the text that was read; empty: it could not be
  std::vector<Diagnostic> errors;
};

/// Reads a tuning file. Errors, each at its place: no YAML, unknown keys, ops, impls, parameters, tensors and
/// tunables, values that are not allowed, forms that a tensor does not accept or the impl does not take, and
/// two entries that are about one point.
TuningResult load_tuning(const std::filesystem::path& file, const Registry& registry);

/// The entries that a file may have.
inline constexpr std::size_t most_tuning_entries = 1000;

}  // namespace assay
