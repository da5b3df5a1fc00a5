#include "harness/report/journal/codec.h"

#include "harness/base/error.h"
#include "tests/support/all_fields.h"
#include "tests/support/error_text.h"
#include "tests/support/tell.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

using ::testing::HasSubstr;

struct LastLine final : EventLines {
  std::string text;
  void line(std::string_view line) override { text = line; }
};

const Block block{
    .round = 3, .batch = 7, .samples_ns = {2455242, 1e18, 0.1, 5e-324, 12345.678}, .probe_ns = 2.5};

// If a line of these gets a member that every run writes, quick_line() should know it.
TEST(QuickLine, ReadsWhatARunWrites) {
  LastLine written;
  written.begin(41);
  const auto begin = quick_line(written.text);
  ASSERT_TRUE(begin.has_value()) << written.text;
  EXPECT_EQ(begin->row, 41U);
  EXPECT_FALSE(begin->block.has_value());
  written.block(5, block);
  const auto read = quick_line(written.text);
  ASSERT_TRUE(read.has_value() && read->block.has_value()) << written.text;
  EXPECT_EQ(read->row, 5U);
  EXPECT_EQ(read->block->round, 3);
  EXPECT_EQ(read->block->batch, 7);
  EXPECT_EQ(read->block->samples_ns, block.samples_ns);
  EXPECT_EQ(read->block->probe_ns, 2.5);
}

TEST(QuickLine, ReadsTheStateOfTheSystem) {
  const SystemState phone{.battery_pct = 83,
                          .battery_c = 31.2,
                          .hottest_c = 47.25,
                          .governor = "schedutil,walt",
                          .cpu_mhz = 2841.6,
                          .gpu_mhz = 848};
  const SystemState server{.hottest_c = 61, .cpu_mhz = 3700};
  LastLine written;
  for (const SystemState& state : {phone, server}) {
    Block with = block;
    with.system = state;
    written.block(5, with);
    const auto read = quick_line(written.text);
    ASSERT_TRUE(read.has_value() && read->block.has_value()) << written.text;
    EXPECT_EQ(read->block->system, state) << written.text;
  }
}

TEST(QuickLine, LeavesAllElseToJson) {
  LastLine written;
  Block wrong = block;
  wrong.wrong = true;
  written.block(5, wrong);
  const std::string head = R"({"event":"block","row":0,"round":0,"batch":1,"samples_ns":[)";
  std::vector<std::string> lines = {written.text,
                                    R"({"event":"done"})",
                                    head + R"(1],"system":{"gpu_mhz":1,"cpu_mhz":1}})",
                                    head + R"(1],"system":{"governor":"a\u0041"}})",
                                    R"({"event":"begin","row":1,"row":2})",
                                    R"({"event":"begin","row":-1})",
                                    R"({"event":"begin","row":1.5})",
                                    R"({"event":"begin","row":01})",
                                    R"({"event":"begin","row":99999999999999999999})",
                                    R"({"event":"begin","row":1}})",
                                    R"({"event":"begin","row":1)",
                                    R"({ "event":"begin","row":1})",
                                    R"({"event":"begin","row":})",
                                    head + "]}"};
  for (const char* number : {"",    "+1",  ".5",      "5.",    "1.e5",   "01", "-",  "1e",   "1e+", "0x1",
                             "inf", "nan", "\"nan\"", "1e999", "1e-999", " 1", "1 ", "null", "1,",  "[1]"})
    lines.push_back(head + number + "]}");
  for (const std::string& line : lines) EXPECT_FALSE(quick_line(line).has_value()) << line;
}

