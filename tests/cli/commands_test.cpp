#include "harness/tensor/npy/npy.h"
#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sys/stat.h>

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
  EXPECT_THAT(unknown.err, HasSubstr("there is no op 'q8ta_pixel_shufle'"));
}

TEST(Commands, OpsNamesTheFilesOfAnOp) {
  const std::string text = assay({"ops", "q8ta_pixel_shuffle"}).out;
  for (const char* file : {"cases/q8ta_pixel_shuffle.yaml", "ops/pixel_shuffle/q8ta_pixel_shuffle.cpp",
                           "references/pixel_shuffle/q8ta_pixel_shuffle.h",
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

}  // namespace
}  // namespace assay::test
