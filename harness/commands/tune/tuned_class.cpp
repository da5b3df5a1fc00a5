#include "harness/commands/tune/tuned_class.h"

#include <algorithm>
#include <utility>

namespace assay::app {

namespace {

std::vector<MeasuredShape> shapes_without_failed(const TunedClass& tuned) {
  std::vector<MeasuredShape> shapes = tuned.shapes;
  for (MeasuredShape& shape : shapes) {
    std::erase_if(shape.ratios, [&](const auto& measured) {
      return measured.first > 0 && tuned.failed.contains(tuned.candidates.at(measured.first - 1));
    });
  }
  return shapes;
}

}  // namespace

bool TunedClass::is_tuned_at(const TuningPoint& point) const {
  if (!searched.contains(point.at)) return false;
  return candidates.empty() || std::ranges::find(shapes, point.at, &MeasuredShape::at) != shapes.end();
}

bool TunedClass::leave_out(const Tune& failing) {
  return failed.insert(failing).second;
}

bool is_replaced(const TuningEntry& older, const std::deque<TunedClass>& classes) {
  std::int64_t again = 0;
  for (const TunedClass& one : classes) {
    const Cache cache = one.group.caches == Caches::Cold ? Cache::Cold : Cache::Hot;
    for (const TuningPoint& point : one.group.points) {
      if (!older.applies_to(point.base, cache, *one.group.impl)) continue;
      if (!one.is_tuned_at(point)) return false;
      ++again;
    }
  }
  return again >= std::max<std::int64_t>(older.shapes, 1);
}

std::vector<TuningEntry> entries_of(const TunedClass& tuned) {
  std::vector<TuningEntry> entries;
  const std::vector<MeasuredShape> shapes = shapes_without_failed(tuned);
  const std::vector<double> left_out = left_out_pct(shapes);
  for (const TunedRange& range : tuned_ranges(shapes)) {
    if (range.candidate == 0) continue;
    TuningEntry entry{.op = tuned.group.op->name, .impl = tuned.group.impl->name};
    entry.when = tuned.group.conditions(range.box);
    entry.forms = tuned.group.forms;
    entry.cache = tuned.group.caches == Caches::Cold ? Cache::Cold : Cache::Hot;
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
