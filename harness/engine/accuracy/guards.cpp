#include "harness/engine/accuracy/guards.h"

#include <fmt/format.h>

namespace assay {
namespace {

/// Bytes of a guard that are not poison any more.
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

}  // namespace

void check_guards(const std::string& name, const Guards& guards, Poison poison, std::vector<Finding>& found) {
  const Damage before = damage(guards.before, poison, 0);
  if (before.bytes > 0) {
    const auto size = static_cast<std::int64_t>(guards.before.size());
    found.push_back({"write_out_of_bounds",
                     fmt::format("'{}' was written before its start: {} bytes, the nearest {} before", name,
                                 before.bytes, size - before.last)});
  }
  const Damage after = damage(guards.after, poison, guards.end);
  if (after.bytes > 0) {
    found.push_back(
        {"write_out_of_bounds", fmt::format("'{}' was written past its end: {} bytes, the nearest at end+{}",
                                            name, after.bytes, after.first)});
  }
}

}  // namespace assay
