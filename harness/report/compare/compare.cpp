#include "harness/report/compare/compare.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/report/files/pivot.h"
#include "harness/report/record/row_key.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace assay {
namespace {

std::set<std::string> devices_of(std::span<const RunReport> side) {
  std::set<std::string> keys;
  for (const RunReport& report : side) keys.insert(device_key(report.run));
  return keys;
}

void refuse_doubles(std::span<const RunReport> side, const char* name) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const RunReport& report : side) {
    if (seen.emplace(report.run.run_id, device_key(report.run)).second) continue;
    throw Error("comparing runs: the " + std::string(name) + " side has run " + printable(report.run.run_id) +
                " twice; its blocks would count double");
  }
}

struct Records {
  std::vector<const RunInfo*> runs;
  std::vector<Record*> records;

  /// What they say together; the records themselves are given up, as those of a large run take much memory.
  std::optional<RowSide> pooled() {
    if (records.empty()) return std::nullopt;
    RowSide side = pool_runs(runs, {records.begin(), records.end()});
    for (Record* record : records) *record = {};
    return side;
  }
};

struct Meeting {
  std::string device;
  std::array<Records, 2> sides;
};

/// Brings the rows of both sides together.
class Matcher {
 public:
  explicit Matcher(bool cross_device) : cross_device_(cross_device) {}

  void add(std::span<RunReport> reports, std::size_t side) {
    for (RunReport& report : reports) {
      const std::string device = cross_device_ ? "" : device_key(report.run);
      for (Record& record : report.records) {
        const auto [at, is_new] = index_.try_emplace({device, key_of(record.info)}, meetings_.size());
        if (is_new) meetings_.emplace_back();
        Meeting& meeting = meetings_[at->second];
        meeting.device = report.run.device.name;
        meeting.sides[side].runs.push_back(&report.run);
        meeting.sides[side].records.push_back(&record);
      }
    }
  }

  std::vector<Meeting>& meetings() { return meetings_; }
  bool any_common() const {
    return std::ranges::any_of(meetings_, [](const Meeting& meeting) {
      return !meeting.sides[0].records.empty() && !meeting.sides[1].records.empty();
    });
  }

 private:
  bool cross_device_;
  std::vector<Meeting> meetings_;
  std::map<std::pair<std::string, RowKey>, std::size_t> index_;
};

std::string side_words(std::span<const RunReport> side) {
  std::size_t rows = 0;
  std::set<std::string> devices;
  for (const RunReport& report : side) {
    rows += report.records.size();
    devices.insert(printable(report.run.device.name));
  }
  std::string text = std::to_string(rows) + " rows on ";
  for (const std::string& device : devices) text += (device == *devices.begin() ? "" : ", ") + device;
  return text;
}

std::vector<RunReport> without_records(std::span<const RunReport> side) {
  std::vector<RunReport> runs;
  for (const RunReport& report : side) {
    runs.push_back(
        {.run = report.run, .records = {}, .complete = report.complete, .cut_off = report.cut_off});
  }
  return runs;
}

// Sums of logarithms until finish().
void add_to_means(const RowVerdict& row, std::vector<GeometricMean>& means) {
  if (!(row.ratio > 0) || row.verdict == Verdict::Suspect) return;
  const std::string cache = key_of(row.info).cache;
  auto mean = std::ranges::find_if(means, [&](const GeometricMean& other) {
    return std::tie(other.op, other.impl, other.cache) == std::tie(row.info.op, row.info.impl, cache);
  });
  if (mean == means.end())
    mean = means.insert(means.end(), {.op = row.info.op, .impl = row.info.impl, .cache = cache, .ratio = 0});
  mean->ratio += std::log(row.ratio);
  ++mean->rows;
  if (!(row.peak_ratio > 0)) return;
  mean->peak_ratio += std::log(row.peak_ratio);
  ++mean->peak_rows;
}

void finish(std::vector<GeometricMean>& means) {
  for (GeometricMean& mean : means) {
    mean.ratio = std::exp(mean.ratio / static_cast<double>(mean.rows));
    if (mean.peak_rows > 0) mean.peak_ratio = std::exp(mean.peak_ratio / static_cast<double>(mean.peak_rows));
  }
}

}  // namespace

std::string device_key(const RunInfo& run) {
  const DeviceInfo& device = run.device;
  if (device.is_cpu()) return "cpu:" + short_device_name(device.name) + ":" + run.cpu;
  return device.uuid.empty() ? "name:" + device.name : "uuid:" + device.uuid;
}

std::map<Verdict, std::size_t> RunComparison::totals() const {
  std::map<Verdict, std::size_t> counts;
  for (const RowVerdict& row : rows) {
    if (row.verdict) ++counts[*row.verdict];
  }
  return counts;
}

std::size_t RunComparison::without_verdict() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(rows, [](const RowVerdict& row) { return !row.verdict; }));
}

RunComparison compare_runs(std::vector<RunReport> base, std::vector<RunReport> next, CompareOptions options) {
  refuse_doubles(base, "base");
  refuse_doubles(next, "new");
  const std::set<std::string> before = devices_of(base), now = devices_of(next);
  options.cross_device = before.size() == 1 && now.size() == 1 && before != now;
  Matcher matcher(options.cross_device);
  matcher.add(base, 0);
  matcher.add(next, 1);
  if (!matcher.any_common()) {
    throw Error("comparing runs: the two sides have no row in common (base: " + side_words(base) +
                "; new: " + side_words(next) + "); compare runs of the same case files");
  }
  RunComparison comparison{.base = without_records(base), .next = without_records(next)};
  comparison.cross_device = options.cross_device;
  comparison.rows.reserve(matcher.meetings().size());
  for (Meeting& meeting : matcher.meetings()) {
    RowVerdict& row = comparison.rows.emplace_back(
        row_verdict(meeting.sides[0].pooled(), meeting.sides[1].pooled(), options));
    row.device = meeting.device;
    comparison.expected_separations += row.chance;
    comparison.judged += row.chance > 0 ? 1 : 0;
    add_to_means(row, comparison.means);
  }
  finish(comparison.means);
  return comparison;
}

}  // namespace assay
