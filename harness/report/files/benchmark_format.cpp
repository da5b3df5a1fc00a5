// Google Benchmark's two formats, written by its own reporters. Only ReportContext is ours: theirs describes
// the machine and the hour of whoever writes the report, ours those of the run.

#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/report/files/writers.h"
#include "harness/report/record/words.h"

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {
namespace {

using Run = benchmark::BenchmarkReporter::Run;

// Nanoseconds for all cases: compare.py prints no digits after the point, and it cannot compare a time in us
// with one in ns.
constexpr benchmark::TimeUnit time_unit = benchmark::kNanosecond;

void add_rate(Run& run, const char* name, std::int64_t amount, double time_us) {
  if (amount <= 0 || !(time_us > 0)) return;
  const double rate = static_cast<double>(amount) / (time_us * 1e-6);
  if (!std::isfinite(rate)) return;
  run.counters[name] = benchmark::Counter(rate, benchmark::Counter::kIsRate, benchmark::Counter::kIs1000);
}

// No two rows have one name, and a row has the same in every run.
std::string name_of(const RowInfo& info) {
  return printable(info.id) + (info.cache == "cold" ? "/cold" : "");
}

// What all rows of a case share. Google Benchmark leaves some fields of a Run unset.
Run basic_run(const Record& record, std::int64_t family, std::int64_t repetitions) {
  Run run;
  run.run_name.function_name = name_of(record.info);
  run.family_index = family;
  run.per_family_instance_index = 0;
  run.repetition_index = 0;
  run.repetitions = repetitions;
  run.statistics = nullptr;
  run.time_unit = time_unit;
  return run;
}

// No CPU time is measured; compare.py reads one and its test cannot bear a column of zeros.
void set_time(Run& run, double time_us, std::int64_t iterations) {
  run.iterations = iterations;
  run.real_accumulated_time = time_us * 1e-6 * static_cast<double>(iterations);
  run.cpu_accumulated_time = run.real_accumulated_time;
}

Run sample_run(Run run, const PerfResult& perf, double time_us, std::int64_t index) {
  run.run_type = Run::RT_Iteration;
  run.repetition_index = index;
  set_time(run, time_us, std::max(1, perf.batch));
  add_rate(run, "bytes_per_second", perf.bytes, time_us);
  add_rate(run, "operations_per_second", perf.operations, time_us);
  return run;
}

Run aggregate_run(Run run, const PerfResult& perf, const char* name, double time_us) {
  run.run_type = Run::RT_Aggregate;
  run.aggregate_name = name;
  run.aggregate_unit = benchmark::kTime;
  set_time(run, time_us, std::max<std::int64_t>(1, run.repetitions));
  if (std::string_view(name) == "stddev") return run;
  add_rate(run, "bytes_per_second", perf.bytes, time_us);
  add_rate(run, "operations_per_second", perf.operations, time_us);
  return run;
}

std::vector<Run> aggregate_runs(const Run& basic, const PerfResult& perf) {
  return {aggregate_run(basic, perf, "mean", perf.time_us_mean),
          aggregate_run(basic, perf, "median", perf.time_us_p50),
          aggregate_run(basic, perf, "stddev", perf.time_us_stdev)};
}

std::vector<double> all_samples(const PerfResult& perf) {
  std::vector<double> samples;
  for (const auto& block : perf.sample_us) samples.insert(samples.end(), block.begin(), block.end());
  return samples;
}

bool is_perf(const Record& record) {
  return record.info.mode == "perf";
}

// JSON has no word for a time that is no number: such a row is withheld.
bool has_finite_time(const Record& record) {
  if (!has_time(record)) return false;
  const PerfResult& perf = *record.perf;
  const std::vector<double> samples = all_samples(perf);
  return std::isfinite(perf.time_us_mean) && std::isfinite(perf.time_us_p50) &&
         std::isfinite(perf.time_us_stdev) &&
         std::ranges::all_of(samples, [](double s) { return std::isfinite(s); });
}

std::vector<Run> sample_runs(const Record& record, std::int64_t family) {
  const std::vector<double> samples = all_samples(*record.perf);
  const Run basic = basic_run(record, family, static_cast<std::int64_t>(samples.size()));
  std::vector<Run> runs;
  for (const double sample : samples) {
    runs.push_back(sample_run(basic, *record.perf, sample, static_cast<std::int64_t>(runs.size())));
  }
  for (Run& run : aggregate_runs(basic, *record.perf)) runs.push_back(std::move(run));
  return runs;
}

nlohmann::ordered_json withheld_cases(const RunReport& report) {
  auto list = nlohmann::ordered_json::array();
  for (const Record& record : report.records) {
    if (!is_perf(record) || has_finite_time(record)) continue;
    list.push_back({{"name", name_of(record.info)},
                    {"status", std::string(name_of(record.status))},
                    {"reason", printable(record.reason)}});
  }
  return list;
}

// The keys that Google Benchmark's own context has come first.
nlohmann::ordered_json context_of(const RunReport& report) {
  const RunInfo& run = report.run;
  return {
      {"date", printable(run.started_utc)},
      {"host_name", printable(run.host)},
      {"executable", "assay"},
      {"num_cpus", run.cores},
      {"library_build_type", printable(run.build_type)},
      {"json_schema_version", 1},
      {"run_id", printable(run.run_id)},
      {"device", printable(run.device.name)},
      {"driver", printable(run.device.driver_name + " " + run.device.driver_info)},
      {"assay_version", printable(run.version)},
      {"cpu", printable(run.cpu)},
      {"cpu_time_is", "real_time: no CPU time is measured"},
      {"withheld", withheld_cases(report)},
  };
}

// A console reporter that keeps the machine it runs on to itself.
class PlainReporter : public benchmark::ConsoleReporter {
 public:
  explicit PlainReporter(std::size_t name_width) : ConsoleReporter(OO_None) {
    name_field_width_ = name_width;
  }
};

Run error_run(const Record& record, std::int64_t family) {
  Run run = basic_run(record, family, 1);
  run.error_occurred = true;
  run.error_message =
      std::string(name_of(record.status)) + (record.reason.empty() ? "" : ": ") + printable(record.reason);
  return run;
}

}  // namespace

std::string perf_json(const RunReport& report) {
  std::ostringstream out;
  write_perf_json(report, out);
  return std::move(out).str();
}

void write_perf_json(const RunReport& report, std::ostream& out) {
  out.imbue(std::locale::classic());
  out << "{\n  \"context\": " << indented(context_of(report).dump(2), 2) << ",\n  \"benchmarks\": [\n";
  benchmark::JSONReporter reporter;
  reporter.SetOutputStream(&out);
  std::int64_t family = 0;
  for (const Record& record : report.records) {
    if (is_perf(record) && has_finite_time(record)) reporter.ReportRuns(sample_runs(record, family++));
  }
  reporter.Finalize();
}

std::string perf_console(const RunReport& report) {
  std::size_t width = 10;
  std::vector<std::vector<Run>> rows;
  for (const Record& record : report.records) {
    if (!is_perf(record)) continue;
    const auto family = static_cast<std::int64_t>(rows.size());
    rows.push_back(has_finite_time(record)
                       ? aggregate_runs(basic_run(record, family, record.perf->samples), *record.perf)
                       : std::vector<Run>{error_run(record, family)});
    for (const Run& run : rows.back()) width = std::max(width, columns_of(run.benchmark_name()));
  }
  std::ostringstream out;
  out.imbue(std::locale::classic());
  PlainReporter reporter(width);
  reporter.SetOutputStream(&out);
  reporter.SetErrorStream(&out);
  for (const auto& runs : rows) reporter.ReportRuns(runs);
  return out.str();
}

}  // namespace assay
