#pragma once

#include "harness/base/error.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace assay {

/// The case that a record is about, in the words of its file.
struct RowInfo {
  std::string id;
  std::string op;
  std::string name;
  std::string impl;
  std::string group;        ///< hash of op, parameters, fills and seed: rows of one group share their data
  std::string model;        ///< the model that the shape is from: "llama_3_1_8b"
  std::string layer;        ///< the layer of that model: "mlp.down"
  std::int64_t calls = 0;   ///< calls of that layer in one step of the model; 0: not given
  std::int64_t tokens = 0;  ///< tokens of one step: what the case says, else what the op does; 0: unknown
  std::string dtype;        ///< dtype of the op's first tensor
  std::string shape;        ///< shape of the op's first tensor: "1x96x16x9"
  std::string shapes;       ///< shapes of all tensors: "x=1x96x16x9 y=1x24x32x18"
  std::string params;       ///< canonical "name=value" pairs
  std::string forms;  ///< "x=buffer/4W4C y=buffer/CONV2D(4C)", in () the layout that the alias stood for
  std::string tune;   ///< "local_size=128", or empty
  /// What the run's tuning file sets of the tunables that the case leaves open, and the line of its entry:
  /// "local_size=64 (line 12)". Empty: nothing; the row has the built-in defaults.
  std::string tuned;
  std::string fill;   ///< "x=normal scale=normal"
  std::string mode;   ///< "accu" or "perf": a case of mode both is planned twice
  std::string cache;  ///< mode perf: "hot" or "cold"; a case of cache both is planned twice
  std::string tier;
  std::uint64_t seed = 0;
  SourceLocation where;
  std::optional<std::string> shaders;  ///< the folder searched before the embedded sources; absent: none
  bool versus = false;                 ///< runs with the other version of the shaders (--versus-shaders)
  /// Id of the row of the same group, mode and cache that this one is compared with; empty: none.
  std::string baseline;
  std::string baseline_note;  ///< why a row that is to be compared has no baseline
};

/// Identifies a row in a report. A case of mode both has two rows, and with cache both its perf row is two.
struct RowKey {
  std::string id;
  std::string mode;
  std::string cache;  ///< "cold", else ""

  // NOLINTNEXTLINE(modernize-use-nullptr): the check takes what the compiler generates for a null pointer
  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};
RowKey key_of(const RowInfo& info);

/// The forms that a row's case asks for: `RowInfo::forms` without the layouts that aliases stood for, which
/// `auto` may choose differently on another device or in another version. "x=buffer/CONV2D(4C)" becomes
/// "x=buffer/CONV2D".
std::string asked_forms(const RowInfo& info);

/// The mode in words: "accu", "perf", "perf, cold".
std::string mode_words(const RowInfo& info);

}  // namespace assay
