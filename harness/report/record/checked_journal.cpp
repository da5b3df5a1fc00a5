#include "harness/report/record/checked_journal.h"

#include "harness/base/error.h"
#include "harness/base/statistics.h"
#include "harness/base/text.h"
#include "harness/report/record/codec.h"
#include "harness/report/record/row_key.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <set>

namespace assay {
namespace {

constexpr double rounding = 1e-6;

void expect_equal(const char* field, double is, double should, const char* why) {
  if (std::fabs(is - should) <= rounding * std::fabs(should)) return;
  throw Error(fmt::format("'{}' is {} and should be {}, {}", field, shortest(is), shortest(should), why));
}

void check_samples(const PerfResult& perf) {
  std::vector<double> all;
  for (const std::vector<double>& block : perf.sample_us) all.insert(all.end(), block.begin(), block.end());
  for (const double us : all) {
    if (!(us > 0) || !std::isfinite(us))
      throw Error("'sample_us' holds " + shortest(us) + ", which is not a time");
  }
  expect_equal("blocks", perf.blocks, static_cast<double>(perf.sample_us.size()),
               "the blocks in 'sample_us'");
  expect_equal("samples", perf.samples, static_cast<double>(all.size()), "the samples in 'sample_us'");
  if (all.empty()) throw Error("'sample_us' is empty: there is a time without a sample");
  const Summary summary = summarize(all);
  expect_equal("time_us_p50", perf.time_us_p50, summary.p50, "the median of 'sample_us'");
  expect_equal("time_us_min", perf.time_us_min, summary.min, "the least of 'sample_us'");
  expect_equal("time_us_mean", perf.time_us_mean, summary.mean, "the mean of 'sample_us'");
}

void check(const Record& record) {
  const bool passed = record.status == Status::Pass;
  if (passed && record.info.mode == "perf" && !record.perf)
    throw Error("a row of mode perf passed and has no time");
  if (passed && record.accuracy && !record.accuracy->metric.empty())
    throw Error("the row passed, and its accuracy says '" + printable(record.accuracy->metric) + "'");
  if (record.perf) check_samples(*record.perf);
}

/// Throws at the first record that contradicts itself.
class Checker final : public RunListener {
 public:
  void run(const RunInfo&) override {}
  void plan(std::span<const RowInfo> cases) override {
    for (const RowInfo& info : cases) open_.insert(key_of(info));
  }
  void begin(const RowInfo& info) override { open_.insert(key_of(info)); }
  void record(const Record& record) override {
    open_.erase(key_of(record.info));
    try {
      check(record);
    } catch (const Error& error) {
      throw Error("the record of " + printable(record.info.id) + " (" + printable(mode_words(record.info)) +
                  ") contradicts itself: " + error.what() + "; it was not written so by a run");
    }
  }
  void end() override {
    if (open_.empty()) return;
    throw Error("the run came to its end, and " + printable(open_.begin()->id) + " (" +
                printable(open_.begin()->mode) + ") has no record: lines are missing");
  }

 private:
  std::set<RowKey> open_;
};

void check_lines(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Decoder decoder;
  Checker checker;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line) && !file.eof(); ++number) {
    try {
      decoder.line(line, checker);
    } catch (const Error& error) {
      throw Error(path.string() + ":" + std::to_string(number) + ": " + error.what());
    }
  }
}

}  // namespace

RunReport read_checked_journal(const std::filesystem::path& path) {
  RunReport report = read_journal(path);  // first: its words for a line that cannot be read
  check_lines(path);
  return report;
}

}  // namespace assay
