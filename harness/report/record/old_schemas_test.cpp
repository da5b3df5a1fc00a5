#include "harness/base/error.h"
#include "harness/report/record/checked_journal.h"
#include "harness/report/record/codec.h"
#include "harness/report/record/journal.h"
#include "harness/report/record/report_builder.h"
#include "tests/support/records.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <vector>

namespace assay {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Rows of a run of schema 2 on a GPU, as it wrote them: judged, left out, timed hot, cold and by choice.
const std::string journal_of_schema_2 =
    ASSAY_SOURCE_DIR "/harness/report/record/testdata/journal_schema_2.jsonl";

std::vector<std::string> lines_of_schema_2() {
  std::ifstream file(journal_of_schema_2);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

// The first line of that event, of mode perf where it matters.
std::string& line_of(std::vector<std::string>& lines, const std::string& event, const std::string& has = "") {
  for (std::string& line : lines) {
    if (line.starts_with("{\"event\":\"" + event + "\"") && line.find(has) != line.npos) return line;
  }
  throw Error("the test's journal has no such line: " + event + " " + has);
}

TEST(OldSchemas, GiveTheFiguresThatWereStored) {
  const RunReport report = read_checked_journal(journal_of_schema_2);
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.run.schema, 2);
  std::size_t timed = 0;
  for (const std::string& line : lines_of_schema_2()) {
    const json stored = json::parse(line);
    if (stored.at("event") != "record") continue;
    const json& info = stored.at("case");
    const auto row = std::ranges::find_if(report.records, [&](const Record& record) {
      return record.info.id == info.at("id") && record.info.mode == info.at("mode") &&
             record.info.cache == info.at("cache");
    });
    ASSERT_NE(row, report.records.end()) << info;
    EXPECT_EQ(name_of(row->status), stored.at("status").get<std::string>());
    EXPECT_EQ(row->repro, stored.at("repro"));
    EXPECT_EQ(row->total_ms, stored.at("total_ms"));
    EXPECT_EQ(row->perf.has_value(), stored.contains("perf"));
    if (!row->perf) continue;
    ++timed;
    const json& figures = stored.at("perf");
    EXPECT_EQ(row->perf->sample_us, figures.at("sample_us").get<std::vector<std::vector<double>>>());
    EXPECT_EQ(row->perf->time_us_min, figures.at("time_us_min"));
    EXPECT_EQ(row->perf->time_us_p25, figures.at("time_us_p25"));
    EXPECT_EQ(row->perf->time_us_p50, figures.at("time_us_p50"));
    EXPECT_EQ(row->perf->time_us_p75, figures.at("time_us_p75"));
    EXPECT_EQ(row->perf->time_us_mean, figures.at("time_us_mean"));
    EXPECT_EQ(row->perf->time_us_stdev, figures.at("time_us_stdev"));
    EXPECT_EQ(row->perf->spread_pct, figures.at("spread_pct"));
    EXPECT_EQ(row->perf->ci_pct, figures.at("ci_pct"));
    EXPECT_EQ(row->perf->blocks, figures.at("blocks"));
    EXPECT_EQ(row->perf->samples, figures.at("samples"));
    EXPECT_EQ(row->perf->batch, figures.at("batch"));
    EXPECT_EQ(row->perf->output_hash, figures.at("output_hash"));
    EXPECT_EQ(row->perf->discarded, figures.at("discarded"));
  }
  EXPECT_GE(timed, 3U);
}

TEST(OldSchemas, AreTheSameRunInTheNewOne) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "journal.jsonl", rewritten_journal(journal_of_schema_2));
  const RunReport old = read_journal(journal_of_schema_2);
  RunReport now = read_checked_journal(folder / "journal.jsonl");
  EXPECT_EQ(now.run.schema, 3);
  now.run.schema = old.run.schema;
  EXPECT_EQ(json_of(now.run), json_of(old.run));
  ASSERT_EQ(now.records.size(), old.records.size());
  for (std::size_t i = 0; i < old.records.size(); ++i) {
    EXPECT_EQ(now.records[i].info.id, old.records[i].info.id);
    EXPECT_EQ(now.records[i].status, old.records[i].status);
    EXPECT_EQ(now.records[i].repro, old.records[i].repro);
    if (old.records[i].perf) {
      EXPECT_EQ(now.records[i].perf->sample_us, old.records[i].perf->sample_us);
    }
  }
  EXPECT_EQ(rewritten_journal(folder / "journal.jsonl"), test::read_file(folder / "journal.jsonl"))
      << "nothing is left to be rewritten";
}

