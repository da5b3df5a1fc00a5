#include "harness/cases/tuning/impl_forms.h"

#include "harness/cases/tuning/tensor_names.h"
#include "harness/tensor/form.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <set>
#include <utility>
#include <vector>

namespace assay {
namespace {

/// More combinations of a point and forms are not tried: it then cannot be told.
constexpr std::size_t most_tries = 20'000;

/// Looks for a point that an impl takes with given forms of some tensors, and any of the others.
class FormSearch {
 public:
  FormSearch(const Impl& impl, const std::map<std::string, std::string>& forms)
      : impl_(impl), asked_(forms) {}

  /// Tries one point. Returns whether others are to be tried.
  bool try_at(const Params& params, const std::vector<TensorSpec>& tensors) {
    const std::optional<std::vector<std::vector<Form>>> choices = choices_at(tensors);
    if (!choices) return true;
    is_taken_ = takes_one(params, tensors, *choices);
    if (is_taken_) return false;
    note_refusal(params, tensors, *choices);
    takes_defaults_ = takes_defaults_ || takes(params, tensors, defaults_of(tensors));
    return has_tries();
  }

  /// Nothing if the forms are taken, or if it cannot be told.
  std::optional<std::string> why_not() const {
    if (is_taken_ || !takes_defaults_ || !has_tries()) return std::nullopt;
    return why_;
  }

 private:
  bool has_tries() const { return tries_ < most_tries; }

  static std::vector<Form> forms_of(const TensorSpec& tensor) {
    return tensor.forms.empty() ? std::vector<Form>{Form{}} : tensor.forms;
  }
  static std::vector<Form> defaults_of(const std::vector<TensorSpec>& tensors) {
    std::vector<Form> forms;
    for (const TensorSpec& tensor : tensors) forms.push_back(forms_of(tensor).front());
    return forms;
  }

  /// The forms of each tensor that are tried; nothing if the point lacks a tensor or does not accept a form.
  std::optional<std::vector<std::vector<Form>>> choices_at(const std::vector<TensorSpec>& tensors) const {
    std::vector<std::vector<Form>> choices;
    std::set<std::string> found;
    for (const TensorSpec& tensor : tensors) {
      choices.push_back(forms_of(tensor));
      const auto asked = asked_.find(tensor.name);
      if (asked == asked_.end()) continue;
      found.insert(tensor.name);
      std::erase_if(choices.back(), [&](Form form) { return to_string(form) != asked->second; });
      if (choices.back().empty()) return std::nullopt;
    }
    return found.size() == asked_.size() ? std::optional(std::move(choices)) : std::nullopt;
  }

  /// Whether the impl takes the point with some combination of the choices.
  bool takes_one(const Params& params, const std::vector<TensorSpec>& tensors,
                 const std::vector<std::vector<Form>>& choices) {
    std::vector<std::size_t> chosen(choices.size());
    while (has_tries()) {
      std::vector<Form> forms;
      for (std::size_t i = 0; i < choices.size(); ++i) forms.push_back(choices[i][chosen[i]]);
      if (takes(params, tensors, forms)) return true;
      std::size_t next = 0;
      while (next < chosen.size() && ++chosen[next] == choices[next].size()) chosen[next++] = 0;
      if (next == chosen.size()) return false;
    }
    return false;
  }

  /// Notes why the impl refuses the choices. Tensors with a choice have a form that is asked for, if they
  /// accept it: with another form many impls say only that the forms differ, although equal ones are refused
  /// as well. Reasons at points with more such tensors are kept.
  void note_refusal(const Params& params, const std::vector<TensorSpec>& tensors,
                    const std::vector<std::vector<Form>>& choices) {
    const auto is_asked_for = [&](Form form) {
      return std::ranges::any_of(asked_, [&](const auto& one) { return one.second == to_string(form); });
    };
    std::vector<Form> forms;
    for (const std::vector<Form>& choice : choices) {
      const auto found = std::ranges::find_if(choice, is_asked_for);
      forms.push_back(found == choice.end() ? choice.front() : *found);
    }
    const auto alike = std::ranges::count_if(forms, is_asked_for);
    if (alike < most_alike_ || takes(params, tensors, forms)) return;
    most_alike_ = alike;
    why_ = refusal_;
  }

  bool takes(const Params& params, const std::vector<TensorSpec>& tensors, const std::vector<Form>& forms) {
    ++tries_;
    if (!impl_.invalid_reason) return true;
    try {
      const std::optional<std::string> why =
          impl_.invalid_reason(ImplPoint{params, tensors, forms, no_values_});
      if (!why) return true;
      refusal_ = *why;
    } catch (const std::exception& error) {  // a form that cannot hold its tensor, for instance
      refusal_ = error.what();
    }
    return false;
  }

  const Impl& impl_;
  const std::map<std::string, std::string>& asked_;
  const Tune no_values_;
  std::string refusal_;            ///< the last one
  std::string why_;                ///< the last one that says most of the forms that are asked for
  std::ptrdiff_t most_alike_ = 0;  ///< tensors with such a form, where it was said
  bool is_taken_ = false;
  bool takes_defaults_ = false;  ///< at a point that was tried in vain
  std::size_t tries_ = 0;
};

}  // namespace

std::optional<std::string> why_never_taken(const Op& op, const Impl& impl,
                                           const std::map<std::string, std::string>& forms) {
  FormSearch search(impl, forms);
  each_possible_point(op, [&](const Params& params, const std::vector<TensorSpec>& tensors) {
    return search.try_at(params, tensors);
  });
  return search.why_not();
}

}  // namespace assay