// The number of members of an aggregate: the most initializers that it accepts.
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
  void operator()(const char*, const T&, FieldRule /*rule*/ = {}) {
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

std::size_t computed_count() {
  FieldCounter counter;
  PerfResult value;
  test::computed_fields(counter, value);
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
  EXPECT_EQ(field_count<PerfResult>() + computed_count(), member_count<PerfResult>());
  EXPECT_EQ(field_count<Comparison>(), member_count<Comparison>());
  EXPECT_EQ(field_count<Record>(), member_count<Record>());
  EXPECT_EQ(field_count<TimeSpent>(), member_count<TimeSpent>());
  EXPECT_EQ(field_count<Block>(), member_count<Block>());
  EXPECT_EQ(field_count<SystemState>(), member_count<SystemState>());
  EXPECT_EQ(field_count<OwnEnd>(), member_count<OwnEnd>());
  EXPECT_EQ(field_count<RowEnd>(), member_count<RowEnd>());
}

// Keeps what it hears.
struct Listener final : RunListener {
  std::vector<RunInfo> runs;
  std::vector<RowInfo> planned;
  std::vector<RowIndex> begun;
  std::vector<AccuracyResult> judgements;
  std::vector<Block> blocks;
  std::vector<RowEnd> ends;
  int done_times = 0;

  void run(const RunInfo& info) override { runs.push_back(info); }
  void plan(std::span<const RowInfo> rows) override {
    planned.insert(planned.end(), rows.begin(), rows.end());
  }
  void begin(RowIndex row) override { begun.push_back(row); }
  void judged(RowIndex, const AccuracyResult& accuracy) override { judgements.push_back(accuracy); }
  void block(RowIndex, const Block& block) override { blocks.push_back(block); }
  void end(RowIndex, const RowEnd& end) override { ends.push_back(end); }
  void done() override { ++done_times; }
};

// Keeps the lines.
struct Lines final : EventLines {
  std::vector<std::string> lines;
  void line(std::string_view line) override { lines.emplace_back(line); }
};

std::vector<std::string> lines_of(const std::vector<Record>& records) {
  Lines lines;
  test::tell(lines, records);
  return lines.lines;
}

Listener heard(const std::vector<std::string>& lines) {
  Listener listener;
  Decoder decoder;
  for (const std::string& line : lines) decoder.line(line, listener);
  return listener;
}

Listener through_the_journal(const Record& record) {
  return heard(lines_of({record}));
}

// The line of that event of a record alone.
std::string line_of(const std::string& event, const Record& record) {
  for (const std::string& line : lines_of({record})) {
    if (line.starts_with(R"({"event":")" + event + '"')) return line;
  }
  return "";
}

// `line` with the member at `pointer` replaced.
std::string with(const std::string& line, const std::string& pointer, const nlohmann::json& value) {
  nlohmann::json object = nlohmann::json::parse(line);
  object[nlohmann::json::json_pointer(pointer)] = value;
  return object.dump();
}

std::string without(const std::string& line, const std::string& member) {
  nlohmann::json object = nlohmann::json::parse(line);
  object.erase(member);
  return object.dump();
}

// What is wrong with a line that comes after the plan of one row.
std::string decode_error(const std::string& line) {
  Listener listener;
  Decoder decoder;
  decoder.line(line_of("plan", test::passed("a")), listener);
  return test::error_of([&] { decoder.line(line, listener); });
}

TEST(Codec, EncodesWhatItDecoded) {
  const std::vector<std::string> written = lines_of(test::all_kinds());
  Lines again;
  Decoder decoder;
  for (const std::string& line : written) decoder.line(line, again);
  EXPECT_EQ(again.lines, written);
}

TEST(Codec, KeepsEveryFieldOfARow) {
  const Listener bad = through_the_journal(test::failed("bad"));
  EXPECT_EQ(bad.planned.at(0).id, "shuffle/bad/1x16x4x8/4W4C.4W4C/fused");
  EXPECT_EQ(bad.planned.at(0).where.line, 12);
  EXPECT_EQ(bad.ends.at(0).status, Status::Fail);
  EXPECT_EQ(bad.judgements.at(0).first_bad, (std::vector<std::int64_t>{0, 3, 7, 2}));
  EXPECT_EQ(bad.judgements.at(0).output_class, OutputClass::Exact);
  EXPECT_FALSE(bad.ends.at(0).perf.has_value());
  const Listener fast = through_the_journal(test::timed("fast", "fused", 2.5));
  EXPECT_EQ(fast.blocks.at(0).samples_ns, (std::vector<double>{12500, 25000}));
  EXPECT_EQ(fast.blocks.at(1).samples_ns, (std::vector<double>{25000, 50000}));
  EXPECT_EQ(fast.blocks.at(1).batch, 10);
  EXPECT_EQ(fast.blocks.at(1).round, 1);
  EXPECT_EQ(fast.ends.at(0).perf->dispatches.at(0).label, "shuffle");
  EXPECT_TRUE(fast.judgements.empty());
}

TEST(Codec, KeepsNumbersAtTheirLimits) {
  Record record = test::failed("limits");
  record.info.seed = std::numeric_limits<std::uint64_t>::max();
  record.accuracy->elements = std::numeric_limits<std::int64_t>::min();
  record.accuracy->expected = std::numeric_limits<double>::quiet_NaN();
  record.accuracy->got = -std::numeric_limits<double>::infinity();
  record.accuracy->bound = std::numeric_limits<double>::denorm_min();
  record.accuracy->max_abs_err = -0.0;
  record.accuracy->reference_ms = std::numeric_limits<double>::max();
  record.accuracy->gpu_ms = 9007199254740993.0;
  const Listener listener = through_the_journal(record);
  const AccuracyResult& back = listener.judgements.at(0);
  EXPECT_EQ(listener.planned.at(0).seed, record.info.seed);
  EXPECT_EQ(back.elements, record.accuracy->elements);
  EXPECT_TRUE(std::isnan(back.expected));
  EXPECT_EQ(back.got, record.accuracy->got);
  EXPECT_EQ(back.bound, record.accuracy->bound);
  EXPECT_TRUE(std::signbit(back.max_abs_err));
  EXPECT_EQ(back.reference_ms, record.accuracy->reference_ms);
  EXPECT_EQ(back.gpu_ms, record.accuracy->gpu_ms);
}

TEST(Codec, KeepsEveryBitOfASample) {
  Lines lines;
  lines.plan(std::vector<RowInfo>{test::sample_case("a", "perf")});
  const Block block{.batch = 7, .samples_ns = {1.0 / 3, 3536166.6666666665, 3536160}, .probe_ns = 0.1};
  lines.block(0, block);
  EXPECT_EQ(
      lines.lines.at(1),
      R"({"event":"block","row":0,"round":0,"batch":7,"samples_ns":[0.3333333333333333,3536166.6666666665,)"
      R"(3536160],"probe_ns":0.1})");
  EXPECT_EQ(heard(lines.lines).blocks.at(0).samples_ns, block.samples_ns);
}

TEST(Codec, MakesAnyTextOneValidLine) {
  Record record = test::passed("odd");
  record.reason = test::nasty;
  const std::string line = line_of("end", record);
  EXPECT_EQ(line.find('\n'), line.npos);
  EXPECT_TRUE(nlohmann::json::accept(line));
  EXPECT_THAT(through_the_journal(record).ends.at(0).reason, HasSubstr("\xEF\xBF\xBD\xEF\xBF\xBD \x1b[31m"));
}

TEST(Codec, TellsEachEventToTheListener) {
  Lines lines;
  lines.plan(std::vector<RowInfo>{test::sample_case("a")});
  lines.plan(std::vector<RowInfo>{test::sample_case("b", "perf")});
  lines.begin(1);
  lines.done();
  const Listener listener = heard(lines.lines);
  ASSERT_EQ(listener.planned.size(), 2U);
  EXPECT_EQ(listener.planned[1].mode, "perf");
  EXPECT_EQ(listener.begun, std::vector<RowIndex>{1});
  EXPECT_EQ(listener.done_times, 1);
}

TEST(Codec, LeavesOutWhatHasItsInitialValue) {
  EXPECT_EQ(line_of("end", test::passed("a")), R"({"event":"end","row":0,"status":"PASS","total_ms":2.125})");
  Record missing;
  missing.info.id = "a";
  missing.info.mode = "accu";
  EXPECT_EQ(line_of("end", missing), R"({"event":"end","row":0,"status":"MISSING"})");
  EXPECT_EQ(line_of("plan", missing), R"({"event":"plan","first":0,"rows":[{"id":"a","mode":"accu"}]})");
}

TEST(Codec, PassesOverMembersItDoesNotKnow) {
  EXPECT_EQ(decode_error(with(line_of("judged", test::passed("a")), "/invented_later", 1)), "");
}

TEST(Codec, RefusesAnEventOfARowThatNoPlanNames) {
  EXPECT_EQ(decode_error(R"({"event":"begin","row":1})"), "it is about row 1, but only 1 are planned");
  EXPECT_EQ(decode_error(R"({"event":"begin","row":-1})"),
            "the field 'row' should be a whole number in range and is -1");
  EXPECT_EQ(decode_error(R"({"event":"plan","first":2,"rows":[]})"),
            "it plans rows from 2 on, but 1 are planned so far");
}

TEST(Codec, NamesTheFieldThatIsWrong) {
  const std::string judged = line_of("judged", test::failed("a"));
  EXPECT_EQ(decode_error(with(judged, "/bound", "wide")),
            "the field 'judged.bound' should be a number, \"nan\", \"inf\" or \"-inf\" and is \"wide\"");
  EXPECT_EQ(decode_error(with(judged, "/elements", 1.5)),
            "the field 'judged.elements' should be a whole number in range and is 1.5");
  EXPECT_EQ(decode_error(with(judged, "/first_bad", "0,1")),
            "the field 'judged.first_bad' should be a list and is \"0,1\"");
  EXPECT_EQ(decode_error(with(judged, "/hash_is_portable", 1)),
            "the field 'judged.hash_is_portable' should be true or false and is 1");
  const std::string end = line_of("end", test::failed("a"));
  EXPECT_EQ(decode_error(with(end, "/status", "GREAT")),
            "the field 'end.status' should be a known name and is \"GREAT\"");
  EXPECT_EQ(decode_error(with(end, "/reason", 3)), "the field 'end.reason' should be text and is 3");
  EXPECT_EQ(decode_error(with(end, "/perf", 3)), "the field 'end.perf' should be an object and is 3");
  EXPECT_EQ(
      decode_error(
          R"({"event":"plan","first":1,"rows":[{"id":"b","mode":"accu","where":{"line":1099511627776}}]})"),
      "the field 'rows.where.line' should be a whole number in range and is 1099511627776");
  EXPECT_EQ(decode_error(R"({"event":"plan","first":1,"rows":[{"id":"b","mode":"accu","seed":-1}]})"),
            "the field 'rows.seed' should be a whole number in range and is -1");
  const std::string run = line_of("run", test::passed("a"));
  EXPECT_EQ(
      decode_error(with(run, "/device/max_workgroup_size", {1, 2})),
      "the field 'run.device.max_workgroup_size' should be a list of the right length and is a list of 2");
  EXPECT_EQ(decode_error(with(run, "/device/textures/0/storage", "texture4d")),
            "the field 'run.device.textures.storage' should be a known name and is \"texture4d\"");
  EXPECT_EQ(decode_error(with(run, "/device/textures/0/dtype", "f12")),
            "the field 'run.device.textures.dtype' should be a known name and is \"f12\"");
}

TEST(Codec, MissesWhatNoEventIsWithout) {
  EXPECT_EQ(decode_error(R"({"event":"begin"})"), "the field 'row' is missing");
  EXPECT_EQ(decode_error(without(line_of("run", test::passed("a")), "run_id")),
            "the field 'run.run_id' is missing");
  EXPECT_EQ(decode_error(R"({"event":"plan","first":1,"rows":[{}]})"), "the field 'rows.id' is missing");
  EXPECT_EQ(decode_error(without(line_of("end", test::passed("a")), "status")),
            "the field 'end.status' is missing");
  for (const std::string member : {"round", "batch", "samples_ns"}) {
    EXPECT_EQ(decode_error(without(line_of("block", test::timed("a", "fused", 1)), member)),
              "the field 'block." + member + "' is missing");
  }
}

TEST(Codec, SaysWhyALineIsNoEvent) {
  EXPECT_EQ(decode_error(""), "it is not valid JSON from column 1 on");
  EXPECT_EQ(decode_error(R"({"event":"end")"), "it is not valid JSON from column 15 on");
  EXPECT_EQ(decode_error("[1]"), "it is not a JSON object");
  EXPECT_EQ(decode_error("{}"), "the field 'event' is missing");
  EXPECT_EQ(decode_error(R"({"event":"pause"})"),
            "the event \"pause\" is unknown (run, plan, begin, judged, block, end, done)");
}

TEST(Codec, RefusesAnotherSchema) {
  EXPECT_EQ(decode_error(R"({"event":"run","schema":99})"),
            "the journal has schema 99, and this assay reads schema 3: read it with the assay that wrote it");
}

struct Nobody final : RunListener {
  void run(const RunInfo&) override {}
  void plan(std::span<const RowInfo>) override {}
  void begin(RowIndex) override {}
  void judged(RowIndex, const AccuracyResult&) override {}
  void block(RowIndex, const Block&) override {}
  void end(RowIndex, const RowEnd&) override {}
  void done() override {}
};

std::string error_of_line(const std::string& line) {
  Nobody nobody;
  Decoder decoder;
  decoder.line(R"({"event":"plan","first":0,"rows":[{"id":"a","mode":"perf"}]})", nobody);
  return test::error_of([&] { decoder.line(line, nobody); });
}

/// Keeps the ids that are planned.
struct Planned final : RunListener {
  std::vector<std::string> ids;
  void run(const RunInfo&) override {}
  void plan(std::span<const RowInfo> rows) override {
    for (const RowInfo& row : rows) ids.push_back(row.id);
  }
  void begin(RowIndex) override {}
  void judged(RowIndex, const AccuracyResult&) override {}
  void block(RowIndex, const Block&) override {}
  void end(RowIndex, const RowEnd&) override {}
  void done() override {}
};

std::vector<std::string> planned_by(const std::string& line) {
  Planned planned;
  Decoder().line(line, planned);
  return planned.ids;
}

TEST(Decoder, ReadsAPlanHoweverItIsWritten) {
  const std::vector<std::string> ids{"a", "b],[\"{"};
  const std::string rows = R"([{"id":"a","mode":"accu","where":{"line":3}},{"id":"b],[\"{","mode":"perf"}])";
  EXPECT_EQ(planned_by(R"({"event":"plan","first":0,"rows":)" + rows + "}"), ids);
  EXPECT_EQ(planned_by(R"({"event":"plan","rows":)" + rows + R"(,"first":0})"), ids);
  EXPECT_EQ(planned_by(R"({ "rows" : )" + rows + R"(, "first":0, "event":"plan"})"), ids);
  EXPECT_EQ(planned_by(R"({"event":"plan","first":0,"rows":[]})"), std::vector<std::string>{});
}

