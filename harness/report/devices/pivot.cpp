#include "harness/report/devices/pivot.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/report/record/compared_rows.h"
#include "harness/report/record/device_name.h"
#include "harness/report/record/record.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace assay {
namespace {

using Key = std::pair<std::vector<std::string>, RunKind>;

struct Output {
  std::string id;
  std::vector<const AccuracyResult*> results;  // one per report; null: no portable hash
};

bool is_portable(const Record& record) {
  return record.accuracy && record.accuracy->hash_is_portable && !record.accuracy->output_hash.empty();
}

std::vector<Output> outputs_of(std::span<const RunReport> reports) {
  std::vector<Output> outputs;
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    for (const Record& record : reports[i].records) {
      if (!is_portable(record)) continue;
      const auto [at, is_new] = index.try_emplace(record.info.id, outputs.size());
      if (is_new) {
        outputs.push_back({record.info.id, std::vector<const AccuracyResult*>(reports.size())});
      }
      const AccuracyResult*& result = outputs[at->second].results[i];
      if (result == nullptr || record.info.mode == "accu") result = &*record.accuracy;
    }
  }
  return outputs;
}

// Whether a member is equal in all reports that have the output.
bool all_equal(const Output& output, std::string AccuracyResult::*member) {
  const AccuracyResult* first = nullptr;
  for (const AccuracyResult* result : output.results) {
    if (result == nullptr) continue;
    if (first == nullptr) first = result;
    if (result->*member != first->*member) return false;
  }
  return true;
}

HashComparison::Difference difference_of(const Output& output) {
  HashComparison::Difference difference{.id = output.id,
                                        .inputs_differ = !all_equal(output, &AccuracyResult::input_hash)};
  for (const AccuracyResult* result : output.results) {
    difference.hashes.push_back(result == nullptr ? "" : result->output_hash);
  }
  return difference;
}

std::string counted(std::size_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

/// Says which devices' runs are of which kind; empty if all are of one.
std::string kinds_of_devices(const Pivot& pivot) {
  std::map<RunKind, std::string> devices;
  for (std::size_t i = 0; i < pivot.devices.size(); ++i) {
    std::string& names = devices[kind_of_run(pivot.reports[i].run)];
    names += (names.empty() ? "" : ", ") + pivot.devices[i];
  }
  if (devices.size() < 2) return "";
  std::string text;
  for (const auto& [kind, names] : devices)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", names, kind_text(kind));
  return "figures of runs of different kinds are not compared. " + text;
}

// Rows with equal keys measure the same thing.
Key row_key(const RowInfo& info, const RunKind& kind) {
  return {{info.id, info.impl, info.shape, info.params, asked_forms(info),
           all_tunables(info.tune, info.tuned), info.fill, key_of(info).cache},
          kind};
}

// The impls of one case have equal keys.
Key case_key(const RowInfo& info, const RunKind& kind) {
  return {{info.op, info.name, info.shape, info.params, asked_forms(info), info.fill, key_of(info).cache},
          kind};
}

std::vector<PivotRow> rows_of(std::span<const RunReport> reports) {
  std::vector<PivotRow> rows;
  std::map<Key, std::size_t> index;
  for (std::size_t device = 0; device < reports.size(); ++device) {
    const RunKind kind = kind_of_run(reports[device].run);
    for (const Record& record : reports[device].records) {
      if (record.info.mode != "perf") continue;
      const auto [at, is_new] = index.try_emplace(row_key(record.info, kind), rows.size());
      if (is_new) rows.push_back({.records = std::vector<const Record*>(reports.size()), .kind = kind});
      rows[at->second].records[device] = &record;
    }
  }
  return rows;
}

/// Cases of one id and cache with several tunables. If a case names several, they are in the ids.
std::size_t retuned_cases(const std::vector<PivotRow>& rows) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> tunes;
  for (const PivotRow& row : rows) {
    const RowInfo& info = row.any().info;
    tunes[{info.id, key_of(info).cache}].insert(all_tunables(info.tune, info.tuned));
  }
  return static_cast<std::size_t>(
      std::ranges::count_if(tunes, [](const auto& found) { return found.second.size() > 1; }));
}

