#pragma once

#include "harness/base/error.h"
#include "harness/cases/yaml/source_file.h"
#include "harness/cases/yaml/yaml_tree.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace assay::cases {

/// Values from the command line (--set KEY=VALUE) that replace those of cases.
class ReplacedValues {
 public:
  /// `texts` are "KEY=VALUE", where VALUE is YAML: "shape=[1, 64, 128, 128]". They count for the cases that
  /// begin at `places` (Case::where), or for all if that is empty. Throws Problem.
  ReplacedValues(std::span<const std::string> texts, std::span<const SourceLocation> places);

  bool apply_to(const SourceLocation& place) const;
  bool replace(std::string_view key) const;
  const std::vector<Node::Entry>& entries() const { return entries_; }

 private:
  using Place = std::tuple<std::string, int, int>;
  static Place place_of(const SourceLocation& at) { return {at.file, at.line, at.column}; }
  void add(const std::string& text);
  /// {each: [value]}, as the values of an `each` are those that ids contain. Not for the keys of a whole
  /// case.
  const Node* as_axis(const Node* value);

  std::deque<SourceFile> files_;
  Arena arena_;
  std::vector<Node::Entry> entries_;
  std::set<Place> places_;
};

}  // namespace assay::cases

namespace assay {

namespace chain {
class NodeTimes;
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
