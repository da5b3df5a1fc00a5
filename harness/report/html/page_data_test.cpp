#include "harness/report/html/page_data.h"

#include "harness/base/text.h"
#include "harness/report/html/json_columns.h"
#include "tests/support/all_fields.h"
#include "tests/support/records.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <zlib.h>

namespace assay {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(EnvironmentChanges, AreNoneBetweenEqualRuns) {
  EXPECT_TRUE(environment_changes(test::sample_run(), test::sample_run()).empty());
}

TEST(EnvironmentChanges, NameWhatDiffersWithBothValues) {
  RunInfo next = test::sample_run();
  next.device.driver_info = "12.4";
  next.ceilings.kernels = "fedcba9876543210";
  const std::vector<EnvironmentChange> changes = environment_changes(test::sample_run(), next);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].what, "driver");
  EXPECT_EQ(changes[0].base, "Acme 12.3");
  EXPECT_EQ(changes[0].next, "Acme 12.4");
  EXPECT_EQ(changes[1].what, "ceilings' kernels (hash)");
  EXPECT_EQ(changes[1].next, "fedcba9876543210");
}

TEST(EnvironmentChanges, AreSeenInHashesThatDifferInTheLastDigit) {
  RunInfo base = test::sample_run(), next = test::sample_run();
  base.ceilings.kernels = "0123456789abcdef";
  next.ceilings.kernels = "0123456789abcdee";
  EXPECT_EQ(environment_changes(base, next).size(), 1U);
}

TEST(EnvironmentChanges, NameARebuiltBinaryAndEveryOtherInput) {
  RunInfo base = test::sample_run(), next = test::sample_run();
  base.inputs = {{"binary", "b1"}, {"cases", "c1"}, {"tuning_file", "found in /a"}};
  next.inputs = {{"binary", "b2"},         {"cases", "c1"},
                 {"expectations", "e2"},   {"shaders", "s2"},
                 {"versus_shaders", "v2"}, {"ops", "o2"},
                 {"tuning", "t2"},         {"times", "r2"},
                 {"as_if", "p2"},          {"tuning_file", "found in /b"}};
  std::vector<std::string> names;
  for (const EnvironmentChange& change : environment_changes(base, next)) names.push_back(change.what);
  EXPECT_THAT(names, ElementsAre("binary (hash)", "expectations (hash)", "shader folder (hash)",
                                 "folder of --versus-shaders (hash)", "folders of --ops (hash)",
                                 "entries of the tuning file (hash)", "report in --times (hash)",
                                 "limits in --as-if (hash)"))
      << "where the tuning file lies does not matter";
  EXPECT_EQ(environment_changes(base, next).front().base, "b1");
  EXPECT_EQ(environment_changes(base, next).front().next, "b2");
}

TEST(EnvironmentChanges, NameCeilingsOnlyBeyondTheirScatter) {
  RunInfo next = test::sample_run();
  next.ceilings.fp32_gops = 50900;
  EXPECT_TRUE(environment_changes(test::sample_run(), next).empty());
  next.ceilings.fp32_gops = 52000;
  next.ceilings.fp16_gops = 0;
  const std::vector<EnvironmentChange> changes = environment_changes(test::sample_run(), next);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].next, "52000 GOP/s");
  EXPECT_EQ(changes[1].next, "not measured");
}

std::string bytes_of_base64(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(digits.find(c));
    count += 6;
    if (count >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 255);
  }
  return bytes;
}

std::string unpacked(std::string_view text) {
  const std::string bytes = bytes_of_base64(text);
  std::string result(1 << 22, '\0');
  uLongf size = result.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(result.data()), &size,
                       reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()),
            Z_OK);
  result.resize(size);
  return result;
}

std::map<std::string, json> parts_of(const std::vector<PagePart>& parts) {
  std::map<std::string, json> parsed;
  for (const PagePart& part : parts) parsed[part.name] = json::parse(unpacked(part.packed));
  return parsed;
}

NightSummaries nights_of(const std::vector<RunReport>& reports) {
  NightSummaries nights;
  for (const RunReport& report : reports) {
    nights.all.push_back(read_night(
        nights.numbers, [&](const HistoryAction& action) { return read_history(report, action); }));
  }
  return nights;
}

RunReport run_of(const std::string& date, std::vector<Record> records) {
  RunReport report = test::report_of(std::move(records));
  report.run.started_utc = date;
  report.run.run_id = date;
  return report;
}

