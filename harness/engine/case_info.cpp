#include "harness/engine/case_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

namespace assay {
namespace {

std::string fill_text(const FillSpec& fill) {
  if (fill.kind == FillKind::Npy) return "npy:" + fill.file;
  if (fill.value) return fmt::format("{}:{}", name_of(fill.kind), *fill.value);
  return std::string(name_of(fill.kind));
}

/// A word of a shell command line, quoted where a shell would take it apart.
std::string shell_word(const std::string& text) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-:=,@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

CaseInfo case_info(const Case& one, Mode mode) {
  std::vector<std::string> forms;
  std::vector<std::string> fills;
  for (std::size_t i = 0; i < one.tensors.size(); ++i) {
    const TensorSpec& spec = one.tensors[i];
    forms.push_back(fmt::format("{}={}", spec.name, to_string(one.forms[i])));
    if (spec.is_input()) fills.push_back(fmt::format("{}={}", spec.name, fill_text(one.fills.at(spec.name))));
  }
  std::vector<std::string> tune;
  for (const auto& [name, value] : one.tune) tune.push_back(fmt::format("{}={}", name, value));
  return {.id = one.id,
          .op = one.op->name,
          .name = one.name,
          .impl = one.impl->name,
          .shape = to_string(one.tensors.front().shape),
          .params = one.params.canonical(),
          .forms = fmt::format("{}", fmt::join(forms, " ")),
          .tune = fmt::format("{}", fmt::join(tune, " ")),
          .fill = fmt::format("{}", fmt::join(fills, " ")),
          .mode = std::string(name_of(mode)),
          .tier = std::string(name_of(one.tier)),
          .seed = one.seed,
          .where = one.where};
}

std::string repro_line(const CaseInfo& info, const std::string& options) {
  return fmt::format("assay run {} --filter '{}' --mode {}{}{}", shell_word(info.where.file), info.id,
                     info.mode, options.empty() ? "" : " ", options);
}

}  // namespace assay
