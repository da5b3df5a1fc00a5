#include "harness/report/journal/journal.h"
#include "harness/report/writers/writers.h"
#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"
#include "tests/support/report_text.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tree_shader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace assay::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The last workgroup joins what all have stored; it is found by a counter in scratch.
constexpr const char* joining_cases = R"(op: sdpa
cases:
  - name: timed
    mode: perf
    S: 1
    H: 4
    Hkv: 2
    D: 32
    start_pos: 255
    dtype: f16
    impl: coopmat
    tune: {plain: 1, scores: 2, subgroups: 2, splits: 4}
)";

TEST(Run, PassesAndLeavesEveryReport) {
  const TemporaryFolder folder;
  const ProcessResult result = assay({"run", folder.write("c.yaml", shuffle_cases), "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("PASS"));
  for (const char* name :
       {"journal.jsonl", "accu.csv", "perf.csv", "history.csv", "perf.json", "junit.xml", "run.json"}) {
    EXPECT_TRUE(std::filesystem::exists(device_folder(folder / "out") / name)) << name;
  }
  const auto run = nlohmann::json::parse(read_file(device_folder(folder / "out") / "run.json"));
  EXPECT_FALSE(run.at("device").at("name").get<std::string>().empty());
}

TEST(Run, ReportsAreAFunctionOfTheJournal) {
  const TemporaryFolder folder;
  ASSERT_EQ(assay({"run", "--ceilings", "none", folder.write("c.yaml", perf_cases), "--out", folder / "out",
                   "--budget", "0.1"})
                .exit_code,
            0);
  const std::filesystem::path reports = device_folder(folder / "out");
  const RunReport report = read_journal(reports / "journal.jsonl");
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(read_file(reports / "accu.csv"), test::accu_csv(report));
  EXPECT_EQ(read_file(reports / "perf.csv"), test::perf_csv(report));
  EXPECT_EQ(read_file(reports / "perf.json"), test::perf_json(report));
  EXPECT_EQ(read_file(reports / "junit.xml"), test::junit_xml(report));
  EXPECT_EQ(read_file(reports / "run.json"), run_json(report));
}

/// Two of its programs at once would count in the same scratch, and an honest kernel would be a cheat.
TEST(Run, HasNoThroughputOfAProgramThatJoinsInOneDispatch) {
  const TemporaryFolder folder;
  const ProcessResult result = assay({"run", "--ceilings", "none", folder.write("c.yaml", joining_cases),
                                      "--out", folder / "out", "--budget", "0.05"});
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  const RunReport report = read_journal(device_folder(folder / "out") / "journal.jsonl");
  ASSERT_EQ(report.records.size(), 1U);
  ASSERT_TRUE(report.records[0].perf.has_value());
  EXPECT_GT(report.records[0].perf->time_us_p50, 0);
  EXPECT_EQ(report.records[0].perf->throughput_us, 0);
}

TEST(Run, ReplaysRowsAndSaysHowToReplayOne) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", perf_cases);
  const ProcessResult result = assay({"run", cases, "--replay", "4", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("replay  4 rows, 4 runs each: all right and equal"));
  const RunReport report = read_journal(device_folder(folder / "out") / "journal.jsonl");
  ASSERT_EQ(report.records.size(), 4U) << "the case and three other sizes of workgroup";
  for (const Record& record : report.records) {
    EXPECT_EQ(record.accuracy->replay->runs, 4) << record.info.id;
    EXPECT_EQ(record.info.mode, "accu");
  }
  const Record& last = report.records.back();
  EXPECT_THAT(last.info.id, ::testing::EndsWith("/fused/local_size256"));
  EXPECT_THAT(last.repro, HasSubstr("--filter '" + last.info.id + "' --mode accu --replay 4"));
  const ProcessResult again = assay({"list", cases, "--filter", last.info.id, "--mode", "accu"});
  EXPECT_EQ(again.exit_code, 2) << "only a replay has that row";
  const ProcessResult row =
      assay({"run", cases, "--filter", last.info.id, "--mode", "accu", "--replay", "4", "--dry-run"});
  EXPECT_THAT(row.out, HasSubstr("a run would have 1 row"));
}

TEST(Run, SetsValuesOfCases) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", shuffle_cases);
  const ProcessResult result =
      assay({"run", cases, "--filter", "*/2x24*", "--set", "shape=[1, 8, 3, 3]", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  const RunReport report = read_journal(device_folder(folder / "out") / "journal.jsonl");
  ASSERT_EQ(report.records.size(), 2U);
  EXPECT_EQ(report.records[0].info.shape, "1x8x3x3");
  EXPECT_THAT(report.records[0].repro, HasSubstr("--set 'shape=[1, 8, 3, 3]'"));
  const ProcessResult again =
      assay({"list", cases, "--filter", report.records[0].info.id, "--set", "shape=[1, 8, 3, 3]"});
  EXPECT_EQ(again.out, report.records[0].info.id + "\n");
}

TEST(Run, AKernelThatDoesNotSkipTheGuardsIsToldSo) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "mine/common");
  folder.write("mine/common/guards.glslh",
               "#ifndef ASSAY_GUARDS\n#define ASSAY_GUARDS\nconst uint guard_words = 0u;\n#endif\n");
  const ProcessResult result = assay({"run", "--filter", "q8ta_relu/pairs/*4C.4C*", "--max-failures", "1",
                                      "--shaders", folder / "mine", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("does not skip the guard before each buffer's data: add guard_words"));
}

TEST(Run, GoogleBenchmarksConsoleIsThereWhenAsked) {
  const TemporaryFolder folder;
  const ProcessResult result = assay({"run", "--ceilings", "none", folder.write("c.yaml", perf_cases),
                                      "--out", folder / "out", "--budget", "0.1", "--benchmark"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("q8ta_pixel_shuffle/timed/4W4C.4W4C/fused"));
  EXPECT_THAT(result.out, HasSubstr("_median"));
}

TEST(Run, ReportCommandWritesTheSameBytesAgain) {
  const TemporaryFolder folder;
  ASSERT_EQ(assay({"run", folder.write("c.yaml", shuffle_cases), "--out", folder / "out"}).exit_code, 0);
  const std::filesystem::path reports = device_folder(folder / "out");
  const std::string before = read_file(reports / "accu.csv");
  std::filesystem::remove(reports / "accu.csv");
  EXPECT_EQ(assay({"report", reports.string()}).exit_code, 0);
  EXPECT_EQ(read_file(reports / "accu.csv"), before);
}

TEST(Run, AKillLosesNothingThatWasFinished) {
  const TemporaryFolder folder;
  const int pid = start({.words = {ASSAY_BINARY, "run", std::string(ASSAY_SOURCE_DIR) + "/cases", "--mode",
                                   "accu", "--out", folder / "out"}});
  const std::filesystem::path out = folder / "out";
  const auto passed = [&] {
    if (!std::filesystem::exists(out)) return false;
    return read_file(device_folder(out) / "journal.jsonl").find(R"("status":"PASS")") != std::string::npos;
  };
  for (int i = 0; i < 3000 && !passed(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);

  const ProcessResult report = assay({"report", device_folder(out).string()});
  EXPECT_EQ(report.exit_code, 3) << report.err;  // rows are MISSING
  EXPECT_THAT(report.out, HasSubstr("MISSING"));
  EXPECT_THAT(read_file(device_folder(out) / "accu.csv"), HasSubstr(",PASS,"));
}

TEST(Run, SelectingNothingIsAUsageError) {
  const TemporaryFolder folder;
  const ProcessResult result =
      assay({"run", folder.write("c.yaml", shuffle_cases), "--filter", "nothing*", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("choosing cases: none of 4 is selected"));
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST(Run, NoVulkanDeviceIsExitCode77) {
  const TemporaryFolder folder;
  const ProcessResult result =
      assay({"run", folder.write("c.yaml", shuffle_cases), "--out", folder / "out"},
            {{"VK_DRIVER_FILES", "/nonexistent.json"}, {"VK_ICD_FILENAMES", "/nonexistent.json"}});
  EXPECT_EQ(result.exit_code, 77);
  EXPECT_THAT(result.err, HasSubstr("Vulkan"));
}

TEST(Run, AnUnknownDeviceIsAUsageErrorThatListsTheDevices) {
  const TemporaryFolder folder;
  const ProcessResult result = assay(
      {"run", folder.write("c.yaml", shuffle_cases), "--device", "no such device", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("no such device"));
  EXPECT_THAT(result.err, HasSubstr("0"));
}

TEST(Run, TheWrongDeviceIsRefused) {
  const TemporaryFolder folder;
  const ProcessResult result = assay({"run", folder.write("c.yaml", shuffle_cases), "--expect-device",
                                      "^no such gpu$", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("wrong device"));
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST(Run, AnOutputFolderThatCannotBeMadeIsInfrastructure) {
  const TemporaryFolder folder;
  folder.write("file", "");
  const ProcessResult result =
      assay({"run", folder.write("c.yaml", shuffle_cases), "--out", folder / "file/out"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("file/out"));
  EXPECT_THAT(result.err, HasSubstr("Not a directory"));
}

TEST(Run, AFullDiskIsInfrastructureAndSaysSo) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", shuffle_cases);
  std::filesystem::create_directory(folder / "small");
  // A tmpfs of 16 KiB, in a mount namespace of its own: nothing is left behind.
  const std::string script = "mount -t tmpfs -o size=16k none '" + (folder / "small").string() +
                             "' && exec " + ASSAY_BINARY + " run '" + cases + "' --out '" +
                             (folder / "small/out").string() + "'";
  const ProcessResult result =
      run({.words = {"unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script}});
  if (result.err.find("unshare") != std::string::npos || result.err.find("mount:") != std::string::npos) {
    GTEST_SKIP() << "this machine allows no private mounts: " << result.err;
  }
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("No space left on device"));
}

TEST(Run, OneBadFileHidesNoOthersCases) {
  const TemporaryFolder folder;
  folder.write("cases/good.yaml", shuffle_cases);
  folder.write("cases/bad.yaml", "op: q8ta_pixel_shuffle\ncases:\n  - name: a\n    shpae: [1, 16, 4, 4]\n");
  const ProcessResult result = assay({"run", folder / "cases", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("bad.yaml:4:5: error: unknown key 'shpae'"));
  EXPECT_THAT(result.err, HasSubstr("did you mean 'shape'?"));
  EXPECT_THAT(result.out, HasSubstr("4 cases"));
}

TEST(Run, ACaseThatCannotFailIsMistrusted) {
  const TemporaryFolder folder;
  const ProcessResult result =
      assay({"run", folder.write("c.yaml", mistrusted_cases), "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("MISTRUSTED"));
  EXPECT_THAT(result.out, HasSubstr("c.yaml:3"));
}

TEST(Run, AShaderThatDoesNotCompileFailsWithItsLine) {
  const TemporaryFolder folder;
  folder.write("shaders/q8ta_pixel_shuffle.comp", "#version 450\nvoid main() {\n  int x = y;\n}\n");
  const ProcessResult result = assay({"run", folder.write("c.yaml", shuffle_cases), "--shaders",
                                      folder / "shaders", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("q8ta_pixel_shuffle.comp:3"));
  EXPECT_THAT(result.out, HasSubstr("int x = y;"));
}

TEST(Run, AWrongShaderFailsWithPlaceAndRepro) {
  const TemporaryFolder folder;
  std::string source = read_file(ASSAY_SOURCE_DIR "/shaders/common/requantize.glslh");
  const std::string right = "ivec4(by.x_zero_point)";
  ASSERT_NE(source.find(right), std::string::npos);
  source.replace(source.find(right), right.size(), "ivec4(0)");
  folder.write("shaders/common/requantize.glslh", source);
  const ProcessResult result = assay({"run", folder.write("c.yaml", shuffle_cases), "--shaders",
                                      folder / "shaders", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("FAIL"));
  EXPECT_THAT(result.out, HasSubstr("y[0, 0, 0, 0]: expected"));
  EXPECT_THAT(
      result.out,
      HasSubstr("--filter 'q8ta_pixel_shuffle/small/1x16x4x4/4W4C.4W4C/fused' --mode accu --shaders"));
}

TEST(Run, AFolderOfShadersThatNobodyUsesIsAUsageError) {
  const TemporaryFolder folder;
  folder.write("mine/copy.comp", "#version 450\nvoid main() {}\n");
  folder.write("mine/q8ta_pixel_shufle.comp", "#version 450\nvoid main() {}\n");
  const std::string cases = folder.write("c.yaml", shuffle_cases);
  for (const std::string option : {"--shaders", "--versus-shaders"}) {
    const ProcessResult result = assay({"run", cases, option, folder / "mine", "--out", folder / "out"});
    EXPECT_EQ(result.exit_code, 2);
    if (option == "--versus-shaders") continue;  // these cases are not timed, which is said first
    EXPECT_THAT(result.err,
                HasSubstr("taking shaders from --shaders '" + (folder / "mine").string() +
                          "': none of its files is used. It holds: copy.comp, q8ta_pixel_shufle.comp. "
                          "The selected cases run: q8ta_pixel_shuffle.comp"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "out")) << "nothing was run";
  }
  const ProcessResult versus = assay({"run", "--ceilings", "none", folder.write("p.yaml", perf_cases),
                                      "--versus-shaders", folder / "mine", "--out", folder / "out"});
  EXPECT_EQ(versus.exit_code, 2);
  EXPECT_THAT(versus.err, HasSubstr("taking shaders from --versus-shaders"));
}

TEST(Run, AKernelIsTakenFromAnyFolderOfAFolderOfShaders) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", shuffle_cases);
  folder.write("mine/my/q8ta_pixel_shuffle.comp", tree_shader("q8ta_pixel_shuffle.comp"));
  const auto run = [&](const std::string& out) {
    return assay({"run", cases, "--shaders", folder / "mine", "--ceilings", "none", "--out", folder / out});
  };
  const ProcessResult nested = run("first");
  EXPECT_EQ(nested.exit_code, 0) << nested.err;
  EXPECT_THAT(nested.err, HasSubstr("/mine': my/q8ta_pixel_shuffle.comp\n"));
  folder.write("mine/q8ta_pixel_shuffle.comp", tree_shader("q8ta_pixel_shuffle.comp"));
  const ProcessResult twice = run("second");
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err,
              HasSubstr("looking for the kernel 'q8ta_pixel_shuffle.comp': '" +
                        (folder / "mine/my/q8ta_pixel_shuffle.comp").string() + "' and '" +
                        (folder / "mine/q8ta_pixel_shuffle.comp").string() + "' have the same file name"));
}

TEST(Run, WhatIsTakenFromAFolderOfShadersIsListed) {
  const TemporaryFolder folder;
  folder.write("mine/common/requantize.glslh",
               read_file(ASSAY_SOURCE_DIR "/shaders/common/requantize.glslh"));
  folder.write("mine/copy.comp", "#version 450\nvoid main() {}\n");
  const ProcessResult result = assay(
      {"run", folder.write("c.yaml", shuffle_cases), "--shaders", folder / "mine", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("shaders   from '" + (folder / "mine").string() +
                                    "': common/requantize.glslh; not used: copy.comp\n"));
}

// How long it takes is printed by a benchmark (tests/benchmarks).
TEST(Run, AFilteredRunBeginsOneRowAndCompilesOneShaderOnce) {
  const TemporaryFolder folder;
  const std::filesystem::path cache = folder / "cache/assay/spirv";
  std::map<std::filesystem::path, std::filesystem::file_time_type> compiled;
  for (const char* name : {"first", "second"}) {
    const ProcessResult result = assay({"run", folder.write("c.yaml", shuffle_cases), "--filter",
                                        "*/1x16x4x4/4W4C.4W4C/fused", "--out", folder / name},
                                       {{"XDG_CACHE_HOME", (folder / "cache").string()}});
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    EXPECT_EQ(read_journal(device_folder(folder / name) / "journal.jsonl").records.size(), 1U);
    for (const auto& entry : std::filesystem::directory_iterator(cache)) {
      const auto [known, is_new] = compiled.try_emplace(entry.path(), entry.last_write_time());
      EXPECT_EQ(known->second, entry.last_write_time()) << "the second run takes it from the cache";
    }
    EXPECT_EQ(compiled.size(), 1U);
  }
}

TEST(Run, DumpsTensors) {
  const TemporaryFolder folder;
  const ProcessResult result =
      assay({"run", folder.write("c.yaml", shuffle_cases), "--filter", "*1x16x4x4/4W4C.4W4C*", "--dump",
             folder / "dump", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* name : {"x.npy", "y.got.npy", "y.expected.npy", "y.error.npy", "0.pixel_shuffle.spvasm"}) {
    EXPECT_TRUE(std::filesystem::exists(device_folder(folder / "dump") / name)) << name;
  }
}

TEST(Run, WritesNoColourIntoAPipe) {
  const TemporaryFolder folder;
  const ProcessResult result = assay({"run", folder.write("c.yaml", shuffle_cases), "--out", folder / "out"});
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b[")));
}

TEST(Run, TwoRunsHaveEqualHashes) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", shuffle_cases);
  ASSERT_EQ(assay({"run", cases, "--out", folder / "a"}).exit_code, 0);
  ASSERT_EQ(assay({"run", cases, "--out", folder / "b"}).exit_code, 0);
  const RunReport a = read_journal(device_folder(folder / "a") / "journal.jsonl");
  const RunReport b = read_journal(device_folder(folder / "b") / "journal.jsonl");
  ASSERT_EQ(a.records.size(), 4U);
  for (std::size_t i = 0; i < a.records.size(); ++i) {
    EXPECT_EQ(a.records[i].accuracy->input_hash, b.records[i].accuracy->input_hash);
    EXPECT_EQ(a.records[i].accuracy->output_hash, b.records[i].accuracy->output_hash);
  }
  EXPECT_EQ(a.records[0].accuracy->output_hash, a.records[1].accuracy->output_hash)
      << "forms share one data set";
}

TEST(Run, ASeedChangesTheData) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", shuffle_cases);
  ASSERT_EQ(assay({"run", cases, "--out", folder / "a"}).exit_code, 0);
  ASSERT_EQ(assay({"run", cases, "--seed", "7", "--out", folder / "b"}).exit_code, 0);
  const RunReport a = read_journal(device_folder(folder / "a") / "journal.jsonl");
  const RunReport b = read_journal(device_folder(folder / "b") / "journal.jsonl");
  EXPECT_NE(a.records[0].accuracy->input_hash, b.records[0].accuracy->input_hash);
}

TEST(Run, ValidationFindsNothingToSay) {
  const TemporaryFolder folder;
  const ProcessResult result =
      assay({"run", "--ceilings", "none", folder.write("c.yaml", shuffle_cases),
             folder.write("p.yaml", perf_cases), "--validation", "--budget", "0.1", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  for (const Record& record : read_journal(device_folder(folder / "out") / "journal.jsonl").records) {
    EXPECT_EQ(record.validation_messages, 0) << record.info.id;
  }
}

/// Two clamps of int8 values, which enter and leave in the forms of the case.
const std::string clamps = R"(chain: clamps
tensors: {x: {dtype: i8, shape: [1, 4, 2, 4], qparams: {scale: 0.05, zero_point: 3}}}
nodes:
  - {name: first, op: q8ta_relu, with: {y: {scale: 0.05, zero_point: 3}}, inputs: {x: x}, outputs: {y: a}}
  - {name: second, op: q8ta_relu, with: {y: {scale: 0.05, zero_point: 3}}, inputs: {x: a}, outputs: {y: b}}
cases:
  - {name: one, impl: {each: [optimal, fastest]}, forms: {x: buffer/4C1W, b: buffer/4C1W}}
  - {name: two, impl: fastest, forms: {x: buffer/4C1W, b: buffer/4C1W}, seed: 2}
)";

class ChainRuns : public ::testing::Test {
 protected:
  ProcessResult run(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> command{"run", file_, "--out", folder_ / out};
    command.insert(command.end(), more.begin(), more.end());
    return assay(command);
  }
  /// Times nodes that suffice to plan by time.
  ProcessResult run_times(const std::string& out, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> options{"--nodes",    "--mode", "perf",     "--budget",          "0.01",
                                     "--ceilings", "none",   "--filter", "*first/4C1W.4C1W/*"};
    options.insert(options.end(), more.begin(), more.end());
    return run(out, options);
  }
  std::string path(const std::string& name) const { return folder_ / name; }

 private:
  TemporaryFolder folder_;
  std::string file_ = folder_.write("clamps.yaml", clamps);
};

/// Lavapipe's energy is told only where a user may read RAPL: either way the run says so, and is a run.
TEST(RunWithEnergy, NamesTheSourceOrWhyThereIsNone) {
  const TemporaryFolder folder;
  const std::string file = folder.write("c.yaml", perf_cases);
  const ProcessResult result = assay({"run", file, "--mode", "perf", "--budget", "0.01", "--ceilings", "none",
                                      "--energy", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  const RunReport report = read_journal(device_folder(folder / "out") / "journal.jsonl");
  ASSERT_NE(report.run.energy, "");
  EXPECT_THAT(result.out, HasSubstr("energy  " + report.run.energy));
  const bool is_told = !report.run.energy.starts_with("none: ");
  EXPECT_TRUE(is_told || report.run.energy.find("battery: ") != std::string::npos) << report.run.energy;
  for (const Record& record : report.records) {
    if (!record.perf) continue;
    EXPECT_EQ(record.perf->energy || !record.perf->no_energy.empty(), is_told) << record.info.id;
  }
}

TEST_F(ChainRuns, ArePlannedByTheTimesOfTheirNodes) {
  const ProcessResult untimed = run("untimed", {});
  EXPECT_EQ(untimed.exit_code, 0) << untimed.err;
  EXPECT_THAT(untimed.out, HasSubstr("SKIPPED             2"));
  EXPECT_THAT(untimed.out, HasSubstr("--nodes --mode perf --out times"));
  const ProcessResult nodes = run_times("times");
  ASSERT_EQ(nodes.exit_code, 0) << nodes.err;
  const ProcessResult fastest = run("fastest", {"--times", path("times")});
  EXPECT_EQ(fastest.exit_code, 0) << fastest.err << fastest.out;
  EXPECT_THAT(fastest.out, HasSubstr("PASS                3"));
  const ProcessResult shown = assay({"show", path("fastest"), "*one*fastest"});
  EXPECT_THAT(shown.out, HasSubstr("first (q8ta_relu/fused): x as buffer/4C1W -> a as buffer/4C1W"));
  EXPECT_THAT(shown.out, HasSubstr("times from      run 2"));
  const ProcessResult graph = assay({"show", path("fastest"), "*one*fastest", "--dot"});
  EXPECT_THAT(graph.out, HasSubstr("step0 -> step1 [label=\"a as buffer/4C1W\"]"));
  EXPECT_THAT(graph.out, Not(HasSubstr("PASS")));
}

TEST_F(ChainRuns, DoNotTakeTheNewestRunOfTheirOwnFolder) {
  ASSERT_EQ(run_times("out").exit_code, 0);
  const ProcessResult newest = run("out", {"--overwrite", "--times", path("out")});
  EXPECT_EQ(newest.exit_code, 2);
  EXPECT_THAT(newest.err, HasSubstr("which this run is going to be; name the run with the times: --times '"));
  const std::string named = newest.err.substr(newest.err.rfind("--times '") + 9);
  const ProcessResult itself = run("out", {"--overwrite", "--times", named.substr(0, named.find('\''))});
  EXPECT_EQ(itself.exit_code, 0) << itself.err;
}

TEST_F(ChainRuns, AreResumedAndMergedWithTheSameTimesOnly) {
  ASSERT_EQ(run_times("times").exit_code, 0);
  const std::vector<std::string> by_time{"--times", path("times"), "--mode", "accu"};
  const auto part = [&](const std::string& one) {
    std::vector<std::string> options{"--shard", one + "/2"};
    options.insert(options.end(), by_time.begin(), by_time.end());
    return options;
  };
  ASSERT_EQ(run("whole", by_time).exit_code, 0);
  EXPECT_EQ(assay({"run", "--resume", path("whole")}).exit_code, 0);
  ASSERT_EQ(run("first", part("1")).exit_code, 0);
  ASSERT_EQ(run("second", part("2")).exit_code, 0);
  EXPECT_EQ(assay({"merge", path("merged"), path("first"), path("second")}).exit_code, 0);

  ASSERT_EQ(run_times("times", {"--overwrite"}).exit_code, 0);
  const ProcessResult resumed = assay({"run", "--resume", path("whole")});
  EXPECT_EQ(resumed.exit_code, 2);
  EXPECT_THAT(resumed.err, HasSubstr("the report in --times have changed; run the cases again"));
  ASSERT_EQ(run("other", part("2")).exit_code, 0);
  const ProcessResult merged = assay({"merge", path("mixed"), path("first"), path("other")});
  EXPECT_EQ(merged.exit_code, 2);
  EXPECT_THAT(merged.err, HasSubstr("the report in --times differ"));
}

TEST_F(ChainRuns, NeedAReportWithTimes) {
  const ProcessResult missing = run("out", {"--times", path("nowhere")});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("nowhere"));
  ASSERT_EQ(run("accuracy", {"--impl", "optimal"}).exit_code, 0);
  const ProcessResult untimed = run("out", {"--times", path("accuracy")});
  EXPECT_EQ(untimed.exit_code, 2);
  EXPECT_THAT(untimed.err, HasSubstr("no row of '"));
  const ProcessResult graph = assay({"show", path("accuracy"), "*one*fastest", "--dot"});
  EXPECT_EQ(graph.exit_code, 2);
}

}  // namespace

}  // namespace assay::test
