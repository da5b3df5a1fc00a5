#include "harness/report/devices/hashes.h"

#include "harness/base/text.h"

#include <algorithm>
#include <map>

namespace assay {
namespace {

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

}  // namespace assay