TEST(Decoder, RefusesAPlanThatIsNoJson) {
  for (const std::string line :
       {R"({"event":"plan","first":0,"rows":[{"id":"a","mode":"accu"},]})",
        R"({"event":"plan","first":0,"rows":[,]})",
        R"({"event":"plan","first":0,"rows":[{"id":"a","mode":"accu"}]]})",
        R"({"event":"plan","first":0,"rows":[{"id":"a","mode":"accu"})",
        R"({"event":"plan","first":0,"rows":["a"]})",
        R"({"event":"plan","first":0,"rows":[{"id":"a","mode":"accu"}}]})",
        R"({"event":"plan","first":1,"rows":[]})", R"({"event":"plan","rows":[]})"}) {
    EXPECT_NE(test::error_of([&] { planned_by(line); }), "") << line;
  }
}

TEST(Decoder, RefusesNumbersThatNoDoubleHolds) {
  EXPECT_EQ(error_of_line(R"({"event":"block","row":0,"round":0,"batch":1,"samples_ns":[1e999]})"),
            "a number in it is larger than any double");
  EXPECT_EQ(test::error_of([] { decode_ceilings(R"({"fp32_gops":-1e999})"); }),
            "a number in it is larger than any double");
}

TEST(Decoder, RefusesTimesWhoseSumsAreNoNumbers) {
  EXPECT_EQ(error_of_line(R"({"event":"block","row":0,"round":0,"batch":1,"samples_ns":[1e308, 1e308]})"),
            "the field 'block.samples_ns' holds 1e+308, which is not a time");
}