std::vector<PagePart> page_parts(const std::vector<RunReport>& reports) {
  const NightSummaries nights = nights_of(reports);
  PageData data(nights);
  for (const Track& track : tracks_of(nights.all)) {
    const RunReport* base =
        track.nights.size() > 1 ? &reports[track.nights[track.nights.size() - 2]] : nullptr;
    data.add(track, reports[track.nights.back()], base);
  }
  return std::move(data).parts();
}

std::string word(const json& column, std::size_t row) {
  return column.at("words").at(column.at("rows").at(row).get<std::size_t>());
}

TEST(PageData, HoldsARowOfEachRecordWithItsFigures) {
  const auto parts = parts_of(page_parts({run_of("2026-01-02", test::all_kinds())}));
  const json& rows = parts.at("core").at("rows");
  const std::vector<Record> records = test::all_kinds();
  ASSERT_EQ(rows.at("case").size(), records.size());
  for (std::size_t i = 0; i < records.size(); ++i)
    EXPECT_EQ(word(rows.at("status"), i), name_of(records[i].status));
  const std::size_t fast = records.size() - 3;
  EXPECT_EQ(rows.at("time_us").at(fast), 2.5);
  EXPECT_EQ(rows.at("err_over_bound").at(1), "inf");
  EXPECT_TRUE(rows.at("time_us").back().is_null()) << "a wrong kernel has no time";
  EXPECT_TRUE(parts.at("samples-0").back().is_null());
  EXPECT_EQ(parts.at("samples-0").at(fast).at(0), json::parse("[[1.25, 2.5], [2.5, 5]]"));
  EXPECT_EQ(parts.at("facts-0").at(1).at("map"), "....\n.##.\n");
  EXPECT_THAT(parts.at("facts-0").at(1).at("failure").get<std::string>(),
              HasSubstr("1 of 2 outputs is wrong"));
}

TEST(PageData, HoldsTheEnergyOfRowsThatHaveIt) {
  Record measured = test::timed("a", "fused", 2);
  measured.perf->energy = Energy{.source = "RAPL package-0", .joules = 0.25, .watts = 60};
  const auto parts = parts_of(page_parts({run_of("2026-01-02", {measured, test::timed("b", "fused", 2)})}));
  const json& rows = parts.at("core").at("rows");
  EXPECT_EQ(rows.at("energy_j"), json::parse("[0.25, null]"));
  EXPECT_EQ(rows.at("power_w"), json::parse("[60.0, null]"));
}

TEST(PageData, HoldsThePlanOfAChainWithTheTimesOfItsSteps) {
  Record record = test::timed("net", "optimal", 5);
  record.perf->dispatches = {
      {"a/im2col", "op", 1}, {"a/gemm", "op", 2}, {"a to buffer/4C/copy", "transition", 4}};
  record.chain =
      ChainPlan{.transitions = 1,
                .folded = {"keep"},
                .steps = {{.name = "a", .op = "conv", .impl = "gemm", .writes = {"x as buffer/4W"}},
                          {.name = "a to buffer/4C", .op = "clone", .is_transition = true}}};
  const json plan = parts_of(page_parts({run_of("2026-01-02", {record, test::passed("b")})}))
                        .at("facts-0")
                        .at(0)
                        .at("plan");
  EXPECT_EQ(plan.at("folded"), json::parse(R"(["keep"])"));
  EXPECT_EQ(plan.at("steps").at(0).at("us"), 3);
  EXPECT_EQ(plan.at("steps").at(0).at("writes"), json::parse(R"(["x as buffer/4W"])"));
  EXPECT_EQ(plan.at("steps").at(1).at("us"), 4);
  EXPECT_EQ(plan.at("steps").at(1).at("transition"), true);
}

TEST(PageData, JudgesTheNewestRunAgainstItsBaseAndKeepsWhatIsGone) {
  const auto parts = parts_of(page_parts({run_of("2026-01-01", {test::passed("a"), test::passed("gone")}),
                                          run_of("2026-01-02", {test::failed("a"), test::passed("new")})}));
  const json& core = parts.at("core");
  const json& verdicts = core.at("rows").at("verdict");
  EXPECT_EQ(word(verdicts, 0), "BROKEN");
  EXPECT_EQ(word(verdicts, 1), "NEW");
  EXPECT_EQ(word(verdicts, 2), "GONE");
  EXPECT_EQ(word(core.at("rows").at("status"), 2), "");
  EXPECT_EQ(core.at("devices").at(0).at("tracks").at(0).at("base").at("id"), "2026-01-01");
  EXPECT_TRUE(core.at("devices").at(0).at("tracks").at(0).at("base").at("shift").is_null());
  const json& statuses = parts.at("history-0").at("rows").at(0).at("s");
  EXPECT_EQ(statuses.at(0), static_cast<int>(Status::Pass));
  EXPECT_EQ(statuses.at(1), static_cast<int>(Status::Fail));
  EXPECT_EQ(parts.at("history-0").at("rows").at(1).at("s").at(0), -1)
      << "the first night does not have the row";
}

