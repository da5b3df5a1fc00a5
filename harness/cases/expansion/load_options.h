#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace assay {

namespace chain {
class NodeTimes;
}
namespace cases {
class ReplacedValues;
}

/// Tells which points of a case have the same choices apart from the values of some keys, and leaves others
/// out.
struct PointKinds {
  std::set<std::string> left_out;            ///< those keys
  std::map<std::string, std::string> of_id;  ///< by id: the case's place and its choices for all other keys
  std::set<std::string> wanted;              ///< the kinds that are expanded; empty: all
};

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
  /// Receives the kind of each point; null: kinds are not recorded.
  std::shared_ptr<PointKinds> kinds;
};

}  // namespace assay