TEST(Decoder, RefusesNegativeTimes) {
  const std::string block = R"({"event":"block","row":0,"round":0,"batch":)";
  for (const auto& [line, message] : {
           std::pair(block + R"(1,"samples_ns":[100,-5]})",
                     "the field 'block.samples_ns' holds -5, which is not a time"),
           std::pair(block + R"(1,"samples_ns":["nan"]})",
                     "the field 'block.samples_ns' holds nan, which is not a time"),
           std::pair(block + R"(1,"samples_ns":[100],"probe_ns":-1})",
                     "the field 'block.probe_ns' is -1, and no time is negative"),
           std::pair(block + R"(-1,"samples_ns":[100]})",
                     "the field 'block.batch' is -1, which is not a number of programs from 1 to 20000"),
           std::pair(block + R"(20001,"samples_ns":[100]})",
                     "the field 'block.batch' is 20001, which is not a number of programs from 1 to 20000"),
           std::pair(
               std::string(R"({"event":"end","row":0,"status":"PASS","perf":{"energy":{"joules":-1}}})"),
               "the field 'end.perf.energy.joules' is -1, and no energy is negative"),
           std::pair(std::string(R"({"event":"end","row":0,"status":"PASS","perf":{"isolated_us":-2}})"),
                     "the field 'end.perf.isolated_us' is -2, and no time is negative"),
       }) {
    EXPECT_EQ(error_of_line(line), message) << line;
  }
}

