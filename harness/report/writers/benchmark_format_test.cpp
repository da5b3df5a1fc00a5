#include "harness/report/writers/writers.h"
#include "tests/support/records.h"
#include "tests/support/report_text.h"

#include <benchmark/benchmark.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <sstream>

namespace assay {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* fused = "shuffle/fast/1x16x4x8/4W4C.4W4C/fused";

json json_of(const std::vector<Record>& records) {
  return json::parse(test::perf_json(test::report_of(records)));
}

std::vector<std::string> names_in(const json& file) {
  std::vector<std::string> names;
  for (const json& row : file.at("benchmarks")) names.push_back(row.at("name"));
  return names;
}

const json& row_of(const json& file, const std::string& name) {
  for (const json& row : file.at("benchmarks")) {
    if (row.at("name") == name) return row;
  }
  throw std::out_of_range(name);
}

constexpr const char* golden_head = R"json({
  "context": {
    "date": "2026-01-02T03:04:05Z",
    "host_name": "rack7",
    "executable": "assay",
    "num_cpus": 8,
    "library_build_type": "Release",
    "json_schema_version": 1,
    "run_id": "20260102T030405Z-1a2b3c",
    "device": "Acme GPU 9",
    "driver": "Acme 12.3",
    "assay_version": "0.1.0+b1a8850ccc06",
    "cpu": "Acme CPU",
    "cpu_time_is": "real_time: no CPU time is measured",
    "withheld": []
  },
  "benchmarks": [
)json";

// One row; aggregates have the two lines that `kind` adds.
std::string golden_row(const std::string& suffix, const std::string& kind, const std::string& counters) {
  return "    {\n"
         "      \"name\": \"shuffle/fast/1x16x4x8/4W4C.4W4C/fused" +
         suffix +
         "\",\n"
         "      \"family_index\": 0,\n"
         "      \"per_family_instance_index\": 0,\n"
         "      \"run_name\": \"shuffle/fast/1x16x4x8/4W4C.4W4C/fused\",\n" +
         kind +
         "      \"iterations\": %int,\n"
         "      \"real_time\": %float,\n"
         "      \"cpu_time\": %float,\n"
         "      \"time_unit\": \"ns\"" +
         counters + "\n    }";
}

std::string golden_aggregate(const std::string& name, const std::string& counters) {
  return golden_row("_" + name,
                    "      \"run_type\": \"aggregate\",\n      \"repetitions\": 1,\n      \"threads\": 1,\n"
                    "      \"aggregate_name\": \"" +
                        name + "\",\n      \"aggregate_unit\": \"time\",\n",
                    counters);
}

TEST(PerfJson, IsGoogleBenchmarksFormat) {
  Record record = test::timed("fast", "fused", 2.5);
  record.perf->sample_us = {{2.5}};
  const std::string rate = ",\n      \"bytes_per_second\": %float";
  const std::string golden =
      golden_head +
      golden_row(
          "",
          "      \"run_type\": \"iteration\",\n      \"repetitions\": 1,\n      \"repetition_index\": 0,\n"
          "      \"threads\": 1,\n",
          rate) +
      ",\n" + golden_aggregate("mean", rate) + ",\n" + golden_aggregate("median", rate) + ",\n" +
      golden_aggregate("stddev", "") + "\n  ]\n}\n";
  EXPECT_TRUE(test::matches(test::perf_json(test::report_of({record})), golden));
}

TEST(PerfJson, HoldsEverySampleAndTheFiguresOfTheCsv) {
  Record record = test::timed("fast", "fused", 2.5);
  record.perf->operations = 4000;
  const json file = json_of({record});
  const std::string id = fused;
  EXPECT_EQ(names_in(file),
            (std::vector<std::string>{id, id, id, id, id + "_mean", id + "_median", id + "_stddev"}));
  const std::vector<double> samples_ns = {1250, 2500, 2500, 5000};
  for (std::size_t i = 0; i < samples_ns.size(); ++i) {
    const json& row = file.at("benchmarks").at(i);
    EXPECT_DOUBLE_EQ(row.at("real_time"), samples_ns[i]);
    EXPECT_EQ(row.at("repetition_index"), i);
    EXPECT_EQ(row.at("repetitions"), 4);
    EXPECT_EQ(row.at("iterations"), 10) << "programs in a sample";
    EXPECT_DOUBLE_EQ(row.at("bytes_per_second"), 8000 / samples_ns[i] * 1e9);
    EXPECT_DOUBLE_EQ(row.at("operations_per_second"), 4000 / samples_ns[i] * 1e9);
  }
  EXPECT_DOUBLE_EQ(row_of(file, id + "_mean").at("real_time"), 2812.5);
  EXPECT_DOUBLE_EQ(row_of(file, id + "_median").at("real_time"), 2500);
  EXPECT_DOUBLE_EQ(row_of(file, id + "_stddev").at("real_time"), 500);
}

// Ours and that of Google Benchmark's own reporter: equal to the last digit.
TEST(PerfJson, WritesASampleAsGoogleBenchmarksReporterDoes) {
  Record record = test::timed("fast", "fused", 2.5);
  for (const double time_us : {2.5, 1.0 / 3, 1e-9, 123456789.125, 0.1 + 0.2}) {
    record.perf->sample_us = {{time_us}};
    record.perf->batch = 7;
    benchmark::BenchmarkReporter::Run run;
    run.run_name.function_name = record.info.id;
    run.family_index = run.per_family_instance_index = run.repetition_index = 0;
    run.repetitions = 1;
    run.statistics = nullptr;
    run.time_unit = benchmark::kNanosecond;
    run.run_type = run.RT_Iteration;
    run.iterations = 7;
    run.real_accumulated_time = run.cpu_accumulated_time = time_us * 1e-6 * 7;
    run.counters["bytes_per_second"] = static_cast<double>(record.perf->bytes) / (time_us * 1e-6);
    std::ostringstream entry;
    benchmark::JSONReporter reporter;
    reporter.SetOutputStream(&entry);
    reporter.ReportRuns({run});
    EXPECT_THAT(test::perf_json(test::report_of({record})), HasSubstr(entry.str() + ",\n"));
  }
}

TEST(PerfJson, GivesEachCaseAFamilyAndOneNameInEveryRun) {
  const json before = json_of({test::timed("fast", "fused", 2.5), test::timed("fast", "unfused", 9)});
  const json after = json_of({test::timed("fast", "fused", 2), test::timed("fast", "unfused", 11)});
  EXPECT_EQ(names_in(before), names_in(after));
  EXPECT_EQ(before.at("benchmarks").back().at("family_index"), 1);
  for (const json& row : before.at("benchmarks")) EXPECT_EQ(row.at("time_unit"), "ns");
}

TEST(PerfJson, ListsCasesWithoutATimeApart) {
  Record wrong = test::timed("wrong", "fused", 1);
  wrong.status = Status::Fail;
  wrong.reason = "it is wrong";
  Record endless = test::timed("endless", "fused", std::numeric_limits<double>::infinity());
  const json file = json_of({wrong, endless, test::passed("accu rows are not listed")});
  EXPECT_TRUE(file.at("benchmarks").empty());
  EXPECT_EQ(file.at("context").at("withheld"), json::parse(R"([
    {"name": "shuffle/wrong/1x16x4x8/4W4C.4W4C/fused", "status": "FAIL", "reason": "it is wrong"},
    {"name": "shuffle/endless/1x16x4x8/4W4C.4W4C/fused", "status": "PASS", "reason": ""}])"));
}

TEST(PerfJson, IsValidWithoutRecordsAndWithNastyText) {
  EXPECT_TRUE(json_of({}).at("benchmarks").empty());
  Record odd = test::timed("odd", "fused", 1);
  odd.info.id = test::nasty;
  RunReport report = test::report_of({odd, test::without_answer("missing", Status::Missing, test::nasty)});
  report.records[1].info.mode = "perf";
  report.run.device.name = test::nasty;
  const json file = json::parse(test::perf_json(report));
  EXPECT_THAT(std::string(file.at("benchmarks").at(0).at("name")), HasSubstr("<&>]]> \xC3\xA9 \xEF\xBF\xBD"));
  EXPECT_THAT(std::string(file.at("context").at("withheld").at(0).at("reason")), HasSubstr("\\x1b[31m"));
}

TEST(PerfConsole, IsGoogleBenchmarksTableOfAggregates) {
  Record wrong = test::timed("fast", "unfused", 1);
  wrong.status = Status::Fail;
  wrong.reason = "it is wrong";
  const RunReport report = test::report_of({test::timed("fast", "fused", 2.5), wrong, test::passed("accu")});
  EXPECT_TRUE(test::matches(perf_console(report), R"(%any-----
Benchmark%sTime%sCPU%sIterations UserCounters...
%any-----
shuffle/fast/1x16x4x8/4W4C.4W4C/fused_mean%s2812 ns%s2812 ns%s4 bytes_per_second=2.84444G/s
shuffle/fast/1x16x4x8/4W4C.4W4C/fused_median%s2500 ns%s2500 ns%s4 bytes_per_second=3.2G/s
shuffle/fast/1x16x4x8/4W4C.4W4C/fused_stddev%s500 ns%s500 ns%s4
shuffle/fast/1x16x4x8/4W4C.4W4C/unfused%sERROR OCCURRED: 'FAIL: it is wrong'
)"));
}

TEST(PerfConsole, IsEmptyWithoutPerfCases) {
  EXPECT_EQ(perf_console(test::report_of({test::passed("accu")})), "");
}

}  // namespace
}  // namespace assay
