#include "harness/engine/accuracy/guards.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace assay {
namespace {

/// Bytes of a guard that no longer hold the poison.
struct Damage {
  std::int64_t bytes = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// `first_offset` is where the guard starts in its allocation.
Damage damage(std::span<const std::byte> guard, Poison poison, std::uint64_t first_offset) {
  std::vector<std::byte> clean(guard.size());
  fill_poison(clean, poison, first_offset);
  Damage found;
  for (std::size_t i = 0; i < guard.size(); ++i) {
    if (guard[i] == clean[i]) continue;
    if (found.bytes++ == 0) found.first = static_cast<std::int64_t>(i);
    found.last = static_cast<std::int64_t>(i);
  }
  return found;
}

/// By the names of the bound buffers how much of their memory the kernel sees: the least of all dispatches.
std::map<std::string, Binding::Range> seen_ranges(const Program& program, std::span<const TensorSpec> tensors,
                                                  std::span<const Form> forms) {
  std::map<std::string, Binding::Range> seen;
  for (const Dispatch& dispatch : program.dispatches) {
    for (const Binding& binding : dispatch.bindings) {
      const bool is_tensor = binding.resource.kind == Resource::Kind::Tensor;
      const std::uint32_t index = binding.resource.index;
      if ((is_tensor ? forms[index] : program.scratch[index].form).storage != Storage::Buffer) continue;
      const std::string name = is_tensor ? tensors[index].name : program.scratch[index].name;
      Binding::Range& range = seen.try_emplace(name, binding.range).first->second;
      range = std::max(range, binding.range);
    }
  }
  return seen;
}

}  // namespace

std::string guards_seen(const Program& program, std::span<const TensorSpec> tensors,
                        std::span<const Form> forms) {
  const std::map<std::string, Binding::Range> seen = seen_ranges(program, tensors, forms);
  const auto is_whole = [](const auto& one) { return one.second == Binding::Range::All; };
  if (seen.empty()) return "";
  if (std::ranges::all_of(seen, is_whole)) return "both";
  std::string text;
  for (const auto& [name, range] : seen) {
    const char* word = range == Binding::Range::All            ? "both"
                       : range == Binding::Range::DataAndAfter ? "after"
                                                               : "none";
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, word);
  }
  return text;
}

void check_guards(const std::string& name, const Guards& guards, Poison poison, std::vector<Finding>& found) {
  const Damage before = damage(guards.before, poison, 0);
  if (before.bytes > 0) {
    const auto size = static_cast<std::int64_t>(guards.before.size());
    found.push_back({"write_out_of_bounds",
                     fmt::format("'{}' was written before its start: {} bytes, the nearest at start-{}", name,
                                 before.bytes, size - before.last),
                     name + " before its start", before.bytes});
  }
  const Damage after = damage(guards.after, poison, guards.end);
  if (after.bytes > 0) {
    found.push_back({"write_out_of_bounds",
                     fmt::format("'{}' was written past its end: {} bytes, the nearest at end+{}", name,
                                 after.bytes, after.first),
                     name + " past its end", after.bytes});
  }
}

void add_findings(std::vector<Finding>& found, const std::vector<Finding>& more) {
  for (const Finding& finding : more) {
    const auto is_same = [&](const Finding& other) {
      return other.metric == finding.metric && other.memory == finding.memory &&
             (!finding.memory.empty() || other.reason == finding.reason);
    };
    const auto known = std::ranges::find_if(found, is_same);
    if (known == found.end()) {
      found.push_back(finding);
    } else if (finding.bytes > known->bytes) {
      *known = finding;
    }
  }
}

}  // namespace assay