TEST(OldSchemas, KeepAReproLineThatTheRunDoesNotTell) {
  const test::TemporaryFolder folder;
  std::vector<std::string> lines = lines_of_schema_2();
  std::string& record = line_of(lines, "record", "\"mode\":\"perf\"");
  const auto at = record.find(" --mode perf\"");
  ASSERT_NE(at, record.npos);
  record.insert(at + 12, " --device '1'");
  test::write_file(folder / "old.jsonl", joined(lines));
  test::write_file(folder / "new.jsonl", rewritten_journal(folder / "old.jsonl"));
  std::size_t found = 0;
  for (const Record& row : read_journal(folder / "new.jsonl").records)
    found += row.repro.ends_with(" --mode perf --device '1'") ? 1 : 0;
  EXPECT_EQ(found, 1U);
}

TEST(OldSchemas, BlameTheRowThatWasBegunLast) {
  const test::TemporaryFolder folder;
  std::vector<std::string> lines = lines_of_schema_2();
  const auto last = std::ranges::find_if(
      lines, [](const std::string& l) { return l.starts_with("{\"event\":\"record\""); });
  lines.erase(last, lines.end());
  test::write_file(folder / "journal.jsonl", joined(lines));
  const RunReport report = read_journal(folder / "journal.jsonl");
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(std::ranges::count(report.records, Status::Crash, &Record::status), 1);
  EXPECT_EQ(std::ranges::count(report.records, Status::Missing, &Record::status),
            static_cast<std::ptrdiff_t>(report.records.size()) - 1);
}

TEST(OldSchemas, RefuseFiguresThatAreNotThoseOfTheSamples) {
  const test::TemporaryFolder folder;
  const auto error_after = [&](const char* pointer, const json& value) {
    std::vector<std::string> lines = lines_of_schema_2();
    std::string& line = line_of(lines, "record", "\"mode\":\"perf\"");
    nlohmann::ordered_json object = nlohmann::ordered_json::parse(line);
    object[nlohmann::ordered_json::json_pointer(pointer)] = value;
    line = object.dump();
    test::write_file(folder / "journal.jsonl", joined(lines));
    return test::error_of([&] { read_checked_journal(folder / "journal.jsonl"); });
  };
  EXPECT_THAT(error_after("/perf/time_us_p50", 7), HasSubstr("'time_us_p50' is 7 and should be "));
  EXPECT_THAT(error_after("/perf/time_us_min", 7), HasSubstr("the least of 'sample_us'"));
  EXPECT_THAT(error_after("/perf/time_us_mean", 7), HasSubstr("the mean of 'sample_us'"));
  EXPECT_THAT(error_after("/perf/samples", 7), HasSubstr("'samples' is 7 and should be "));
  EXPECT_THAT(error_after("/perf/blocks", 77), HasSubstr("'blocks' is 77 and should be "));
  EXPECT_THAT(error_after("/perf/sample_us/0/0", -1), HasSubstr("which is not a time"));
  EXPECT_THAT(error_after("/perf/sample_us", json::array()), HasSubstr("it has a time but no sample"));
}

TEST(OldSchemas, MissTheRecordOfACaseThatWasPlanned) {
  const test::TemporaryFolder folder;
  std::vector<std::string> lines = lines_of_schema_2();
  std::erase(lines, std::string(line_of(lines, "record")));
  test::write_file(folder / "journal.jsonl", joined(lines));
  EXPECT_THAT(test::error_of([&] { read_checked_journal(folder / "journal.jsonl"); }),
              HasSubstr("the run is complete, but "));
}

