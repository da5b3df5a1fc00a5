#include "harness/report/compare/default_impl_changes.h"

#include "harness/base/text.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <tuple>

namespace assay {

namespace {

/// What the rows of a case's impls share: device, mode, cache and the id up to the impl.
using CaseKey = std::tuple<std::string, std::string, std::string, std::string>;

struct CaseRows {
  RowVerdict* gone = nullptr;
  RowVerdict* chosen = nullptr;  ///< NEW with impl auto
  bool has_others = false;       ///< rows of further impls: the case names its impls
};

CaseKey case_of(const RowVerdict& row) {
  const RowKey key = key_of(row.info);
  return {row.device_key, key.mode, key.cache, key.id.substr(0, key.id.rfind('/' + row.info.impl))};
}

void add(CaseRows& rows, RowVerdict& row) {
  RowVerdict** place = row.verdict == Verdict::Gone                             ? &rows.gone
                       : row.verdict == Verdict::New && row.info.impl == "auto" ? &rows.chosen
                                                                                : nullptr;
  if (place == nullptr || *place != nullptr) {
    rows.has_others = true;
  } else {
    *place = &row;
  }
}

}  // namespace

void explain_default_impls(std::span<RowVerdict> rows) {
  std::map<CaseKey, CaseRows> cases;
  for (RowVerdict& row : rows) add(cases[case_of(row)], row);
  for (auto& [key, of] : cases) {
    if (of.gone == nullptr || of.chosen == nullptr || of.has_others) continue;
    const auto why = [&](const RowInfo& other) {
      return fmt::format("; a case without `impl:` ran {} and now runs auto: {} is the same case",
                         printable(of.gone->info.impl), printable(other.id));
    };
    of.gone->reason += why(of.chosen->info);
    of.chosen->reason += why(of.gone->info);
  }
}

}  // namespace assay
