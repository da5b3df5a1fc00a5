#pragma once

#include "harness/report/record/record.h"

#include <compare>
#include <string>

namespace assay {

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
