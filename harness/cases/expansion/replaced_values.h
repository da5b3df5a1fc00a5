#pragma once

#include "harness/base/source_location.h"
#include "harness/cases/yaml/source_file.h"
#include "harness/cases/yaml/yaml_tree.h"

#include <deque>
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