// The lines of a journal of schema 1, as assay 0.1.0 wrote them: nothing in them came with schema 2.
const std::string run_of_schema_1 = [] {
  json run = json::parse(json_of(test::sample_run()).dump());
  run["event"] = "run";
  run["schema"] = 1;
  for (const char* name : {"timer", "ceilings", "repro_options"}) run.erase(name);
  run["device"].erase("textures");
  return run.dump();
}();
const std::string record_of_schema_1 =
    R"({"event":"record","case":{"id":"dequantize/16x4/WP.WP/elementwise","op":"dequantize","name":"decode",)"
    R"("impl":"elementwise","shape":"16x4","params":"dtype=f32","forms":"q=buffer/WP y=buffer/WP","tune":"",)"
    R"("fill":"q=normal","mode":"perf","tier":"ci","seed":0,"where":{"file":"a.yaml","line":160,"column":5}},)"
    R"("status":"PASS","reason":"","perf":{"time_us_min":3.5,"time_us_p25":4.5,"time_us_p50":5.5,)"
    R"("time_us_p75":6.5,"time_us_mean":5.5,"time_us_stdev":1.0,"spread_pct":1.25,"ci_pct":0.5,"blocks":1,)"
    R"("samples":2,"batch":8,"stop":"interval","throughput_us":4.0,"time_transition_us":0.0,"bytes":64,)"
    R"("operations":128,"clock":"gpu","verified":true,"output_hash":"f4","compile_ms":7.5,"spirv_hash":"4a",)"
    R"("dispatches":[{"label":"d","role":"op","time_us":5.0}],"sample_us":[[4.5,6.5]]},)"
    R"("validation_messages":0,"repro":"assay run","total_ms":503.25})";

std::string error_of(const std::vector<std::string>& lines) {
  return test::error_of([&] {
    ReportBuilder builder;
    for (const std::string& line : lines) builder.line(line);
  });
}

TEST(OldSchemas, BeginWithSchema1) {
  ReportBuilder builder;
  builder.line(run_of_schema_1);
  builder.line(record_of_schema_1);
  builder.line(R"({"event":"end"})");
  const RunReport report = builder.report();
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.run.schema, 1);
  EXPECT_EQ(report.run.timer.unit_ns, 0);
  EXPECT_FALSE(report.run.ceilings.measured());
  EXPECT_TRUE(report.run.device.textures.empty());
  const Record& record = report.records.at(0);
  EXPECT_EQ(record.info.cache, "");
  EXPECT_EQ(record.repro, "assay run");
  EXPECT_EQ(record.perf->time_us_p50, 5.5);
  EXPECT_EQ(record.perf->sets, 1);
  EXPECT_EQ(record.perf->pct_peak_bw, 0);
  EXPECT_EQ(record.perf->output_hash, "f4");
  EXPECT_EQ(record.perf->program_hash, "");
  EXPECT_FALSE(record.perf->registers.has_value());
}

TEST(OldSchemas, MissAFieldOfSchema2InAJournalOfSchema2) {
  json run = json::parse(run_of_schema_1);
  run["schema"] = 2;
  EXPECT_EQ(error_of({run.dump()}), "the field 'run.device.textures' is missing");
  std::vector<std::string> lines = lines_of_schema_2();
  EXPECT_EQ(error_of({lines[0], record_of_schema_1}), "the field 'record.case.cache' is missing");
  json record = json::parse(line_of(lines, "record", "\"mode\":\"perf\""));
  record["perf"].erase("program_hash");
  EXPECT_EQ(error_of({lines[0], record.dump()}), "the field 'record.perf.program_hash' is missing");
}

TEST(OldSchemas, MissAnOldFieldInAJournalOfSchema1Too) {
  json record = json::parse(record_of_schema_1);
  record["perf"].erase("batch");
  EXPECT_EQ(error_of({run_of_schema_1, record.dump()}), "the field 'record.perf.batch' is missing");
}

TEST(OldSchemas, KnowNoEventOfTheNewOne) {
  EXPECT_EQ(error_of({run_of_schema_1, R"({"event":"judged","row":0})"}),
            "the event \"judged\" is unknown (run, plan, begin, record, end)");
}

}  // namespace
}  // namespace assay
