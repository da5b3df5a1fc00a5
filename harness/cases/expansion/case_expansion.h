#pragma once

#include "harness/cases/case.h"
#include "harness/cases/expansion/expand.h"
#include "harness/cases/expansion/load_options.h"
#include "harness/cases/expansion/point.h"
#include "harness/cases/expansion/point_data.h"
#include "harness/cases/expansion/product.h"
#include "harness/cases/expansion/setting.h"
#include "harness/cases/yaml/reporter.h"
#include "harness/cases/yaml/yaml_tree.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace assay::cases {

/// Returns "name", "mode", "tier", "cache" and "timeout", the keys of a case that cannot be axes.
const std::vector<std::string>& head_keys();

/// Reads the head keys from the entries of a case, its defaults included; op and seed are left to the caller.
/// A bad value is added to `problems` and replaced by its default.
CaseHead read_case_head(const Node& node, const std::vector<Node::Entry>& entries, Problems& problems);

/// State that grows while files are loaded and is shared by all of them.
struct LoadState {
  const Registry& registry;
  LoadOptions options;
  NpyFiles npy_files;
  Reporter reporter;
  CaseList cases;
  CommonData common;
  std::uint64_t points = 0;  ///< of all cases so far, with those that are errors
};

/// Expands the cases of one file: one op, its sets, its defaults.
class CaseExpansion {
 public:
  /// `own_op` is `op` if the file declares it, else null.
  CaseExpansion(LoadState& state, const Op& op, const Sets& sets, std::shared_ptr<const Op> own_op = nullptr);

  /// Checks the keys of `defaults:` and applies them to every later case; bad keys are reported and left out.
  void set_defaults(const Node& defaults);

  /// Adds the points of one case to the state, and its errors to the reporter. An error in one key, or in one
  /// item of its `each`, does not keep the others from being checked. A case with an unknown key or an
  /// invalid head has no points.
  void add(const Node& node);

 private:
  /// A key of a case that stands for values; `with` may give several sources.
  struct Source {
    const Node* key = nullptr;
    const Node* value = nullptr;
  };

  /// The known errors of the case that is being read.
  struct Faults {
    Problems problems;
    bool is_broken = false;  ///< none of its points can be used
    /// Keys without a value, because what was written for them was reported.
    std::set<std::string> bad_keys;
    std::vector<Node::Entry> unknown;  ///< reported last: they may name inputs of the op
  };

  void read(const Node& node, Faults& faults);
  std::vector<Node::Entry> known_entries(const Node& node, Faults& faults) const;
  void replace_values(const Node& node, std::vector<Node::Entry>& entries, Faults& faults);
  bool is_replaced(const std::string& key, const Source& source) const;
  void add_keys_meant(const std::string& key, const Node& value, std::set<std::string>& keys) const;
  CaseHead read_head(const Node& node, const std::vector<Node::Entry>& entries, Faults& faults) const;
  std::vector<Source> sources(const std::vector<Node::Entry>& entries) const;
  template <class Check>
  std::vector<Source> passing(std::vector<Source> sources, Faults& faults, Check check);
  Extent extent_of(const Source& source);
  void check_product(const CaseHead& head, const std::vector<Source>& sources);
  void check_values(const Source& source);
  void refuse_product(const CaseHead& head, std::uint64_t product, const std::string& factors) const;
  Factor make_factor(const Source& source, Faults& faults);
  Choice read_choice(const Source& source, const Alternative& alternative, bool is_axis, Faults& faults);
  void add_points(const CaseHead& head, const Product& product, Faults& faults);
  bool add_point(PointBuilder& builder, const CaseHead& head, const PointChoice& choice,
                 const std::string& kind, Faults& faults);
  bool is_unwanted(const std::string& kind) const;
  std::string kind_of(const CaseHead& head, const Product& product, std::uint64_t index) const;
  void report_unknown(Faults& faults) const;

  LoadState& state_;
  const Op& op_;
  std::shared_ptr<const Op> own_op_;
  Expander expander_;
  SettingReader reader_;
  std::vector<std::string> case_keys_;
  std::vector<Node::Entry> defaults_;
  std::vector<std::string> inputs_;     ///< the op's inputs, from the last case with good parameters
  std::set<std::string> bad_defaults_;  ///< keys that unknown defaults may have meant
  std::set<std::string> replaced_;      ///< keys whose values in the current case are replaced (--set)
  std::uint64_t failed_points_ = 0;
  std::uint64_t useless_points_ = 0;  ///< those that lack a value, because what was written was reported
};

}  // namespace assay::cases
