#include "harness/commands/tune/tuned_class.h"

#include <utility>

namespace assay::app {

std::vector<TuningEntry> entries_of(const TunedClass& tuned) {
  std::vector<TuningEntry> entries;
  const std::vector<double> left_out = left_out_pct(tuned.shapes);
  for (const TunedRange& range : tuned_ranges(tuned.shapes)) {
    if (range.candidate == 0) continue;
    TuningEntry entry{.op = tuned.group.op->name, .impl = tuned.group.impl->name};
    entry.when = tuned.group.conditions(range.box);
    entry.forms = tuned.group.forms;
    entry.tune = tuned.candidates[range.candidate - 1];
    entry.ratio = range.ratio;
    entry.ratio_low = range.ratio_low;
    entry.ratio_high = range.ratio_high;
    entry.shapes = static_cast<std::int64_t>(range.shapes.size());
    double sum = 0;
    for (const std::size_t shape : range.shapes) sum += left_out[shape];
    entry.left_out_pct = sum / static_cast<double>(range.shapes.size());
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace assay::app
