#include "harness/tensor/npy/npy.h"
#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace assay::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Commands, ListPrintsIds) {
  const TemporaryFolder folder;
  const ProcessResult result = assay({"list", folder.write("c.yaml", shuffle_cases)});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            "q8ta_pixel_shuffle/small/1x16x4x4/4W4C.4W4C/fused\n"
            "q8ta_pixel_shuffle/small/1x16x4x4/4W4C.4C1W/fused\n"
            "q8ta_pixel_shuffle/small/2x24x8x5/4W4C.4W4C/fused\n"
            "q8ta_pixel_shuffle/small/2x24x8x5/4W4C.4C1W/fused\n");
}

/// Sizes that fit may make an output that does not: run, it took the worker down, and other rows with it.
TEST(Commands, ListRefusesATensorThatIsTooLarge) {
  const TemporaryFolder folder;
  const ProcessResult result =
      assay({"list", folder.write("c.yaml",
                                  "op: q8ta_conv2d_transposed\n"
                                  "cases:\n"
                                  "  - {name: big, N: 128, C: 1, H: 128, W: 128, OC: 128, "
                                  "kernel: [1, 1], stride: [256, 256], x: {scale: 1, "
                                  "zero_point: 0}}\n")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err,
              HasSubstr("c.yaml:3:6: error: tensor 'y': shape 128x128x32513x32513 has more than 2^40"));
}

TEST(Commands, ListTakesAFilter) {
  const TemporaryFolder folder;
  const ProcessResult result = assay({"list", folder.write("c.yaml", shuffle_cases), "--filter", "*-*4C1W*"});
  EXPECT_EQ(result.out,
            "q8ta_pixel_shuffle/small/1x16x4x4/4W4C.4W4C/fused\n"
            "q8ta_pixel_shuffle/small/2x24x8x5/4W4C.4W4C/fused\n");
}

TEST(Commands, ListTakesADeviceForWhatDependsOnOne) {
  const TemporaryFolder folder;
  const std::string file = folder.write("c.yaml", shuffle_cases);
  const ProcessResult on_device = assay({"list", file, "--long", "--device", "0"});
  EXPECT_EQ(on_device.exit_code, 0) << on_device.err;
  EXPECT_EQ(on_device.out, assay({"list", file, "--long"}).out) << "nothing here does";
  EXPECT_EQ(assay({"list", file, "--device", "0"}).exit_code, 2) << "without --long there is nothing to show";
  const ProcessResult unknown = assay({"list", file, "--long", "--device", "no such device"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no such device"));
}

TEST(Commands, SchemaIsJsonThatNamesTheOps) {
  const ProcessResult result = assay({"schema"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(nlohmann::json::accept(result.out));
  EXPECT_THAT(result.out, HasSubstr("q8ta_pixel_shuffle"));
}

TEST(Commands, OpsDescribesAnOp) {
  EXPECT_THAT(assay({"ops"}).out, HasSubstr("quantize_affine"));
  EXPECT_THAT(assay({"ops", "q8ta_pixel_shuffle"}).out, HasSubstr("upscale_factor"));
  const ProcessResult unknown = assay({"ops", "q8ta_pixel_shufle"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err,
              HasSubstr("there is no op 'q8ta_pixel_shufle'; did you mean 'q8ta_pixel_shuffle'?"));
}

TEST(Commands, OpsNamesTheFilesOfAnOp) {
  const std::string text = assay({"ops", "q8ta_pixel_shuffle"}).out;
  for (const char* file : {"cases/q8ta_pixel_shuffle.yaml", "ops/pixel_shuffle/q8ta_pixel_shuffle.cpp",
                           "references/pixel_shuffle/pixel_shuffle.h",
                           "shaders/pixel_shuffle/q8ta_pixel_shuffle.comp", "shaders/common/guards.glslh"}) {
    EXPECT_THAT(text, HasSubstr(std::string(file) + "\n"));
  }
}

TEST(Commands, OpsWritesItsPageInASourceTreeOnly) {
  const TemporaryFolder folder;
  const ProcessResult result =
      run({.words = {ASSAY_BINARY, "ops", "--markdown"}, .directory = folder.path()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("there is no folder cases/ here"));
  EXPECT_EQ(result.out, "");
}

TEST(Commands, DevicesPrintsWhatADeviceCanDo) {
  const ProcessResult result = assay({"devices"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* line :
       {"subgroup size", "shader cores", "int8 dot product", "cooperative matrix", "UUID", "driver",
        "3D textures         up to ", "rgba32f rgba16f rgba32i rgba16i rgba8i rgba8ui"}) {
    EXPECT_THAT(result.out, HasSubstr(line));
  }
}

TEST(Commands, DevicesMeasuresCeilingsAndKeepsThemUnlessTheyWereDisturbed) {
  const TemporaryFolder cache;
  const ProcessResult result =
      assay({"devices", "--ceilings", "--device", "0"}, {{"XDG_CACHE_HOME", cache.path().string()}});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* line :
       {"UUID", "footprint", "write", "64 KiB", "fp32", "int8 dot", "dispatch", "last cache"}) {
    EXPECT_THAT(result.out, HasSubstr(line));
  }
  const bool disturbed = result.out.find("not kept for later runs") != std::string::npos;
  EXPECT_EQ(std::filesystem::exists(cache.path() / "assay" / "ceilings"), !disturbed);
}

TEST(Commands, DevicesKeepsDisturbedCeilingsInTheStoreOfANight) {
  const TemporaryFolder folder;
  const ProcessResult result =
      assay({"devices", "--ceilings", "--device", "0", "--ceiling-store", folder / "night"},
            {{"XDG_CACHE_HOME", folder / "cache"}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, Not(HasSubstr("not kept for later runs")));
  EXPECT_FALSE(std::filesystem::is_empty(folder / "night"));
  EXPECT_FALSE(std::filesystem::exists(folder / "cache/assay/ceilings"));
}

TEST(Commands, DevicesAsJsonAreALineEachForScripts) {
  const ProcessResult result = assay({"devices", "--json"});
  EXPECT_EQ(result.exit_code, 0);
  const auto devices = nlohmann::json::parse(result.out);
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(std::ranges::count(result.out, '\n'), static_cast<std::ptrdiff_t>(devices.size()) + 2);
  const std::string text = assay({"devices"}).out;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    EXPECT_EQ(devices[i].at("index"), i);
    for (const char* field : {"name", "uuid", "driver"})
      EXPECT_THAT(text, HasSubstr(devices[i].at(field).get<std::string>())) << field;
    EXPECT_EQ(
        devices[i].at("slug").get<std::string>().find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"),
        std::string::npos);
  }
  EXPECT_EQ(assay({"devices", "--json", "--device", "no such device"}).out, "");
}

TEST(Commands, DevicesRefusesADeviceThatIsNotThere) {
  const ProcessResult result = assay({"devices", "--device", "no such device"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("selecting device 'no such device'"));
}

TEST(Commands, AnUnknownOptionIsAUsageError) {
  EXPECT_EQ(assay({"run", "--no-such-option"}).exit_code, 2);
  EXPECT_EQ(assay({}).exit_code, 2);
  EXPECT_EQ(assay({"--help"}).exit_code, 0);
}

/// It was taken as the name of the file to write.
TEST(Commands, AnOptionIsNoOtherOptionsValue) {
  const ProcessResult result = assay({"summary", "--model", "m", "--markdown", "--layers", "nowhere"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--markdown: needs a value, but '--layers' is an option"));
  EXPECT_FALSE(std::filesystem::exists("--layers"));
  EXPECT_EQ(assay({"list", "--filter", "--x"}).exit_code, 0) << "which is no option, but all ids except 'x'";
}

/// A file after a repeatable option was taken as another value of it, and all cases were selected.
TEST(Commands, ARepeatableOptionTakesOneValueEachTime) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", shuffle_cases);
  const std::string op = "q8ta_pixel_shuffle";
  const std::string all = assay({"list", cases}).out;
  ASSERT_THAT(all, HasSubstr(op + "/small/"));
  EXPECT_EQ(assay({"list", "--op", op, cases}).out, all);
  EXPECT_EQ(assay({"list", "--impl", "fused", cases}).out, all);
  EXPECT_EQ(assay({"list", "--tier", "smoke", "--tier", "ci", "--tier", "nightly", cases}).out, all);
  EXPECT_EQ(assay({"list", "--op", op, "--op", "q8ta_relu", cases}).out, all);
  for (const auto& [option, value] : {std::pair("--device", "0"), std::pair("--inject-fault", "abort@*")}) {
    const ProcessResult run = assay({"run", "--dry-run", option, value, cases});
    EXPECT_THAT(run.out, HasSubstr("4 rows")) << option << ": " << run.err;
  }
  // Commands without files refuse the word that is too much.
  EXPECT_THAT(assay({"devices", "--device", "0", "1"}).err,
              HasSubstr("following argument was not expected: 1"));
  EXPECT_THAT(assay({"ops", "--ops", "a", op, "b"}).err, HasSubstr("following argument was not expected: b"));
  const ProcessResult sides = assay({"compare", "--base", "a", "b", "--new", "c"});
  EXPECT_EQ(sides.exit_code, 2);
  EXPECT_THAT(sides.err, Not(HasSubstr("twice")));
  const ProcessResult judged = assay({"judge", "--op", op, "--cases", cases, folder / "none"});
  EXPECT_THAT(judged.err, Not(HasSubstr("submission is required")));
}

TEST(Commands, ADryRunChecksInjectedFaults) {
  const TemporaryFolder folder;
  const ProcessResult run =
      assay({"run", "--dry-run", folder.write("c.yaml", shuffle_cases), "--inject-fault", "earthquake@*"});
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr("--inject-fault 'earthquake@*' is not KIND@GLOB"));
}

/// The run went on, and nothing had been injected.
TEST(Commands, AFaultThatNoRowHasIsRefused) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", shuffle_cases);
  const ProcessResult run =
      assay({"run", "--dry-run", cases, "--inject-fault", "abort@*/small/*", "--inject-fault", "exit@*none"});
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr("no selected row has an id that --inject-fault 'exit@*none' matches"));
  for (const char* shard : {"1/2", "2/2"}) {
    const ProcessResult part = assay(
        {"run", "--dry-run", cases, "--shard", shard, "--inject-fault", "abort@*/1x16x4x4/4W4C.4W4C/*"});
    EXPECT_EQ(part.exit_code, 0) << "the row is in one of the shards: " << part.err;
  }
}

/// The accuracy rows were replayed, as without --mode.
TEST(Commands, AReplayOfTimedRowsIsRefused) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", both_cases);
  const ProcessResult run = assay({"run", "--dry-run", cases, "--replay", "4", "--mode", "perf"});
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr("--replay runs the accuracy of the selected cases again"));
  EXPECT_EQ(assay({"run", "--dry-run", cases, "--replay", "4", "--mode", "accu"}).exit_code, 0);
}

/// With --versus-alone and without timed rows, any name was taken.
TEST(Commands, ABaselineImplNeedsATimedRow) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", shuffle_cases);
  const std::vector<std::string> words{
      "run", "--dry-run", cases, "--versus-shaders", ASSAY_SOURCE_DIR "/shaders", "--versus-alone"};
  EXPECT_EQ(assay(words).exit_code, 0);
  std::vector<std::string> with_baseline = words;
  with_baseline.insert(with_baseline.end(), {"--baseline-impl", "nowhere"});
  const ProcessResult run = assay(with_baseline);
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr("no row of mode perf is selected"));
}

/// Shards without such a row failed.
TEST(Commands, ABaselineImplNeedsATimedRowInSomeShard) {
  const TemporaryFolder folder;
  const std::vector<std::string> words{"run", "--dry-run", folder.write("accu.yaml", shuffle_cases),
                                       folder.write("perf.yaml", perf_cases)};
  const std::vector<std::string> versus{"--versus-shaders", ASSAY_SOURCE_DIR "/shaders", "--versus-alone"};
  const auto exit_code = [&](std::vector<std::string> more, const std::vector<std::string>& rest) {
    more.insert(more.begin(), words.begin(), words.end());
    more.insert(more.end(), rest.begin(), rest.end());
    return assay(more).exit_code;
  };
  for (const std::vector<std::string>& rest : {std::vector<std::string>{}, versus}) {
    for (const char* shard : {"1/2", "2/2"}) {
      EXPECT_EQ(exit_code({"--shard", shard, "--baseline-impl", "fused"}, rest), 0) << shard << rest.size();
      EXPECT_EQ(exit_code({"--shard", shard, "--baseline-impl", "none"}, rest), 2) << shard << rest.size();
    }
  }
}

/// Two outputs went to stdout, one after the other; of two in one file the last was left.
TEST(Commands, TwoOutputsDoNotGoToOnePlace) {
  const TemporaryFolder folder;
  const std::string file = folder / "x";
  const std::string same = folder / "./x";
  for (const std::string command : {"compare", "pivot", "summary"}) {
    for (const auto& [csv, markdown] :
         {std::pair(std::string("-"), std::string("-")), std::pair(file, same)}) {
      const ProcessResult result = assay({command, "a", "b", "--csv", csv, "--markdown", markdown});
      EXPECT_EQ(result.exit_code, 2);
      EXPECT_THAT(result.err, HasSubstr("--markdown: --csv goes to '" + csv + "' as well"));
    }
  }
  EXPECT_THAT(assay({"compare", "a", "b", "--json", "-", "--csv", "-"}).err, HasSubstr("as well"));
  EXPECT_THAT(assay({"compare", "a", "b", "--csv", "/dev/null", "--markdown", "/dev/null"}).err,
              Not(HasSubstr("as well")));
}

TEST(Commands, AMissingFileIsALoadError) {
  const ProcessResult result = assay({"list", "/no/such/file.yaml"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("/no/such/file.yaml"));
}

TEST(Commands, ACaseFileThatIsNoFileIsALoadErrorAtOnce) {
  const TemporaryFolder folder;
  const std::string fifo = folder / "fifo.yaml";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const std::string cases = folder.write("c.yaml", shuffle_cases);
  for (const std::string& file : {std::string("/dev/zero"), fifo}) {
    const ProcessResult result = assay({"run", cases, file, "--out", folder / "out", "--overwrite"});
    EXPECT_EQ(result.exit_code, 2) << file;
    EXPECT_THAT(result.err, HasSubstr(file + ": error: not a regular file"));
    EXPECT_THAT(result.out, HasSubstr("PASS")) << "the other cases are run";
  }
}

TEST(Commands, AnIndexBeyondItsTableIsALoadErrorAtItsPlace) {
  const TemporaryFolder folder;
  HostTensor indices(DType::I32, {3});
  indices.as<std::int32_t>()[1] = 10;
  write_npy(folder / "indices.npy", indices);
  const std::string file = folder.write("c.yaml",
                                        "op: embedding_q4gsw\n"
                                        "cases:\n"
                                        "  - name: rows\n"
                                        "    indices: [3]\n"
                                        "    vocab: 10\n"
                                        "    dim: 32\n"
                                        "    fill: {indices: {npy: indices.npy}}\n");
  const ProcessResult result = assay({"list", file});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(
      result.err,
      HasSubstr(
          file +
          ":7:12: error: values of 'indices' must be between 0 and 9, but these are between 0 and 10\n"));
  indices.as<std::int32_t>()[1] = 9;
  write_npy(folder / "indices.npy", indices);
  EXPECT_EQ(assay({"list", file}).exit_code, 0);
}

TEST(Commands, ADamagedJournalIsNamedWithItsLine) {
  const TemporaryFolder folder;
  folder.write("journal.jsonl", "this is no journal\n");
  const ProcessResult result = assay({"report", folder.path().string()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("journal.jsonl:1"));
}

TEST(Commands, ReportRewritesAJournalAndReadsItCompressed) {
  const TemporaryFolder published, compressed;
  std::filesystem::copy_file(ASSAY_SOURCE_DIR "/reports/published/lavapipe/journal.jsonl.zst",
                             published / "journal.jsonl.zst");
  const ProcessResult rewriting = assay({"report", published.path().string(), "--rewrite-journal",
                                         (compressed.path() / "journal.jsonl.zst").string()});
  EXPECT_EQ(rewriting.exit_code, 0) << rewriting.err;
  EXPECT_EQ(read_file(compressed.path() / "journal.jsonl.zst").substr(0, 4), "\x28\xB5\x2F\xFD");
  const ProcessResult reading = assay({"report", compressed.path().string()});
  EXPECT_EQ(reading.exit_code, 0) << reading.err;
  for (const char* name : {"accu.csv", "perf.csv", "perf.json", "junit.xml"})
    EXPECT_EQ(read_file(compressed.path() / name), read_file(published.path() / name)) << name;
}

// Command lines that are refused, and what is said about them.

using ::testing::AllOf;

TEST(UnknownCommand, IsNamedWithTheNearest) {
  for (const auto& [word, meant] : {std::pair("rnu", "run"), std::pair("complare", "compare"),
                                    std::pair("device", "devices"), std::pair("new_op", "new-op")}) {
    const ProcessResult result = assay({word, "--filter", "x"});
    EXPECT_EQ(result.exit_code, 2) << word;
    EXPECT_EQ(result.err, fmt::format("assay: unknown command '{}'; did you mean '{}'?\n", word, meant));
    EXPECT_EQ(result.out, "");
  }
}

TEST(UnknownCommand, IsNamedWithAllWhereNoneIsNear) {
  const ProcessResult result = assay({"benchmark"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(
      result.err,
      AllOf(
          HasSubstr("unknown command 'benchmark'; the commands are: run, judge, fuzz, mutate, tune, list, "),
          HasSubstr(", verdict, prune\n")));
}

TEST(UnknownCommand, AHostileWordIsPrintedSafely) {
  const std::string word = "\x1b[31m" + std::string(5000, 'x');
  const ProcessResult result = assay({word});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("unknown command"), Not(HasSubstr("\x1b"))));
  EXPECT_LT(result.err.size(), 400U);
}

struct WrongNumber {
  const char* option;
  const char* value;
  const char* message;  ///< after "--option: "
};

TEST(Numbers, ThatMakeNoSenseAreRefusedWithTheirRange) {
  constexpr const char* seconds = "is not a number above 0 and at most 604800\n";
  constexpr const char* seed = "is not a whole number from 0 to 2^64 - 1\n";
  for (const auto& [option, value, message] : {
           WrongNumber{"--budget", "nan", seconds},
           WrongNumber{"--budget", "inf", seconds},
           WrongNumber{"--budget", "0", seconds},
           WrongNumber{"--budget", "1e999", seconds},
           WrongNumber{"--program-limit", "-nan", seconds},
           WrongNumber{"--program-limit", "1e9", seconds},
           WrongNumber{"--hang-limit", "-5", seconds},
           WrongNumber{"--hang-limit", "5s", seconds},
           WrongNumber{"--inject-slowdown", "nan", "is not a number from 0 to 1000\n"},
           WrongNumber{"--inject-slowdown", "-1", "is not a number from 0 to 1000\n"},
           WrongNumber{"--seed", "-1", seed},
           WrongNumber{"--seed", "18446744073709551616", seed},
           WrongNumber{"--secret-seed", "1.5", seed},
           WrongNumber{"--max-failures", "0", "is not a whole number from 1 to 1000000000\n"},
           WrongNumber{"--max-failures", "9999999999", "is not a whole number from 1 to 1000000000\n"},
           WrongNumber{"--jobs", "1000000", "is not a whole number from 1 to 1024\n"},
           WrongNumber{"--workers", "65", "is not a whole number from 1 to 64\n"},
           WrongNumber{"--prepare", "-1", "is not a whole number from 0 to 1024\n"},
       }) {
    const ProcessResult result = assay({"run", std::string(option) + "=" + value});
    EXPECT_EQ(result.exit_code, 2) << option << ' ' << value;
    EXPECT_THAT(result.err, HasSubstr(fmt::format("{}: '{}' {}", option, value, message)));
  }
}

TEST(Numbers, ANegativeNumberMayFollowItsOptionAsAWord) {
  const ProcessResult result = assay({"run", "--seed", "-1"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--seed: '-1' is not a whole number from 0 to 2^64 - 1"));
}

TEST(Numbers, OfOtherCommandsAreCheckedToo) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"judge", "x", "--budget", "nan"},
           {"judge", "x", "--time-limit", "inf"},
           {"judge", "x", "--memory-limit", "nan"},
           {"judge", "x", "--secret-seed", "0"},
           {"judge", "x", "--rows", "0"},
           {"list", "--seed", "99999999999999999999"},
           {"compare", "a", "b", "--min-effect", "nan"},
           {"show", "a", "--worst", "0"},
           {"prune", "a", "--keep", "0"},
           {"prune", "a", "--older-than", "inf"},
       }) {
    const ProcessResult result = assay(words);
    EXPECT_EQ(result.exit_code, 2) << words[0] << ' ' << words.back();
    EXPECT_THAT(result.err, AllOf(HasSubstr(fmt::format("'{}' is not a ", words.back())),
                                  HasSubstr(words[words.size() - 2] + ": ")));
  }
}

TEST(Mode, BothSelectsWhatNoModeDoes) {
  const TemporaryFolder folder;
  const std::string file = folder.write("c.yaml", both_cases);
  const std::string all = assay({"list", file, "--long"}).out;
  ASSERT_NE(all, "");
  EXPECT_EQ(assay({"list", file, "--long", "--mode", "both"}).out, all);
  const ProcessResult wrong = assay({"list", file, "--mode", "all"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("accu"), HasSubstr("perf"), HasSubstr("both")));
}

TEST(ResumeOptions, AreThoseThatTheHelpNames) {
  const std::string allowed =
      "only --ops, --shaders, --versus-shaders, --dump, --ceiling-store, --answer-cache, --no-isolation, "
      "--workers, --worker-command, --max-failures, --github-summary and --verbose ";
  EXPECT_THAT(assay({"run", "--help"}).out, HasSubstr(allowed + "may be given"));
  for (const char* option : {"--overwrite", "--seed=7", "--benchmark", "--mode=accu"}) {
    const ProcessResult result = assay({"run", "--resume", "nowhere", option});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, AllOf(HasSubstr("--resume: a run is resumed with the options that it was started "
                                            "with, so " +
                                            std::string(option).substr(0, std::string(option).find('='))),
                                  HasSubstr(allowed + "can")));
  }
  const ProcessResult file = assay({"run", "--resume", "nowhere", "cases"});
  EXPECT_THAT(file.err, HasSubstr("so files cannot be given"));
  const ProcessResult fine =
      assay({"run", "--resume", "nowhere", "-v", "--workers", "2", "--max-failures", "3"});
  EXPECT_EQ(fine.exit_code, 2);
  EXPECT_THAT(fine.err, Not(HasSubstr("cannot be given"))) << "only the folder is missing";
}

TEST(IgnoredOptions, AreRefused) {
  const auto refusal = [](const std::vector<std::string>& words) {
    const ProcessResult result = assay(words);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    return result.err;
  };
  EXPECT_THAT(refusal({"run", "--secret-seed", "0", "--time-secret-data", "--dry-run"}),
              HasSubstr("--secret-seed 0 makes no secret data"));
  EXPECT_THAT(refusal({"show", "nowhere", "x", "--op", "clone"}),
              HasSubstr("--op chooses the rows of a question"));
  EXPECT_THAT(refusal({"show", "nowhere", "x", "--samples", "--worst"}),
              AllOf(HasSubstr("--samples"), HasSubstr("--worst")));
}

// `cmake --install` into an empty prefix, and the binary from there.

TEST(Install, TheInstalledBinaryFindsItsCasesFromAnywhere) {
  const TemporaryFolder folder;
  const std::filesystem::path prefix = folder / "prefix";
  const ProcessResult installed =
      run({.words = {CMAKE_COMMAND, "--install", ASSAY_BUILD_DIR, "--prefix", prefix}});
  ASSERT_EQ(installed.exit_code, 0) << installed.out << installed.err;
  for (const char* file : {"share/assay/cases/q8ta_pixel_shuffle.yaml", "share/doc/assay/LICENSE"}) {
    EXPECT_TRUE(std::filesystem::exists(prefix / file)) << file;
  }

  const ProcessResult listed = run({.words = {prefix / "bin/assay", "list"}, .directory = folder.path()});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("q8ta_pixel_shuffle/small/1x16x4x4/same/4W4C.4W4C/fused\n"));

  std::filesystem::remove_all(prefix / "share");
  const ProcessResult without = run({.words = {prefix / "bin/assay", "list"}, .directory = folder.path()});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("looking for cases: there is no folder cases/ here"));
}

}  // namespace

}  // namespace assay::test
