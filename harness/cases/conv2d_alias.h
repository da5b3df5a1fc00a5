#pragma once

#include "harness/cases/case.h"
#include "harness/op/device_info.h"
#include "harness/op/op.h"

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The alias buffer/CONV2D of case files. Whoever runs a case sees the form that it stands for.

namespace assay {

/// What a case writes for "the layout of whichever impl computes the convolution" (Impl::conv2d_layout).
inline constexpr std::string_view conv2d_form = "buffer/CONV2D";

/// Whether cases may write buffer/CONV2D for the tensor: the op knows it, and the tensor accepts every form
/// that it may stand for.
bool accepts_conv2d(const Op& op, const TensorSpec& tensor);

/// ", which ...": why a tensor of the op that does not accept it does not.
std::string why_no_conv2d(const Op& op);

/// "buffer/4C", ...: the forms that a case may write for the tensor.
std::vector<std::string> accepted_forms(const Op& op, const TensorSpec& tensor);

/// "buffer/4W4C", and for one that is written as the alias "buffer/CONV2D(4C)".
std::string form_text(const Case& test_case, std::size_t tensor);

/// "CONV2D = 4C"; "CONV2D = 4C or 4C1W, as auto chooses" while that awaits a device; empty for a case
/// without.
std::string conv2d_text(const Case& test_case);

/// Gives the case what buffer/CONV2D stands for where its impl says so, whatever the device; else the case
/// awaits one.
void settle_conv2d(Case& test_case);

/// Cases as one device runs them: those that await a device are copies, with forms and `invalid` of their
/// own. The others are those that were given, which must outlive this.
///
/// With impl `auto`, buffer/CONV2D is the first layout, in the order in which it ranks impls over the default
/// forms, in which it takes an impl that can run and whose layout that is. Where there is none, it is that of
/// the best; the case's row says what is in the way.
class DeviceCases {
 public:
  DeviceCases(std::span<const Case* const> cases, const DeviceInfo& device);
  DeviceCases(const DeviceCases&) = delete;
  DeviceCases& operator=(const DeviceCases&) = delete;

  /// In the order given.
  std::span<const Case* const> all() const { return all_; }

 private:
  std::deque<Case> settled_;
  std::vector<const Case*> all_;
};

}  // namespace assay
