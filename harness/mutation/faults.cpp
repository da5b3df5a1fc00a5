#include "harness/mutation/faults.h"

#include "harness/base/hash.h"
#include "harness/mutation/edits.h"
#include "harness/mutation/glsl_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace assay::mutation {

void Edits::replace(std::string_view kind, std::size_t first, std::size_t end, std::string after) {
  const Token& one = code_.at(first);
  if (first >= end || end > code_.size() || one.line != code_.at(end - 1).line || one.is_layout) return;
  if (code_.between(first, end) == after) return;
  all_.push_back({kind, first, end, std::move(after)});
}

namespace {

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

Fault fault_of(const std::string& file, const GlslCode& code, const Edit& edit) {
  const Token& token = code.at(edit.first);
  return {.id = {},
          .file = file,
          .line = token.line,
          .column = token.column,
          .kind = std::string(edit.kind),
          .before = std::string(code.between(edit.first, edit.end)),
          .after = edit.after,
          .line_hash = hash_hex(trimmed(code.line(token.line))).substr(0, 8),
          .offset = token.offset};
}

/// The same line may be in a file more than once.
void set_ids(std::vector<Fault>& faults) {
  std::map<std::string, int> seen;
  for (Fault& fault : faults) {
    std::string text = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", fault.file, fault.line_hash, fault.kind,
                                   fault.column, fault.before, fault.after);
    text += fmt::format("\n{}", seen[text]++);
    fault.id = hash_hex(text).substr(0, 12);
  }
}

}  // namespace

std::vector<Fault> faults_of(const std::string& file, std::string_view source,
                             const std::vector<std::string_view>& included) {
  const GlslCode code(source);
  Edits edits(code);
  for (std::size_t i = 0; i < code.size(); ++i) {
    change_arithmetic(i, edits);
    change_constants(i, edits);
    change_calls(i, edits);
    change_flow(i, edits);
    change_names(i, edits);
  }
  change_neighbours(edits, included);
  std::vector<Fault> faults;
  std::set<std::pair<std::size_t, std::string>> known;  // two operators may agree on a change
  for (const Edit& edit : edits.all()) {
    Fault fault = fault_of(file, code, edit);
    if (known.emplace(fault.offset, fault.before + "\n" + fault.after).second)
      faults.push_back(std::move(fault));
  }
  std::ranges::stable_sort(faults, {}, &Fault::offset);
  set_ids(faults);
  return faults;
}

std::string with_fault(const Fault& fault, std::string_view source) {
  std::string text(source);
  return text.replace(fault.offset, fault.before.size(), fault.after);
}

std::vector<Fault> shuffled(std::vector<Fault> faults, std::uint64_t seed) {
  const auto place = [&](const Fault& fault) {
    return std::pair(hash64(fmt::format("{} {}", seed, fault.id)), fault.id);
  };
  std::ranges::sort(faults, {}, place);
  return faults;
}

}  // namespace assay::mutation
