#pragma once

#include "harness/cases/case.h"
#include "harness/cases/npy_files.h"
#include "harness/cases/setting.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
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
  SourceLocation where;
};

/// Makes one point of a case's product out of the settings chosen for it, and checks it against its op.
class PointBuilder {
 public:
  PointBuilder(const CaseHead& head, NpyFiles& npy_files) : head_(head), npy_files_(npy_files) {}

  /// Throws Problem.
  Case build(std::span<const std::vector<Setting>* const> settings, std::span<const std::string> segments);

 private:
  void gather(std::span<const std::vector<Setting>* const> settings);
  template <class T>
  const T* given(std::string_view key) const;

  void set_params_and_tensors();
  void set_params();
  void set_impl();
  void set_forms();
  void set_form(const TensorSpec& tensor, const Placed<WrittenForm>& written);
  void set_fills();
  void set_expected();
  void check_tolerance() const;
  void set_tune();
  void set_plain_values();
  void set_model();
  void set_id(std::span<const std::string> segments);
  void set_data_key();

  void check_fill(const TensorSpec& tensor, const FillSpec& fill, const Origin& origin);
  const NpyInfo& checked_npy(const TensorSpec& tensor, const ArrayFile& file, const Origin& origin);
  [[noreturn]] void fail(const ParameterError& error) const;

  const CaseHead& head_;
  NpyFiles& npy_files_;
  std::map<std::string, const Setting*, std::less<>> given_;
  Case point_;
};

}  // namespace assay::cases
