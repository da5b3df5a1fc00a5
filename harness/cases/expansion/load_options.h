#pragma once

#include <cstdint>
#include <memory>
#include <optional>

namespace assay {

namespace chain {
class NodeTimes;
}
namespace cases {
class ReplacedValues;
}

/// Options for loading case files.
struct LoadOptions {
  /// The seed of cases without a `seed:` of their own; 0 if absent.
  std::optional<std::uint64_t> seed;
  /// The limit of cases in one product and in all files together; more are refused with the count.
  std::int64_t max_cases = 2000000;
  /// The times with which chains are planned by their impl `fastest`; null: unknown.
  std::shared_ptr<const chain::NodeTimes> node_times;
  /// Values that replace those that cases have (--set); null: none.
  std::shared_ptr<const cases::ReplacedValues> replaced;
};

}  // namespace assay