/// What an energy covers: the text in () of its source.
std::string covered_by(const Energy& energy) {
  const auto at = energy.source.rfind('(');
  return at == energy.source.npos ? energy.source : energy.source.substr(at);
}

bool cover_different_things(const Record& a, const Record& b) {
  return a.perf->energy && b.perf->energy && covered_by(*a.perf->energy) != covered_by(*b.perf->energy);
}

/// The figure of a record divided by that of another one; 0 if they are not compared.
double quotient(const Record* record, const Record* base, const PivotFigure& figure) {
  if (!has_figures(base) || !has_figures(record)) return 0;
  if (figure.is_of_energy && cover_different_things(*record, *base)) return 0;
  const double divisor = figure.value(*base->perf);
  return divisor > 0 ? figure.value(*record->perf) / divisor : 0;
}

/// Why energies of a device are not compared with the first device's; empty if they are.
std::string other_coverage(const Pivot& pivot, std::size_t device) {
  for (const PivotRow& row : pivot.rows) {
    const Record *first = row.records.front(), *record = row.records[device];
    if (!has_figures(first) || !has_figures(record) || !cover_different_things(*first, *record)) continue;
    return fmt::format("energies of {} {} are not compared with those of {} {}", pivot.devices[device],
                       covered_by(*record->perf->energy), pivot.devices.front(),
                       covered_by(*first->perf->energy));
  }
  return "";
}

void find_rivals(std::vector<PivotRow>& rows) {
  std::map<Key, std::size_t> first;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].first_impl = first.try_emplace(case_key(rows[i].any().info, rows[i].kind), i).first->second;
    if (rows[i].first_impl == i) continue;
    rows[i].has_rivals = true;
    rows[rows[i].first_impl].has_rivals = true;
  }
}

}  // namespace

HashComparison compare_hashes(std::span<const RunReport> reports) {
  HashComparison comparison{.reports = reports.size()};
  for (const Output& output : outputs_of(reports)) {
    const auto have = static_cast<std::size_t>(
        std::ranges::count_if(output.results, [](const auto* result) { return result != nullptr; }));
    if (!all_equal(output, &AccuracyResult::output_hash)) {
      comparison.differences.push_back(difference_of(output));
    } else if (have == reports.size()) {
      ++comparison.equal;
    } else {
      ++(have > 1 ? comparison.partial : comparison.single);
    }
  }
  return comparison;
}

std::string hash_totals(const HashComparison& comparison) {
  std::string text =
      counted(comparison.equal, "exact output") + " equal on " + counted(comparison.reports, "device");
  if (comparison.partial > 0) text += ", " + std::to_string(comparison.partial) + " on some of them";
  if (const std::size_t differ = comparison.differences.size(); differ > 0) {
    text += "; " + std::to_string(differ) + (differ == 1 ? " differs" : " differ");
  }
  if (comparison.single > 0)
    text += "; " + std::to_string(comparison.single) + " on one device only, not compared";
  return text + '\n';
}

std::string hash_differences(const HashComparison& comparison, std::span<const std::string> devices) {
  std::size_t width = 0;
  for (const std::string& device : devices) width = std::max(width, columns_of(device));
  std::string text;
  for (const HashComparison::Difference& difference : comparison.differences) {
    text += printable(difference.id) +
            (difference.inputs_differ ? "  (the inputs differ: different data or seed)\n" : "\n");
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const std::string& hash = difference.hashes[i];
      text += "  " + devices[i] + std::string(width - columns_of(devices[i]) + 2, ' ') +
              (hash.empty() ? "-" : printable(hash)) + '\n';
    }
  }
  return text;
}

std::span<const PivotFigure> pivot_figures() {
  using P = const PerfResult&;
  static constexpr std::array<PivotFigure, 4> figures{{
      {"time_us_p50", "time", "us", [](P p) { return p.time_us_p50; }},
      {"energy_j", "energy", "J", [](P p) { return p.energy ? p.energy->joules : 0; }, true},
      {"gops_per_joule", "operations per joule", "GOP/J", [](P p) { return gops_per_joule(p); }, true},
      {"power_w", "power", "W", [](P p) { return p.energy ? p.energy->watts : 0; }, true},
  }};
  return figures;
}

const PivotFigure& pivot_figure(std::string_view column) {
  const auto figures = pivot_figures();
  const auto found = std::ranges::find(figures, column, &PivotFigure::column);
  if (found == figures.end()) throw Error(fmt::format("no pivot compares '{}'", printable(column)));
  return *found;
}

