#include "harness/app/prune_text.h"

#include "harness/base/text.h"

#include <fmt/format.h>

#include <map>
#include <span>

namespace assay::app {
namespace {

struct Totals {
  std::size_t kept = 0, removed = 0;
  std::uintmax_t kept_bytes = 0, removed_bytes = 0;

  void add(const PruneItem& item) {
    ++(item.is_removed ? removed : kept);
    (item.is_removed ? removed_bytes : kept_bytes) += item.bytes;
  }
};

std::string lines_of(std::span<const PruneItem> items) {
  std::string text;
  for (const PruneItem& item : items) {
    text += fmt::format("{}  {:>10}  {}  {}\n", item.is_removed ? "remove" : "keep  ", bytes_text(item.bytes),
                        printable(item.path.string()), printable(item.why));
  }
  return text;
}

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string totals_line(const std::string& of, const char* what, const Totals& totals, bool will) {
  return fmt::format("{}: {}, {}, {}; {}, {}, kept\n", printable(of), counted(totals.removed, what),
                     bytes_text(totals.removed_bytes), will ? "would be removed" : "removed", totals.kept,
                     bytes_text(totals.kept_bytes));
}

}  // namespace

std::string prune_text(const PrunePlan& plan, bool will, std::optional<std::uintmax_t> free_bytes) {
  std::map<std::string, Totals> devices;
  Totals shards;
  for (const PruneItem& report : plan.reports) devices[report.device].add(report);
  for (const PruneItem& item : plan.shards) shards.add(item);
  std::string text = lines_of(plan.reports) + lines_of(plan.shards) + '\n';
  for (const auto& [device, totals] : devices) text += totals_line(device, "report", totals, will);
  if (!plan.shards.empty()) text += totals_line("shards", "folder", shards, will);
  text += fmt::format("in all: {}, {}, {}", counted(plan.removals.size(), "folder"),
                      bytes_text(plan.removed_bytes), will ? "would be removed" : "removed");
  return text + (free_bytes ? "; " + bytes_text(*free_bytes) + " are free\n" : "\n");
}

}  // namespace assay::app
