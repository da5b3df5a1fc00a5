#pragma once

#include "harness/cases/case.h"
#include "harness/cases/case_list.h"
#include "harness/cases/expand.h"
#include "harness/cases/load_options.h"
#include "harness/cases/npy_files.h"
#include "harness/cases/point.h"
#include "harness/cases/product.h"
#include "harness/cases/reporter.h"
#include "harness/cases/setting.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::cases {

/// What grows while files are loaded, and is shared by them.
struct LoadState {
  const Registry& registry;
  LoadOptions options;
  NpyFiles npy_files;
  Reporter reporter;
  CaseList cases;
  CommonData common;
};

/// Expands the cases of one file: one op, its sets, its defaults.
class CaseExpansion {
 public:
  CaseExpansion(LoadState& state, const Op& op, const Sets& sets);

  /// Checks the keys of `defaults:` and applies them to every case that follows; bad ones are reported and
  /// left out.
  void set_defaults(const Node& defaults);

  /// Adds the points of one case to the state, and what is wrong with it to the reporter.
  void add(const Node& node);

 private:
  /// A key of a case that stands for values; `with` may give several.
  struct Source {
    const Node* key = nullptr;
    const Node* value = nullptr;
  };

  bool has_known_keys(const Node& map, const std::vector<std::string>& known);
  std::vector<Node::Entry> with_defaults(const Node& node) const;
  CaseHead read_head(const Node& node, const std::vector<Node::Entry>& entries) const;
  std::vector<Source> sources(const std::vector<Node::Entry>& entries) const;
  void check_size(const CaseHead& head, const std::vector<Source>& sources);
  void refuse_product(const CaseHead& head, std::uint64_t product, const std::string& factors) const;
  Factor make_factor(const Source& source);
  Choice read_choice(const Source& source, const Alternative& alternative, bool is_axis);
  void add_points(const CaseHead& head, const Product& product);
  void add_point(PointBuilder& builder, const CaseHead& head, const PointChoice& choice);

  LoadState& state_;
  const Op& op_;
  Expander expander_;
  SettingReader reader_;
  std::vector<std::string> case_keys_;
  std::vector<Node::Entry> defaults_;
};

}  // namespace assay::cases