TEST(PageData, ComparesNightsWithDifferentTuningFiles) {
  Record tuned = test::timed("a", "fused", 2);
  tuned.info.tuned = "local_size=64 (line 12)";
  const auto parts = parts_of(
      page_parts({run_of("2026-01-01", {test::timed("a", "fused", 2)}), run_of("2026-01-02", {tuned})}));
  EXPECT_EQ(parts.at("core").at("devices").at(0).at("tracks").at(0).at("base").at("id"), "2026-01-01");
}

TEST(PageData, TellsThatTheMachineWasSlower) {
  const auto rows = [](double unchanged, double changed, const std::string& program) {
    std::vector<Record> records;
    for (int i = 0; i < 6; ++i) {
      const double us = i < 5 ? unchanged : changed;
      Record record = test::timed("row" + std::to_string(i), "fused", us);
      record.perf->sample_us = std::vector<std::vector<double>>(5, {us});
      record.perf->program_hash = i < 5 ? "p" : program;
      records.push_back(record);
    }
    return records;
  };
  const auto parts = parts_of(
      page_parts({run_of("2026-01-01", rows(100, 100, "old")), run_of("2026-01-02", rows(200, 240, "new"))}));
  const json& core = parts.at("core");
  EXPECT_EQ(core.at("devices").at(0).at("tracks").at(0).at("base").at("shift"),
            "the machine was 2.00x slower: 5 unchanged rows (2.00x to 2.00x)");
  EXPECT_EQ(core.at("rows").at("over_base").at(5), 2.4);
  EXPECT_EQ(core.at("rows").at("net_ratio").at(5), 1.2);
  EXPECT_TRUE(core.at("rows").at("net_ratio").at(0).is_null());
}

TEST(PageData, GroupsFailuresWithNewOnesFirst) {
  Record fresh = test::failed("fresh");
  fresh.accuracy->diagnosis = Diagnosis{"zero_point", "as if zero_point were 0", 1};
  const auto parts = parts_of(
      page_parts({run_of("2026-01-01", {test::failed("a"), test::failed("b"), test::passed("fresh")}),
                  run_of("2026-01-02", {test::failed("a"), test::failed("b"), fresh})}));
  const json& core = parts.at("core");
  EXPECT_EQ(word(core.at("rows").at("failure"), 0), "FAIL wrong value");
  EXPECT_EQ(word(core.at("rows").at("failure"), 2), "FAIL zero point");
  const json& groups = core.at("devices").at(0).at("tracks").at(0).at("failures");
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups.at(0).at("name"), "FAIL zero point");
  EXPECT_EQ(groups.at(0).at("new"), 1);
  EXPECT_EQ(groups.at(0).at("story"), "as if zero_point were 0");
  EXPECT_EQ(groups.at(1).at("rows"), 2);
  EXPECT_EQ(groups.at(1).at("new"), 0);
  EXPECT_EQ(groups.at(1).at("text"), "2 of 3 rows of shuffle: wrong value");
}

TEST(PageData, SumsTheStepsOfModels) {
  Record up = test::timed("up", "auto", 10), down = test::timed("down", "auto", 4);
  for (Record* row : {&up, &down}) {
    row->info.model = "net";
    row->info.layer = row->info.name;
    row->info.calls = 2;
  }
  down.info.calls = 0;
  const auto parts = parts_of(page_parts({run_of("2026-01-01", {up, down})}));
  const json& models = parts.at("core").at("devices").at(0).at("tracks").at(0).at("models");
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(models.at(0).at("model"), "net");
  EXPECT_EQ(models.at(0).at("setting"), "shuffle, i8, hot");
  EXPECT_TRUE(models.at(0).at("context").is_null()) << "its rows have no position";
  EXPECT_EQ(models.at(0).at("us"), 20);
  EXPECT_EQ(models.at(0).at("at_ceilings_us"), 2.5);
  EXPECT_EQ(models.at(0).at("lacking"), json::parse(R"(["down"])"));
  EXPECT_EQ(models.at(0).at("ops").at(0).at("gain_us"), 17.5);
}

