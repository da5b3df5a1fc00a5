#include "harness/cases/conv2d_alias.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>

namespace assay {
namespace {

constexpr std::string_view conv2d_form = "buffer/CONV2D", conv2d_id = "CONV2D";

Form in_buffer(Layout layout) {
  return {Storage::Buffer, layout};
}

std::string forms_of(const std::vector<Layout>& layouts) {
  std::vector<std::string> names;
  for (const Layout layout : layouts) names.push_back(to_string(in_buffer(layout)));
  return fmt::format("{}", fmt::join(names, " or "));
}

std::string names_of(const std::vector<Layout>& layouts) {
  std::vector<std::string_view> names;
  for (const Layout layout : layouts) names.push_back(name_of(layout));
  return fmt::format("{}", fmt::join(names, " or "));
}

/// Returns the case's forms, with `layout` in place of the alias.
std::vector<Form> forms_with(const Case& test_case, Layout layout) {
  std::vector<Form> forms = test_case.forms;
  for (const std::size_t tensor : test_case.conv2d.tensors) forms[tensor] = in_buffer(layout);
  return forms;
}

/// Returns the forms of a case whose impl chooses on the device. The choice may depend on the forms, so each
/// layout is tried in turn until the impl chosen with it has that layout.
std::vector<Form> forms_on(const Case& test_case, const DeviceInfo& device) {
  const auto context = [&](const std::vector<Form>& forms) {
    return BuildContext(test_case.params, test_case.tensors, forms, device, test_case.tune);
  };
  const std::vector<const Impl*> ranked =
      candidates(*test_case.op, *test_case.impl, context(test_case.forms));
  for (const Impl* impl : ranked) {
    std::vector<Form> forms = forms_with(test_case, *impl->conv2d_layout);
    const Impl& taken = chosen_impl(*test_case.op, *test_case.impl, context(forms));
    if (taken.conv2d_layout == impl->conv2d_layout && can_run(taken, context(forms))) return forms;
  }
  return forms_with(test_case, *ranked.front()->conv2d_layout);
}

/// Returns whether cases may write the alias for the tensor.
bool accepts_conv2d(const Op& op, const TensorSpec& tensor) {
  const std::vector<Layout> layouts = conv2d_layouts(op);
  return !layouts.empty() && std::ranges::all_of(layouts, [&](Layout layout) {
    return std::ranges::find(tensor.forms, in_buffer(layout)) != tensor.forms.end();
  });
}

/// Returns ", which ...", the reason why a tensor of the op does not accept the alias.
std::string why_no_conv2d(const Op& op) {
  const std::vector<Layout> layouts = conv2d_layouts(op);
  if (layouts.empty())
    return fmt::format(", which stands for a convolution's layout: no impl of {} defines it", op.name);
  return fmt::format(", which stands for {} in {}", forms_of(layouts), op.name);
}

Case settled_on(Case test_case, const DeviceInfo& device) {
  test_case.conv2d.awaits_device = false;
  try {
    test_case.forms = forms_on(test_case, device);
    test_case.invalid = why_invalid(test_case);
  } catch (const std::exception&) {
    // A choice that fails here fails again when the row is planned, and is reported there.
  }
  return test_case;
}

}  // namespace

std::optional<WrittenForm> parse_written_form(std::string_view text) {
  if (text == conv2d_form) return WrittenForm();
  if (const std::optional<Form> form = parse_form(text)) return WrittenForm(form);
  return std::nullopt;
}

std::vector<std::string> form_names(const Op& op) {
  std::vector<std::string> names;
  for (const Form form : all_forms()) names.push_back(to_string(form));
  if (!conv2d_layouts(op).empty()) names.emplace_back(conv2d_form);
  return names;
}

std::vector<std::string> accepted_forms(const Op& op, const TensorSpec& tensor) {
  std::vector<std::string> names;
  for (const Form form : tensor.forms) names.push_back(to_string(form));
  if (accepts_conv2d(op, tensor)) names.emplace_back(conv2d_form);
  return names;
}

std::optional<std::string> set_last_form(Case& test_case, const WrittenForm& written) {
  const Op& op = *test_case.op;
  const TensorSpec& tensor = test_case.tensors[test_case.forms.size() - 1];
  const bool accepted =
      written ? std::ranges::find(tensor.forms, *written) != tensor.forms.end() : accepts_conv2d(op, tensor);
  if (!accepted) {
    return fmt::format("the form {}{}; it accepts {}",
                       written ? to_string(*written) : std::string(conv2d_form),
                       written ? "" : why_no_conv2d(op), fmt::join(accepted_forms(op, tensor), ", "));
  }
  if (written) {
    test_case.forms.back() = *written;
  } else {
    test_case.conv2d.tensors.push_back(test_case.forms.size() - 1);
  }
  return std::nullopt;
}

std::string written_form(const Case& test_case, std::size_t tensor) {
  return test_case.conv2d.covers(tensor) ? std::string(conv2d_form) : to_string(test_case.forms[tensor]);
}

std::string id_of_form(const Case& test_case, std::size_t tensor) {
  if (test_case.conv2d.covers(tensor)) return std::string(conv2d_id);
  if (test_case.tensors[tensor].forms.size() <= 1) return "";
  const Form form = test_case.forms[tensor];
  const std::string_view prefix = form.storage == Storage::Texture3D   ? "t3"
                                  : form.storage == Storage::Texture2D ? "t2"
                                                                       : "";
  return fmt::format("{}{}", prefix, name_of(form.layout));
}

std::string form_text(const Case& test_case, std::size_t tensor) {
  const Form form = test_case.forms[tensor];
  if (!test_case.conv2d.covers(tensor)) return to_string(form);
  return test_case.conv2d.awaits_device ? std::string(conv2d_form)
                                        : fmt::format("{}({})", conv2d_form, name_of(form.layout));
}

std::string conv2d_text(const Case& test_case) {
  const Conv2dAlias& alias = test_case.conv2d;
  if (alias.tensors.empty()) return "";
  if (!alias.awaits_device)
    return fmt::format("CONV2D = {}", name_of(test_case.forms[alias.tensors.front()].layout));
  return fmt::format("CONV2D = {}, as {} chooses", names_of(conv2d_layouts(*test_case.op)),
                     test_case.impl->name);
}

bool ask_for_same_forms(const Case& a, const Case& b) {
  if (a.conv2d.tensors != b.conv2d.tensors || a.forms.size() != b.forms.size()) return false;
  for (std::size_t i = 0; i < a.forms.size(); ++i) {
    if (!a.conv2d.covers(i) && a.forms[i] != b.forms[i]) return false;
  }
  return true;
}

void settle_conv2d(Case& test_case) {
  if (test_case.conv2d.tensors.empty()) return;
  test_case.conv2d.awaits_device = !test_case.impl->conv2d_layout;
  if (test_case.impl->conv2d_layout) test_case.forms = forms_with(test_case, *test_case.impl->conv2d_layout);
}

DeviceCases::DeviceCases(std::span<const Case* const> cases, const DeviceInfo& device) {
  for (const Case* test_case : cases) {
    const bool awaits = test_case->conv2d.awaits_device;
    all_.push_back(awaits ? &settled_.emplace_back(settled_on(*test_case, device)) : test_case);
  }
}

}  // namespace assay