const Record& PivotRow::any() const {
  return **std::ranges::find_if(records, [](const Record* record) { return record != nullptr; });
}

bool has_figures(const Record* record) {
  return record != nullptr && record->status == Status::Pass && record->perf.has_value();
}

std::vector<std::string> Pivot::not_compared() const {
  std::vector<std::string> sentences;
  if (std::string kinds = kinds_of_devices(*this); !kinds.empty()) sentences.push_back(std::move(kinds));
  if (retuned > 0) {
    sentences.push_back(fmt::format("{} not compared: tunables differ between the devices",
                                    retuned == 1 ? "1 case is" : fmt::format("{} cases are", retuned)));
  }
  for (std::size_t i = 1; figure->is_of_energy && i < devices.size(); ++i) {
    if (std::string why = other_coverage(*this, i); !why.empty()) sentences.push_back(std::move(why));
  }
  return sentences;
}

double Pivot::value(const PivotRow& row, std::size_t device) const {
  const Record* record = row.records[device];
  return has_figures(record) ? figure->value(*record->perf) : 0;
}

double Pivot::ratio(const PivotRow& row, std::size_t device) const {
  return row.has_rivals ? quotient(row.records[device], rows[row.first_impl].records[device], *figure) : 0;
}

double Pivot::time_ratio(const PivotRow& row, std::size_t device) const {
  if (!row.has_rivals) return 0;
  return quotient(row.records[device], rows[row.first_impl].records[device], pivot_figures().front());
}

double Pivot::over_first(const PivotRow& row, std::size_t device) const {
  return quotient(row.records[device], row.records.front(), *figure);
}

std::vector<PivotMean> Pivot::means(std::size_t device) const {
  std::vector<PivotMean> means(1);
  const auto add = [](PivotMean& mean, double ratio) {
    mean.ratio += std::log(ratio);
    ++mean.rows;
  };
  for (const PivotRow& row : rows) {
    const double ratio = over_first(row, device);
    if (!(ratio > 0)) continue;
    const std::string& op = row.any().info.op;
    auto mean = std::find_if(means.begin() + 1, means.end(), [&](const PivotMean& m) { return m.op == op; });
    if (mean == means.end()) mean = means.insert(means.end(), {.op = op});
    add(*mean, ratio);
    add(means.front(), ratio);
  }
  for (PivotMean& mean : means) {
    if (mean.rows > 0) mean.ratio = std::exp(mean.ratio / static_cast<double>(mean.rows));
  }
  return means;
}

std::vector<std::string> unique_device_names(std::span<const RunInfo> runs) {
  std::map<std::string, std::size_t> counts;
  for (const RunInfo& run : runs) ++counts[short_device_name(run.device.name)];
  std::set<std::string> taken;
  std::vector<std::string> names;
  for (const RunInfo& run : runs) {
    const std::string name = short_device_name(run.device.name);
    std::string unique = name;
    for (int number = 1; counts[name] > 1 || taken.contains(unique); ++number) {
      unique = name + " #" + std::to_string(number);
      if (!taken.contains(unique) && !counts.contains(unique)) break;
    }
    taken.insert(unique);
    names.push_back(unique);
  }
  return names;
}

std::string shortened_device_name(std::string_view name, std::size_t width) {
  const std::size_t at = std::min(name.rfind(" #"), name.size());
  const std::string_view end = name.substr(at);
  const bool is_number = end.size() > 2 && end.find_first_not_of("0123456789", 2) == end.npos;
  const std::string number(is_number ? end : std::string_view());
  const std::size_t kept = width - std::min(width, number.size());
  return shortened(name.substr(0, name.size() - number.size()), kept) + number;
}

Pivot make_pivot(std::span<const RunReport> reports, const PivotFigure& figure) {
  std::vector<RunInfo> runs;
  for (const RunReport& report : reports) runs.push_back(report.run);
  Pivot pivot{
      .reports = reports, .devices = unique_device_names(runs), .rows = rows_of(reports), .figure = &figure};
  find_rivals(pivot.rows);
  pivot.retuned = retuned_cases(pivot.rows);
  return pivot;
}

}  // namespace assay