TEST(PageData, TellsTheKindOfRunOfEachTrack) {
  RunReport robust = run_of("2026-01-02", {test::timed("a", "fused", 2)});
  robust.run.robust_access = true;
  RunReport profiled = run_of("2026-01-03", {test::timed("a", "fused", 2)});
  profiled.run.device.as_if = "phone";
  const auto parts =
      parts_of(page_parts({run_of("2026-01-01", {test::timed("a", "fused", 2)}), robust, profiled}));
  const json& devices = parts.at("core").at("devices");
  const json& tracks = devices.at(0).at("tracks");
  EXPECT_EQ(tracks.at(0).at("kind"), "plain");
  EXPECT_EQ(tracks.at(1).at("kind"), "with robust access (--robust-access)");
  EXPECT_EQ(devices.at(1).at("tracks").at(0).at("kind"), "with the limits of phone (--as-if)");
}

TEST(PageData, TellsTimesBoundsAndChangedHashesOfEveryNight) {
  Record slow = test::timed("a", "fused", 4), fast = test::timed("a", "fused", 2);
  slow.perf->output_hash = "another";
  slow.accuracy.emplace().err_over_bound = 0.25;
  const auto parts = parts_of(page_parts({run_of("2026-01-01", {fast}), run_of("2026-01-02", {slow})}));
  const json& row = parts.at("history-0").at("rows").at(0);
  EXPECT_EQ(row.at("t"), json::parse("[2, 4]"));
  EXPECT_EQ(row.at("c"), json::parse("[0.75, 0.75]"));
  EXPECT_EQ(row.at("h"), json::parse("[0, 1]"));
}

TEST(PageData, KnowsNoErrorOfANightInWhichNothingWasJudged) {
  Record spent = test::passed("a"), exact = test::passed("a");
  spent.accuracy->err_over_bound = 0.25;
  const Record crashed = test::without_answer("a", Status::Crash, "the process crashed");
  const auto parts = parts_of(page_parts(
      {run_of("2026-01-01", {spent}), run_of("2026-01-02", {crashed}), run_of("2026-01-03", {exact})}));
  EXPECT_EQ(parts.at("history-0").at("rows").at(0).at("e"), json::parse("[0.25, null, 0]"));
}

TEST(PageData, TellsTheTunablesOfARowOnEachDevice) {
  Record tuned = test::timed("a", "fused", 2);
  tuned.info.tuned = "local_size=64 (line 12)";
  RunReport other = run_of("2026-01-01", {test::timed("a", "fused", 2)});
  other.run.device.uuid = "ff";
  const auto parts = parts_of(page_parts({run_of("2026-01-01", {tuned}), other}));
  const json& rows = parts.at("core").at("rows");
  EXPECT_EQ(rows.at("case"), json::parse("[0, 0]"));
  EXPECT_EQ(word(rows.at("tunables"), 0), "local_size=64");
  EXPECT_EQ(word(rows.at("tunables"), 1), "");
}

TEST(PageData, GivesEachDeviceItsPartsAndANameOfItsOwn) {
  RunReport other = run_of("2026-01-01", {test::passed("a")});
  other.run.device.uuid = "ff";
  const auto parts = parts_of(page_parts({run_of("2026-01-01", {test::passed("a")}), other}));
  const json& core = parts.at("core");
  EXPECT_EQ(core.at("devices").at(0).at("short_name"), "Acme GPU 9");
  EXPECT_EQ(core.at("devices").at(1).at("short_name"), "Acme GPU 9 #2");
  EXPECT_EQ(core.at("rows").at("case"), json::parse("[0, 0]")) << "a case is one on all devices";
  EXPECT_TRUE(parts.contains("facts-1") && parts.contains("samples-1") && parts.contains("history-1"));
}

// Puts a text into every text field, and its own number behind it.
class TextFiller {
 public:
  explicit TextFiller(std::string text) : text_(std::move(text)) {}

  template <class T>
  void operator()(const char* /*name*/, T& value, FieldRule /*rule*/ = {}) {
    fill(value);
  }
  int filled() const { return filled_; }