TEST(Decoder, RefusesLinesWhoseValuesWouldTakeAllMemoryOrTime) {
  std::string values = "[0";
  for (int i = 0; i < 1'000'000; ++i) values += ",0";
  EXPECT_EQ(error_of_line(R"({"event":"done","x":)" + values + "]}"), "it has more than 1000000 values");
  std::string members;
  for (int i = 0; i < 40'000; ++i) members += fmt::format(",\"k{}\":0", i);
  EXPECT_EQ(error_of_line(R"({"event":"done")" + members + "}"), "its objects have too many members");
  EXPECT_EQ(error_of_line(R"({"event":"done","x":")" + std::string(50'000, ':') + "\"}"), "");
}

TEST(Decoder, TakesAPlanOfSeveralLinesAsOne) {
  Planned planned;
  Decoder decoder;
  const auto plan = [&](int first, const std::string& id, const char* more) {
    decoder.line(fmt::format(R"({{"event":"plan","first":{},"rows":[{{"id":"{}","mode":"accu"}}]{}}})", first,
                             id, more),
                 planned);
  };
  plan(0, "lost", R"(,"more":true)");
  plan(0, "a", R"(,"more":true)");  // a resumed run begins the plan anew
  EXPECT_NE(test::error_of([&] { plan(2, "x", ""); }), "");
  EXPECT_NE(test::error_of([&] { decoder.line(R"({"event":"begin","row":0})", planned); }), "");
  plan(1, "b", "");
  EXPECT_EQ(planned.ids, (std::vector<std::string>{"a", "b"}));
  decoder.line(R"({"event":"begin","row":1})", planned);
}

