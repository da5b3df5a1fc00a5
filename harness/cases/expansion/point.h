#pragma once

#include "harness/cases/case.h"
#include "harness/cases/expansion/point_data.h"
#include "harness/cases/expansion/setting.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace assay::cases {

/// What all points of a case share.
struct CaseHead {
  const Op* op = nullptr;
  std::shared_ptr<const Op> own_op;  ///< see Case::own_op
  std::string name;
  Mode mode = Mode::Accu;
  Tier tier = Tier::Ci;
  Caches caches = Caches::Hot;
  std::uint64_t seed = 0;  ///< unless a point sets its own
  double timeout_s = 60;
  const Node* caret = nullptr;  ///< the case's name: the place of errors that belong to no key
  Shared<SourceLocation> where;
};

/// The choices for one point of a case's product.
struct PointChoice {
  std::vector<const std::vector<Setting>*> settings;
  std::vector<std::string_view> segments;  ///< segments of its id
  std::vector<std::string_view> bad_keys;  ///< keys without a value, which was already reported
  /// Equal for all points whose data settings (is_data_key) are equal; absent: no other point has this data.
  std::optional<std::uint64_t> data;
};

/// Builds the points of one case's product from the settings chosen for them, and checks them against their
/// op.
class PointBuilder {
 public:
  PointBuilder(const CaseHead& head, NpyFiles& npy_files, CommonData& common)
      : head_(head), npy_files_(npy_files), common_(common) {}

  /// Returns the point, or nothing if it depends on something unreadable that was already reported;
  /// everything else is checked even then. Throws Problem with all errors of the point.
  std::optional<Case> build(const PointChoice& choice);

  /// Returns the inputs of the op, from the last point with good parameters; empty if there was none.
  const std::vector<std::string>& inputs() const { return inputs_; }

 private:
  const Setting* find(std::string_view key) const;
  void gather(const PointChoice& choice);
  bool is_bad(std::string_view key) const;
  bool take_known_data(const PointChoice& choice);
  void note_data(const PointChoice& choice);
  template <class T>
  const T* given(std::string_view key) const;

  bool set_params_and_tensors();
  bool set_params();
  bool set_param(const ParamSpec& param);
  void set_impl();
  void exclude();
  void set_forms();
  void set_form(const TensorSpec& tensor, const Placed<WrittenForm>& written);
  void set_fills();
  void check_brings_answers(const ExpectedSetting* setting) const;
  void set_expected();
  void check_tolerance() const;
  Problem unknown_tunable(const Node& caret, const std::string& name,
                          std::span<const std::string> known) const;
  void set_tune();
  void set_plain_values();
  void set_model();
  void set_id(const PointChoice& choice);
  void set_data_key();

  void check_fill(const TensorSpec& tensor, const FillSpec& fill, const Origin& origin);
  const NpyInfo& checked_npy(const TensorSpec& tensor, const ArrayFile& file, const Origin& origin);
  [[noreturn]] void fail(const ParameterError& error) const;

  const CaseHead& head_;
  NpyFiles& npy_files_;
  CommonData& common_;
  std::unordered_map<std::uint64_t, PointData> known_data_;  ///< by PointChoice::data
  std::vector<const Setting*> given_;
  std::span<const std::string_view> bad_keys_;  ///< keys without a value in the current point
  std::vector<std::string> inputs_;
  Case point_;
};

}  // namespace assay::cases