 private:
  void fill(std::string& value) {
    if (value != "perf" && value != "accu") value = text_;
    ++filled_;
  }
  void fill(std::map<std::string, std::string>& value) { value = {{text_, text_}}; }
  template <class T>
  void fill(std::optional<T>& value) {
    if (!value) value.emplace();
    fill(*value);
  }
  template <class T>
  void fill(std::vector<T>& value) {
    if constexpr (std::is_class_v<T>) {
      value.resize(1);
      fill(value.front());
    }
  }
  template <class T, std::size_t N>
  void fill(std::array<T, N>& /*numbers*/) {}
  template <class T>
  requires std::is_class_v<T>
  void fill(T& value) { test::all_fields(*this, value); }
  template <class T>
  requires(!std::is_class_v<T>) void fill(T& /*value*/) {}

  std::string text_;
  int filled_ = 0;
};

const std::string hostile =
    "<script>alert(1)</script><!-- \"'&<img src=x onerror=alert(2)>\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAE\x1b "
    "]]>";

RunReport hostile_report() {
  RunReport report = run_of("2026-01-02", {test::timed("a", "fused", 2), test::failed("b")});
  TextFiller filler(hostile);
  test::all_fields(filler, report.run);
  for (Record& record : report.records) test::all_fields(filler, record);
  EXPECT_GT(filler.filled(), 100);
  return report;
}

TEST(PageData, LetsNoTextBecomeMarkup) {
  const std::vector<PagePart> parts = page_parts({hostile_report()});
  std::string html = page_html(parts);
  for (const PagePart& part : parts) {
    EXPECT_EQ(part.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-0123456789"), part.name.npos);
    EXPECT_EQ(
        part.packed.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="),
        part.packed.npos);
  }
  EXPECT_THAT(html, Not(HasSubstr("alert(")));
  // What is left without the data is the same in every page.
  const std::string empty = page_html({});
  for (const PagePart& part : parts) {
    const std::size_t begin =
        html.find(R"(<script type="application/octet-stream" class="data" id=")" + part.name);
    html.erase(begin, html.find("</script>\n", begin) + 10 - begin);
  }
  EXPECT_EQ(html, empty);
}

TEST(PageData, KeepsHostileTextAsItMayBeShown) {
  const auto parts = parts_of(page_parts({hostile_report()}));
  const json& core = parts.at("core");
  EXPECT_EQ(core.at("cases").at("id").at(0), printable(hostile));
  EXPECT_EQ(core.at("devices").at(0).at("name"), printable(hostile));
  EXPECT_THAT(parts.at("facts-0").dump(), HasSubstr(json(printable(hostile)).dump()));
}

TEST(PageHtml, ForbidsWhatItDoesNotNeedAndFetchesNothing) {
  const std::string html = page_html({});
  EXPECT_THAT(html, HasSubstr("Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-"));
  const std::string markup = html.substr(0, html.find("<style>")) + html.substr(html.find("</style>"), 6000);
  EXPECT_THAT(markup, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("innerHTML =")));
  EXPECT_THAT(html, HasSubstr("Licence of D3"));
  EXPECT_THAT(html, HasSubstr("Redistributions of source code must retain"));
}

TEST(Base64, IsThatOfTheStandard) {
  // RFC 4648, section 10
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xFF\xFE\xFD"), "//79");
}

TEST(JsonNumber, KeepsFiveDigitsAndNamesWhatIsNotFinite) {
  EXPECT_EQ(json_number(123.456789).dump(), "123.46");
  EXPECT_EQ(json_number(0.000012345678).dump(), "1.2346e-05");
  EXPECT_EQ(json_number(123456789).dump(), "123460000");
  EXPECT_EQ(json_number(-2.5).dump(), "-2.5");
  EXPECT_EQ(json_number(0).dump(), "0");
  EXPECT_EQ(json_number(3, 3).dump(), "3");
  EXPECT_EQ(json_number(std::numeric_limits<double>::infinity()).dump(), "\"inf\"");
  EXPECT_EQ(json_number(std::numeric_limits<double>::quiet_NaN()).dump(), "\"nan\"");
}

TEST(WordColumn, TellsEachWordOnce) {
  WordColumn column;
  for (const char* word : {"b", "a", "b", ""}) column.add(word);
  EXPECT_EQ(json_dump(column.json()), R"({"words":["b","a",""],"rows":[0,1,0,2]})");
}

}  // namespace

}  // namespace assay
