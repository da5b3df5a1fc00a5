#include "harness/report/record/row_traits.h"

#include <sstream>
#include <string_view>
#include <utility>

namespace assay {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// "x=buffer/4W4C y=buffer/4C"
Pairs pairs_of(const std::string& text) {
  Pairs pairs;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) pairs.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return pairs;
}

struct FormWords {
  std::string storage, layout;
};

/// The storage and layout of a form: "buffer/CONV2D(4C)" is in a buffer, in layout 4C.
FormWords form_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return {};
  std::string layout = text.substr(slash + 1);
  const std::size_t open = layout.find('(');
  if (open != std::string::npos && layout.ends_with(')'))
    layout = layout.substr(open + 1, layout.size() - open - 2);
  const bool is_buffer = text.starts_with("buffer");
  const std::string texture = text.starts_with("texture2d") ? "a 2D texture" : "a 3D texture";
  return {is_buffer ? "a buffer" : texture, layout};
}

void add_forms(std::vector<std::string>& traits, const RowInfo& row) {
  const Pairs forms = pairs_of(row.forms);
  for (const auto& [tensor, form] : forms) traits.push_back(tensor + " in " + form_of(form).storage);
  for (const auto& [tensor, form] : forms) traits.push_back(tensor + " in " + form_of(form).layout);
  if (forms.size() < 2) return;
  const bool alike = form_of(forms.front().second).layout == form_of(forms.back().second).layout;
  traits.push_back(forms.front().first + " and " + forms.back().first +
                   (alike ? " in the same layout" : " in different layouts"));
}

std::vector<long long> dims_of(const std::string& shape) {
  std::vector<long long> dims;
  std::istringstream words(shape);
  for (std::string dim; std::getline(words, dim, 'x');) {
    if (!dim.empty() && dim.find_first_not_of("0123456789") == std::string::npos && dim.size() < 18)
      dims.push_back(std::stoll(dim));
  }
  return dims;
}

void add_shape(std::vector<std::string>& traits, const RowInfo& row) {
  const std::vector<long long> dims = dims_of(row.shape);
  if (dims.empty()) return;
  const auto of_four = [&](const char* name, long long size) {
    traits.push_back(std::string(name) +
                     (size % 4 == 0 ? " that is a multiple of 4" : " that is not a multiple of 4"));
  };
  of_four("a last dim", dims.back());
  if (dims.size() >= 2) of_four("a second-last dim", dims[dims.size() - 2]);
  if (dims.size() >= 3) of_four("a third-last dim", dims[dims.size() - 3]);
  if (dims.size() >= 2) traits.emplace_back(dims.front() > 1 ? "a first dim above 1" : "a first dim of 1");
  traits.push_back("rank " + std::to_string(dims.size()));
}

void add_pairs(std::vector<std::string>& traits, const std::string& prefix, const std::string& text) {
  for (const auto& [name, value] : pairs_of(text)) {
    std::string trait = prefix;
    trait.append(name).append(" = ").append(value);
    traits.push_back(std::move(trait));
  }
}

}  // namespace

std::vector<std::string> traits_of(const RowInfo& row) {
  std::vector<std::string> traits;
  add_forms(traits, row);
  traits.push_back("impl " + row.impl);
  traits.push_back("dtype " + row.dtype);
  add_pairs(traits, "tuned ", row.tune);
  if (row.tune.empty()) traits.emplace_back("nothing tuned");
  add_shape(traits, row);
  add_pairs(traits, "", row.params);
  traits.push_back("mode " + row.mode);
  if (!row.cache.empty()) traits.push_back("a " + row.cache + " cache");
  add_pairs(traits, "fill ", row.fill);
  if (row.tokens > 0) traits.emplace_back(row.tokens == 1 ? "one token" : "several tokens");
  traits.push_back("op " + row.op);
  traits.push_back("case name " + row.name);
  return traits;
}

}  // namespace assay