TEST(Decoder, RefusesMoreRowsThanARunMayHave) {
  Planned planned;
  Decoder decoder(2'000);  // in place of the two million, which take 15 s
  std::string rows = R"({"id":"a","mode":"accu"})";
  for (int i = 1; i < 500; ++i) rows += R"(,{"id":"a","mode":"accu"})";
  const auto plan = [&](std::size_t first) {
    decoder.line(fmt::format(R"({{"event":"plan","first":{},"rows":[{}]}})", first, rows), planned);
  };
  for (std::size_t first = 0; first < 2'000; first += 500) plan(first);
  EXPECT_EQ(planned.ids.size(), 2'000U);
  EXPECT_EQ(test::error_of([&] { plan(2'000); }), "it plans row 2500, and a run has at most 2000");
}

TEST(Codec, DividesALongPlanIntoLines) {
  const std::vector<RowInfo> rows(3'000, test::sample_case(std::string(2'500, 'a')));
  Lines lines;
  lines.plan(rows);
  EXPECT_GT(lines.lines.size(), 1U);
  for (const std::string& line : lines.lines) EXPECT_LT(line.size(), std::size_t{9} << 20);
  EXPECT_EQ(heard(lines.lines).planned.size(), rows.size());
}

TEST(MayBeEvent, IsFalseOnlyForLinesThatTheDecoderRefuses) {
  for (const char* line :
       {"", "{", "{}", R"({"event":"x"})", R"({"event": "done")", "xxxxxxxxxxxxxxxxxxxxxx"}) {
    EXPECT_FALSE(may_be_event(line)) << line;
    EXPECT_NE(error_of_line(line), "");
  }
  EXPECT_TRUE(may_be_event(R"({"event":"done"})"));
  EXPECT_TRUE(may_be_event(R"({"event":"begin","row":0})"));
}

TEST(Decoder, RefusesValuesThatStandInEachOtherTooDeep) {
  const std::string nested = std::string(80000, '[') + std::string(80000, ']');
  EXPECT_THAT(error_of_line(R"({"event":"done","x":)" + nested + "}"), HasSubstr("more than 32 deep"));
  EXPECT_EQ(error_of_line(R"({"event":"done","x":"\")" + std::string(40, '[') + "\"}"), "");
  EXPECT_THAT(test::error_of([&] { decode_ceilings(nested); }), HasSubstr("more than 32 deep"));
}

TEST(Decoder, NeverSaysAllOfALongValue) {
  const std::string long_text(100000, 'x');
  EXPECT_EQ(error_of_line(R"({"event":[1,2,3]})"), "the field 'event' should be text and is a list of 3");
  EXPECT_LT(error_of_line(R"({"event":")" + long_text + "\"}").size(), 300U);
  EXPECT_LT(error_of_line(R"({"event":"begin","row":")" + long_text + "\"}").size(), 300U);
  EXPECT_EQ(error_of_line("{\"event\":\"begin\",\"row\":\"\u001b[31m\"}").find('\x1b'), std::string::npos);
}

}  // namespace

}  // namespace assay
