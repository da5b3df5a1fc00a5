#include "harness/report/journal/find_rows.h"

#include "tests/support/records.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> strings(const std::vector<std::filesystem::path>& paths) {
  return {paths.begin(), paths.end()};
}

TEST(FindJournals, TakesAJournalADeviceOrAFolderOfDevices) {
  const test::TemporaryFolder folder;
  for (const char* device : {"b", "a", "empty"}) std::filesystem::create_directories(folder / device);
  test::write_file(folder / "b/journal.jsonl", "");
  test::write_file(folder / "a/journal.jsonl", "");
  const std::string a = folder / "a/journal.jsonl", b = folder / "b/journal.jsonl";
  EXPECT_THAT(strings(find_journals(a)), ElementsAre(a));
  EXPECT_THAT(strings(find_journals(folder / "b")), ElementsAre(b));
  EXPECT_THAT(strings(find_journals(folder.path())), ElementsAre(a, b));
}

TEST(FindJournals, SaysWhatItLookedForWhereThereIsNone) {
  const test::TemporaryFolder folder;
  EXPECT_THAT(test::error_of([&] { find_journals(folder.path()); }),
              HasSubstr("nor a folder right below it has a journal.jsonl"));
  EXPECT_THAT(test::error_of([&] { find_journals(folder / "none"); }),
              HasSubstr("there is no file or folder " + (folder / "none").string()));
}

// Root may read every folder, but no one can follow a link to itself.
TEST(FindJournals, SaysWhyAPlaceCannotBeRead) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "out/device");
  std::filesystem::create_symlink("itself", folder / "itself");
  std::filesystem::create_symlink("journal.jsonl", folder / "out/device/journal.jsonl");
  for (const auto& [path, named] : {std::pair(folder / "itself", folder / "itself"),
                                    std::pair(folder / "out/device", folder / "out/device/journal.jsonl"),
                                    std::pair(folder / "out", folder / "out/device/journal.jsonl")}) {
    try {
      find_journals(path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(),
                "cannot read the report " + named.string() + ": Too many levels of symbolic links");
      EXPECT_EQ(error.code(), ExitCode::Infrastructure);
    }
  }
}

// A glob that knows only a star at the end.
bool prefix_glob(std::string_view pattern, std::string_view text) {
  return text.starts_with(pattern.substr(0, pattern.find('*')));
}

RunReport report_with(const std::vector<std::string>& ids) {
  std::vector<Record> records;
  for (const std::string& id : ids) {
    for (const char* mode : {"accu", "perf"}) {
      records.emplace_back().info.id = id;
      records.back().info.mode = mode;
    }
  }
  return test::report_of(std::move(records));
}

TEST(MatchingIds, PrefersTheIdItself) {
  const RunReport report = report_with({"op/a/fused", "op/a/fused2"});
  EXPECT_THAT(matching_ids(report, "op/a/fused", prefix_glob), ElementsAre("op/a/fused"));
}

TEST(MatchingIds, TakesAGlobOrAPart) {
  const RunReport report = report_with({"op/b/1", "op/a/1", "op/a/2"});
  EXPECT_THAT(matching_ids(report, "op/a*", prefix_glob), ElementsAre("op/a/1", "op/a/2"));
  EXPECT_THAT(matching_ids(report, "/1", prefix_glob), ElementsAre("op/b/1", "op/a/1"));
  EXPECT_THAT(matching_ids(report, "/2", prefix_glob), ElementsAre("op/a/2"));
  EXPECT_THAT(matching_ids(report, "/3", prefix_glob), ElementsAre());
}

TEST(NearestIds, RanksByTheMostLikePart) {
  const RunReport report = report_with({"q8ta_clone/1x4/4W4C", "q8ta_pixel_shuffle/1x96/4W4C", "quantize/7"});
  EXPECT_THAT(nearest_ids(report, "Pixel_shufle", 1), ElementsAre("q8ta_pixel_shuffle/1x96/4W4C"));
  EXPECT_THAT(nearest_ids(report, "q8_clone/1x4", 2),
              ElementsAre("q8ta_clone/1x4/4W4C", "q8ta_pixel_shuffle/1x96/4W4C"));
  EXPECT_EQ(nearest_ids(report, "anything", 10).size(), 3U);
  EXPECT_THAT(nearest_ids(test::report_of({}), "anything", 10), ElementsAre());
}

TEST(RowsOf, FindsBothModes) {
  const RunReport report = report_with({"a", "b"});
  const std::vector<const Record*> rows = rows_of(report, "b");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]->info.mode, "accu");
  EXPECT_EQ(rows[1]->info.mode, "perf");
  EXPECT_TRUE(rows_of(report, "c").empty());
}

}  // namespace
}  // namespace assay
