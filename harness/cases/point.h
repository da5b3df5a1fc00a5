#pragma once

#include "harness/cases/case.h"
#include "harness/cases/npy_files.h"
#include "harness/cases/point_data.h"
#include "harness/cases/setting.h"

#include <cstdint>
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
  std::string name;
  Mode mode = Mode::Accu;
  Tier tier = Tier::Ci;
  Caches caches = Caches::Hot;
  std::uint64_t seed = 0;  ///< unless a point says another
  double timeout_s = 60;
  const Node* caret = nullptr;  ///< the case's name: for errors that belong to no key
  Shared<SourceLocation> where;
};

/// What was chosen for one point of a case's product.
struct PointChoice {
  std::vector<const std::vector<Setting>*> settings;
  std::vector<std::string_view> segments;  ///< of its id
  std::vector<std::string_view> bad_keys;  ///< it has no value for these, which was reported
  /// The same for all points whose settings of data (is_data_key) are the same; absent: there is no other.
  std::optional<std::uint64_t> data;
};

/// Makes the points of one case's product out of the settings chosen for them, and checks them against their
/// op.
class PointBuilder {
 public:
  PointBuilder(const CaseHead& head, NpyFiles& npy_files, CommonData& common)
      : head_(head), npy_files_(npy_files), common_(common) {}

  /// Nothing where the point lacks what could not be read and was reported; all else is checked then, too.
  /// Throws Problem, with all that is wrong with the point.
  std::optional<Case> build(const PointChoice& choice);

  /// The inputs of the op, by the last point whose parameters were good; empty: there was none.
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
  void set_forms();
  void set_form(const TensorSpec& tensor, const Placed<WrittenForm>& written);
  void set_fills();
  void set_expected();
  void check_tolerance() const;
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
  std::span<const std::string_view> bad_keys_;  ///< of the point that is built
  std::vector<std::string> inputs_;
  Case point_;
};

}  // namespace assay::cases
