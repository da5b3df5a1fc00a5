// Google Benchmark's two formats. Its own reporters describe the machine and the time at which the report is
// written; here they are the run's. Its console reporter writes the table. The JSON is written here, in the
// format of its JSON reporter: that one passes each number through a stream, which took most of the time of
// writing the largest report.

#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/record/words.h"
#include "harness/report/writers/writers.h"

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {
namespace {

using Run = benchmark::BenchmarkReporter::Run;

// Nanoseconds for all cases: compare.py prints no digits after the point, and it cannot compare a time in us
// with one in ns.
constexpr benchmark::TimeUnit time_unit = benchmark::kNanosecond;

std::optional<double> rate_of(std::int64_t amount, double time_us) {
  if (amount <= 0 || !(time_us > 0)) return std::nullopt;
  const double rate = static_cast<double>(amount) / (time_us * 1e-6);
  return std::isfinite(rate) ? std::optional(rate) : std::nullopt;
}

constexpr std::string_view stddev = "stddev";  // not the time of any work: it has no rates

/// Calls `add` with the name and value of each rate, in the order of their names.
template <class Add>
void for_each_rate(const PerfResult& perf, double time_us, Add add) {
  if (const auto rate = rate_of(perf.bytes, time_us)) add("bytes_per_second", *rate);
  if (const auto rate = rate_of(perf.operations, time_us)) add("operations_per_second", *rate);
}

// A row's name: unique in the report, and the same in every run.
std::string name_of(const RowInfo& info) {
  return printable(info.id) + (info.cache == "cold" ? "/cold" : "");
}

// The fields that all entries of a row share. Google Benchmark leaves some fields of a Run uninitialized.
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

// No CPU time is measured, but compare.py reads one, and its statistical test fails on a column of zeros.
void set_time(Run& run, double time_us, std::int64_t iterations) {
  run.iterations = iterations;
  run.real_accumulated_time = time_us * 1e-6 * static_cast<double>(iterations);
  run.cpu_accumulated_time = run.real_accumulated_time;
}

Run aggregate_run(Run run, const PerfResult& perf, std::string_view name, double time_us) {
  run.run_type = Run::RT_Aggregate;
  run.aggregate_name = name;
  run.aggregate_unit = benchmark::kTime;
  set_time(run, time_us, std::max<std::int64_t>(1, run.repetitions));
  if (name == stddev) return run;
  for_each_rate(perf, time_us, [&](const char* rate_name, double rate) {
    run.counters[rate_name] =
        benchmark::Counter(rate, benchmark::Counter::kIsRate, benchmark::Counter::kIs1000);
  });
  return run;
}

std::vector<Run> aggregate_runs(const Run& basic, const PerfResult& perf) {
  return {aggregate_run(basic, perf, "mean", perf.time_us_mean),
          aggregate_run(basic, perf, "median", perf.time_us_p50),
          aggregate_run(basic, perf, stddev, perf.time_us_stdev)};
}

std::vector<double> all_samples(const PerfResult& perf) {
  std::vector<double> samples;
  for (const auto& block : perf.sample_us) samples.insert(samples.end(), block.begin(), block.end());
  return samples;
}

bool is_perf(const Record& record) {
  return record.info.mode == "perf";
}

// JSON cannot express a time that is not a finite number: such a row is withheld.
bool has_finite_time(const Record& record) {
  if (!has_time(record)) return false;
  const PerfResult& perf = *record.perf;
  const std::vector<double> samples = all_samples(perf);
  return std::isfinite(perf.time_us_mean) && std::isfinite(perf.time_us_p50) &&
         std::isfinite(perf.time_us_stdev) &&
         std::ranges::all_of(samples, [](double s) { return std::isfinite(s); });
}

/// The entries of one row in perf.json, in sequence, as JSONReporter writes them.
class JsonEntries {
 public:
  JsonEntries(const Record& record, std::int64_t family)
      : perf_(*record.perf), name_(quoted(name_of(record.info))), family_(family) {}

  std::string text() {
    const std::vector<double> samples = all_samples(perf_);
    repetitions_ = static_cast<std::int64_t>(samples.size());
    const std::int64_t programs = std::max(1, perf_.batch);
    for (std::int64_t index = 0; index < repetitions_; ++index) {
      begin("");
      member("run_type", quoted("iteration"));
      member("repetitions", std::to_string(repetitions_));
      member("repetition_index", std::to_string(index));
      member("threads", "1");
      end(samples[static_cast<std::size_t>(index)], programs, true);
    }
    aggregate("mean", perf_.time_us_mean);
    aggregate("median", perf_.time_us_p50);
    aggregate(stddev, perf_.time_us_stdev);
    return std::move(text_);
  }

 private:
  static std::string quoted(std::string_view text) { return nlohmann::json(text).dump(); }

  /// The number with enough digits to read back as the same value.
  static std::string number(double value) {
    std::array<char, 32> buffer{};
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific,
                      std::numeric_limits<double>::max_digits10 - 1);
    return {buffer.data(), end.ptr};
  }

  void member(std::string_view name, std::string_view value) {
    text_.append(is_first_ ? "      \"" : ",\n      \"").append(name).append("\": ").append(value);
    is_first_ = false;
  }

  void begin(std::string_view suffix) {
    text_ += text_.empty() ? "    {\n" : ",\n    {\n";
    is_first_ = true;
    member("name", name_.substr(0, name_.size() - 1).append(suffix) + '"');
    member("family_index", std::to_string(family_));
    member("per_family_instance_index", "0");
    member("run_name", name_);
  }

  void aggregate(std::string_view name, double time_us) {
    begin("_" + std::string(name));
    member("run_type", quoted("aggregate"));
    member("repetitions", std::to_string(repetitions_));
    member("threads", "1");
    member("aggregate_name", quoted(name));
    member("aggregate_unit", quoted("time"));
    end(time_us, std::max<std::int64_t>(1, repetitions_), name != stddev);
  }

  void end(double time_us, std::int64_t iterations, bool has_rates) {
    // Repeats what the reporter does with the time of all iterations, rounding included.
    const auto count = static_cast<double>(iterations);
    const std::string time = number(time_us * 1e-6 * count * 1e9 / count);
    member("iterations", std::to_string(iterations));
    member("real_time", time);
    member("cpu_time", time);
    member("time_unit", quoted("ns"));
    if (has_rates)
      for_each_rate(perf_, time_us, [&](const char* name, double rate) { member(name, number(rate)); });
    text_ += "\n    }";
  }

  const PerfResult& perf_;
  std::string name_;  ///< quoted
  std::int64_t family_;
  std::int64_t repetitions_ = 0;
  std::string text_;
  bool is_first_ = true;  ///< the next member is the first of its entry
};

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

// The keys of Google Benchmark's own context come first.
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
      {"driver", printable(driver_of(run.device))},
      {"assay_version", printable(run.version)},
      {"cpu", printable(run.cpu)},
      {"cpu_time_is", "real_time: no CPU time is measured"},
      {"withheld", withheld_cases(report)},
  };
}

// A console reporter that does not print the machine it runs on.
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

void write_perf_json(const RunReport& report, std::ostream& out) {
  out.imbue(std::locale::classic());
  out << "{\n  \"context\": " << indented(context_of(report).dump(2), 2) << ",\n  \"benchmarks\": [\n";
  std::int64_t family = 0;
  for (const Record& record : report.records) {
    if (!is_perf(record) || !has_finite_time(record)) continue;
    out << (family > 0 ? ",\n" : "") << JsonEntries(record, family).text();
    ++family;
  }
  out << "\n  ]\n}\n";
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
