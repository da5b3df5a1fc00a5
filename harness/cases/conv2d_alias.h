#pragma once

#include "harness/cases/case.h"
#include "harness/device/device_info.h"
#include "harness/op/op.h"

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The alias buffer/CONV2D of case files. Code that runs a case sees only the form that it stands for.

namespace assay {

/// What a case writes for "the layout of the impl that computes the convolution" (Impl::conv2d_layout).
inline constexpr std::string_view conv2d_form = "buffer/CONV2D";

/// Returns whether cases may write buffer/CONV2D for the tensor: the op defines it, and the tensor accepts
/// every form that it may stand for.
bool accepts_conv2d(const Op& op, const TensorSpec& tensor);

/// Returns ", which ...", the reason why a tensor of the op does not accept the alias.
std::string why_no_conv2d(const Op& op);

/// Returns the forms that a case may write for the tensor: "buffer/4C", ...
std::vector<std::string> accepted_forms(const Op& op, const TensorSpec& tensor);

/// Returns the tensor's form: "buffer/4W4C", or "buffer/CONV2D(4C)" if the case writes the alias.
std::string form_text(const Case& test_case, std::size_t tensor);

/// Returns "CONV2D = 4C", or "CONV2D = 4C or 4C1W, as auto chooses" while the choice awaits a device. Empty
/// for a case without the alias.
std::string conv2d_text(const Case& test_case);

/// Resolves buffer/CONV2D in the case if its impl has one layout on every device; otherwise marks the case as
/// awaiting a device.
void settle_conv2d(Case& test_case);

/// Cases as one device runs them. Those that await a device are copies with their own forms and `invalid`;
/// the others are the given cases, which must outlive this object.
///
/// With impl `auto`, the layouts are tried in the order in which `auto` ranks impls for the default forms.
/// buffer/CONV2D is the first layout with which `auto` chooses a runnable impl of that same layout. If there
/// is none, it is the best-ranked impl's layout, and the case's row says why it cannot run.
class DeviceCases {
 public:
  DeviceCases(std::span<const Case* const> cases, const DeviceInfo& device);
  DeviceCases(const DeviceCases&) = delete;
  DeviceCases& operator=(const DeviceCases&) = delete;

  /// The cases in the given order.
  std::span<const Case* const> all() const { return all_; }

 private:
  std::deque<Case> settled_;
  std::vector<const Case*> all_;
};

}  // namespace assay
