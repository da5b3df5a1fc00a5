#include "harness/report/record/codec.h"

#include "harness/base/error.h"
#include "harness/report/record/record_fields.h"
#include "tests/support/records.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <utility>

namespace assay {
namespace {

using ::testing::HasSubstr;

// How many members an aggregate has: so many initializers it takes.
struct Anything {
  template <class T>
  operator T() const;  // NOLINT: never defined, for unevaluated use
};
template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires {
    T{(static_cast<void>(I), Anything{})...};
  };
}
template <class T, std::size_t N = 0>
constexpr std::size_t member_count() {
  if constexpr (takes<T>(std::make_index_sequence<N + 1>{})) {
    return member_count<T, N + 1>();
  } else {
    return N;
  }
}

struct FieldCounter {
  std::size_t count = 0;
  template <class T>
  void operator()(const char*, const T&, int /*since*/ = 1) {
    ++count;
  }
};
template <class T>
std::size_t field_count() {
  FieldCounter counter;
  T value{};
  fields(counter, value);
  return counter.count;
}

TEST(RecordFields, NameEveryMemberOfEveryStruct) {
  EXPECT_EQ(field_count<DeviceInfo>(), member_count<DeviceInfo>());
  EXPECT_EQ(field_count<TextureSupport>(), member_count<TextureSupport>());
  EXPECT_EQ(field_count<RunInfo>(), member_count<RunInfo>());
  EXPECT_EQ(field_count<TimerCalibration>(), member_count<TimerCalibration>());
  EXPECT_EQ(field_count<BandwidthPoint>(), member_count<BandwidthPoint>());
  EXPECT_EQ(field_count<Ceilings>(), member_count<Ceilings>());
  EXPECT_EQ(field_count<RowInfo>(), member_count<RowInfo>());
  EXPECT_EQ(field_count<SourceLocation>(), member_count<SourceLocation>());
  EXPECT_EQ(field_count<AccuracyResult>(), member_count<AccuracyResult>());
  EXPECT_EQ(field_count<DispatchShare>(), member_count<DispatchShare>());
  EXPECT_EQ(field_count<PerfResult>(), member_count<PerfResult>());
  EXPECT_EQ(field_count<Comparison>(), member_count<Comparison>());
  EXPECT_EQ(field_count<Record>(), member_count<Record>());
}

// Keeps what it hears.
struct Listener final : RunListener {
  std::vector<RunInfo> runs;
  std::vector<RowInfo> planned, begun;
  std::vector<Record> records;
  int ends = 0;

