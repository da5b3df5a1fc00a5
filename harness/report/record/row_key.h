#pragma once

#include "harness/report/record/record.h"

#include <compare>
#include <string>

namespace assay {

/// What tells the rows of a report apart: a case of mode both has two, one of cache both has two again.
struct RowKey {
  std::string id;
  std::string mode;
  std::string cache;  ///< "cold", else "": rows of journals that know no cache are hot

  // NOLINTNEXTLINE(modernize-use-nullptr): the check takes what the compiler generates for a null pointer
  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};
RowKey key_of(const RowInfo& info);

/// The forms that a row's case asks for: `RowInfo::forms` without what an alias stood for, which `auto` may
/// choose otherwise on another device or in another version. "x=buffer/CONV2D(4C)" is "x=buffer/CONV2D".
std::string asked_forms(const RowInfo& info);

/// The mode in words: "accu", "perf", "perf, cold".
std::string mode_words(const RowInfo& info);

}  // namespace assay
