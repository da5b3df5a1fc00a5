#pragma once

#include "harness/cases/case.h"
#include "harness/device/device_info.h"
#include "harness/op/op.h"

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The alias buffer/CONV2D of case files: how it is written, which tensors accept it, which layout it stands
// for on a device, and how reports name it. Only Conv2dAlias, a case's note of it, and Impl::conv2d_layout,
// an op's declaration of it, are elsewhere. Code that runs a case sees only the form that it stands for.

namespace assay {

/// A form as a case writes it; nothing stands for buffer/CONV2D: the layout of the impl that computes the
/// convolution (Impl::conv2d_layout).
using WrittenForm = std::optional<Form>;

/// Parses a form of a case file. Empty if the text is neither a form nor the alias.
std::optional<WrittenForm> parse_written_form(std::string_view text);

/// Returns every form that cases of the op may name: "buffer/WP", ..., and last the alias if the op defines
/// it.
std::vector<std::string> form_names(const Op& op);

/// Returns the forms that a case may write for the tensor: "buffer/4C", ... The alias is one if the op
/// defines it and the tensor accepts every form that it may stand for.
std::vector<std::string> accepted_forms(const Op& op, const TensorSpec& tensor);

/// Sets the form of the last tensor of `test_case.forms`, or notes the alias. If the tensor does not accept
/// it, nothing is changed and the result says what is wrong: "the form buffer/CP; it accepts ...".
std::optional<std::string> set_last_form(Case& test_case, const WrittenForm& written);

/// Returns the tensor's form as a case file writes it: "buffer/4W4C" or "buffer/CONV2D".
std::string written_form(const Case& test_case, std::size_t tensor);

/// Returns the tensor's form as ids write it: "4W4C", "t3CP", "t2WP" or "CONV2D". Empty if the tensor has one
/// form only, which ids leave out.
std::string id_of_form(const Case& test_case, std::size_t tensor);

/// Returns the tensor's form: "buffer/4W4C", or "buffer/CONV2D(4C)" if the case writes the alias.
std::string form_text(const Case& test_case, std::size_t tensor);

/// Returns "CONV2D = 4C", or "CONV2D = 4C or 4C1W, as auto chooses" while the choice awaits a device. Empty
/// for a case without the alias.
std::string conv2d_text(const Case& test_case);

/// Returns whether two cases of an op ask for the same forms. A tensor written as CONV2D in both is the same,
/// whatever the alias stands for.
bool ask_for_same_forms(const Case& a, const Case& b);

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