  void run(const RunInfo& info) override { runs.push_back(info); }
  void plan(std::span<const RowInfo> cases) override { planned.assign(cases.begin(), cases.end()); }
  void begin(const RowInfo& info) override { begun.push_back(info); }
  void record(const Record& record) override { records.push_back(record); }
  void end() override { ++ends; }
};

Record through_the_journal(const Record& record) {
  Listener listener;
  Decoder().line(encode_record(record), listener);
  return listener.records.at(0);
}

// `line` with the member at `pointer` replaced, or removed when `value` is discarded.
std::string with(const std::string& line, const std::string& pointer, const nlohmann::json& value) {
  nlohmann::json object = nlohmann::json::parse(line);
  object[nlohmann::json::json_pointer(pointer)] = value;
  return object.dump();
}

std::string decode_error(const std::string& line) {
  Listener listener;
  return test::error_of([&] { Decoder().line(line, listener); });
}

TEST(Codec, EncodesWhatItDecoded) {
  for (const Record& record : test::all_kinds()) {
    const std::string line = encode_record(through_the_journal(record));
    EXPECT_EQ(line, encode_record(record));
  }
  Listener listener;
  Decoder().line(encode_run(test::sample_run()), listener);
  EXPECT_EQ(encode_run(listener.runs.at(0)), encode_run(test::sample_run()));
}

TEST(Codec, KeepsEveryFieldOfARecord) {
  const Record record = through_the_journal(test::failed("bad"));
  EXPECT_EQ(record.info.id, "shuffle/bad/1x16x4x8/4W4C.4W4C/fused");
  EXPECT_EQ(record.info.where.line, 12);
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_EQ(record.accuracy->first_bad, (std::vector<std::int64_t>{0, 3, 7, 2}));
  EXPECT_EQ(record.accuracy->output_class, OutputClass::Exact);
  EXPECT_FALSE(record.perf.has_value());
  const Record perf = through_the_journal(test::timed("fast", "fused", 2.5));
  EXPECT_EQ(perf.perf->sample_us, (std::vector<std::vector<double>>{{1.25, 2.5}, {2.5, 5}}));
  EXPECT_EQ(perf.perf->dispatches.at(0).label, "shuffle");
  EXPECT_FALSE(perf.accuracy.has_value());
}

TEST(Codec, KeepsNumbersAtTheirLimits) {
  Record record = test::failed("limits");
  record.info.seed = std::numeric_limits<std::uint64_t>::max();
  record.accuracy->elements = std::numeric_limits<std::int64_t>::min();
  record.accuracy->expected = std::numeric_limits<double>::quiet_NaN();
  record.accuracy->got = -std::numeric_limits<double>::infinity();
  record.accuracy->bound = std::numeric_limits<double>::denorm_min();
  record.accuracy->max_abs_err = -0.0;
  const Record back = through_the_journal(record);
  EXPECT_EQ(back.info.seed, record.info.seed);
  EXPECT_EQ(back.accuracy->elements, record.accuracy->elements);
  EXPECT_TRUE(std::isnan(back.accuracy->expected));
  EXPECT_EQ(back.accuracy->got, record.accuracy->got);
  EXPECT_EQ(back.accuracy->bound, record.accuracy->bound);
  EXPECT_TRUE(std::signbit(back.accuracy->max_abs_err));
}

TEST(Codec, MakesAnyTextOneValidLine) {
  Record record = test::passed("odd");
  record.reason = test::nasty;
  const std::string line = encode_record(record);
  EXPECT_EQ(line.find('\n'), line.npos);
  EXPECT_TRUE(nlohmann::json::accept(line));
  EXPECT_THAT(through_the_journal(record).reason, HasSubstr("\xEF\xBF\xBD\xEF\xBF\xBD \x1b[31m"));
}

TEST(Codec, TellsEachEventToTheListener) {
  Listener listener;
  const std::vector<RowInfo> cases = {test::sample_case("a"), test::sample_case("b", "perf")};
  Decoder decoder;
  decoder.line(encode_plan(cases), listener);
  decoder.line(encode_begin(cases[1]), listener);
  decoder.line(encode_end(), listener);
  ASSERT_EQ(listener.planned.size(), 2U);
  EXPECT_EQ(listener.planned[1].mode, "perf");
  ASSERT_EQ(listener.begun.size(), 1U);
  EXPECT_EQ(listener.begun[0].name, "b");
  EXPECT_EQ(listener.ends, 1);
}

TEST(Codec, PassesOverMembersItDoesNotKnow) {
  EXPECT_EQ(decode_error(with(encode_record(test::passed("a")), "/accuracy/invented_later", 1)), "");
}

TEST(Codec, NamesTheFieldThatIsWrong) {
  const std::string line = encode_record(test::failed("a"));
  EXPECT_EQ(
      decode_error(with(line, "/accuracy/bound", "wide")),
      "the field 'record.accuracy.bound' should be a number, \"nan\", \"inf\" or \"-inf\" and is \"wide\"");
  EXPECT_EQ(decode_error(with(line, "/accuracy/elements", 1.5)),
            "the field 'record.accuracy.elements' should be a whole number in range and is 1.5");
  EXPECT_EQ(decode_error(with(line, "/case/where/line", 1LL << 40)),
            "the field 'record.case.where.line' should be a whole number in range and is 1099511627776");
  EXPECT_EQ(decode_error(with(line, "/case/seed", -1)),
            "the field 'record.case.seed' should be a whole number in range and is -1");
  EXPECT_EQ(decode_error(with(line, "/status", "GREAT")),
            "the field 'record.status' should be a known name and is \"GREAT\"");
  EXPECT_EQ(decode_error(with(line, "/case", nullptr)),
            "the field 'record.case' should be an object and is null");
  EXPECT_EQ(decode_error(with(line, "/reason", 3)), "the field 'record.reason' should be text and is 3");
  EXPECT_EQ(decode_error(with(line, "/accuracy/first_bad", "0,1")),
            "the field 'record.accuracy.first_bad' should be a list and is \"0,1\"");
  EXPECT_EQ(decode_error(with(line, "/accuracy/hash_is_portable", 1)),
            "the field 'record.accuracy.hash_is_portable' should be true or false and is 1");
  EXPECT_EQ(decode_error(with(encode_run(test::sample_run()), "/device/max_workgroup_size", {1, 2})),
            "the field 'run.device.max_workgroup_size' should be a list of the right length and is [1,2]");
  EXPECT_EQ(decode_error(with(encode_run(test::sample_run()), "/device/textures/0/storage", "texture4d")),
            "the field 'run.device.textures.storage' should be a known name and is \"texture4d\"");
  EXPECT_EQ(decode_error(with(encode_run(test::sample_run()), "/device/textures/0/dtype", "f12")),
            "the field 'run.device.textures.dtype' should be a known name and is \"f12\"");
  EXPECT_EQ(decode_error(R"({"event":"begin","case":{}})"), "the field 'case.id' is missing");
}

TEST(Codec, SaysWhyALineIsNoEvent) {
  EXPECT_EQ(decode_error(""), "it is not JSON from column 1 on");
  EXPECT_EQ(decode_error(R"({"event":"end")"), "it is not JSON from column 15 on");
  EXPECT_EQ(decode_error("[1]"), "it is not a JSON object");
  EXPECT_EQ(decode_error("{}"), "the field 'event' is missing");
  EXPECT_EQ(decode_error(R"({"event":"pause"})"),
            "the event \"pause\" is unknown (run, plan, begin, record, end)");
}

nlohmann::json json_of_line(const std::string& line) {
  return nlohmann::json::parse(line);
}

// The lines of a journal of schema 1, as assay 0.1.0 wrote them: nothing in them came with schema 2.
const std::string run_of_schema_1 = [] {
  nlohmann::json run = json_of_line(encode_run(test::sample_run()));
  run["schema"] = 1;
  for (const char* name : {"timer", "ceilings"}) run.erase(name);
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

TEST(Codec, ReadsAJournalOfSchema1) {
  Listener listener;
  Decoder decoder;
  decoder.line(run_of_schema_1, listener);
  decoder.line(record_of_schema_1, listener);
  const RunInfo& run = listener.runs.at(0);
  EXPECT_EQ(run.schema, 1);
  EXPECT_EQ(run.timer.unit_ns, 0);
  EXPECT_FALSE(run.ceilings.measured());
  EXPECT_TRUE(run.device.textures.empty());
  const Record& record = listener.records.at(0);
  EXPECT_EQ(record.info.cache, "");
  EXPECT_EQ(record.perf->time_us_p50, 5.5);
  EXPECT_EQ(record.perf->sets, 1);
  EXPECT_EQ(record.perf->pct_peak_bw, 0);
  EXPECT_EQ(record.perf->program_hash, "");
  EXPECT_FALSE(record.perf->registers.has_value());
}

TEST(Codec, MissesAFieldOfSchema2InAJournalOfSchema2) {
  Listener listener;
  Decoder decoder;
  decoder.line(encode_run(test::sample_run()), listener);
  EXPECT_EQ(test::error_of([&] { decoder.line(record_of_schema_1, listener); }),
            "the field 'record.case.cache' is missing");
  nlohmann::json run = json_of_line(run_of_schema_1);
  run["schema"] = 2;
  EXPECT_EQ(decode_error(run.dump()), "the field 'run.device.textures' is missing");
  nlohmann::json record = json_of_line(encode_record(test::timed("a", "fused", 2)));
  record["perf"].erase("program_hash");
  EXPECT_EQ(decode_error(record.dump()), "the field 'record.perf.program_hash' is missing");
}

TEST(Codec, MissesAnOldFieldInAJournalOfSchema1Too) {
  Listener listener;
  Decoder decoder;
  decoder.line(run_of_schema_1, listener);
  nlohmann::json record = json_of_line(record_of_schema_1);
  record["perf"].erase("batch");
  EXPECT_EQ(test::error_of([&] { decoder.line(record.dump(), listener); }),
            "the field 'record.perf.batch' is missing");
}

TEST(Codec, RefusesAnotherSchema) {
  EXPECT_EQ(decode_error(R"({"event":"run","schema":99})"),
            "it has schema 99 and this assay reads schemas 1 to 2: read it with the assay that wrote it");
}

}  // namespace
}  // namespace assay
