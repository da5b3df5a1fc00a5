#include "harness/commands/run/watch.h"

#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace assay::app {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// A folder with a file in it and one further down, watched.
struct WatchDesk {
  test::TemporaryFolder folder;
  fs::path top = folder.path() / "a.comp";
  fs::path deep = folder.path() / "common" / "b.glslh";
  FileWatch watch;

  WatchDesk() {
    fs::create_directory(deep.parent_path());
    write(top, "one");
    write(deep, "two");
    const fs::path roots[] = {folder.path()};
    watch.watch(roots);
  }

  static void write(const fs::path& file, const std::string& text) {
    test::write_file(file, text);
    // File systems tell times apart by some milliseconds: a test is faster than any editor.
    static int writes = 0;
    fs::last_write_time(file, fs::file_time_type::clock::now() + std::chrono::seconds(++writes));
  }
};

TEST(FileWatch, SeesNothingUntilSomethingChanges) {
  WatchDesk desk;
  EXPECT_THAT(desk.watch.changed(), IsEmpty());
}

TEST(FileWatch, SeesWhatIsSavedOnceHoweverDeep) {
  WatchDesk desk;
  desk.write(desk.deep, "TWO");
  EXPECT_THAT(desk.watch.changed(), ElementsAre(desk.deep));
  EXPECT_THAT(desk.watch.changed(), IsEmpty());
}

TEST(FileWatch, ASaveThatChangesNothingIsNone) {
  WatchDesk desk;
  desk.write(desk.top, "one");
  EXPECT_THAT(desk.watch.changed(), IsEmpty());
}

TEST(FileWatch, SeesFilesComeAndGo) {
  WatchDesk desk;
  const fs::path fresh = desk.folder.path() / "new.comp";
  desk.write(fresh, "");
  fs::remove(desk.top);
  EXPECT_THAT(desk.watch.changed(), UnorderedElementsAre(fresh, desk.top));
  EXPECT_THAT(desk.watch.changed(), IsEmpty());
}

TEST(FileWatch, SeesAFileThatWasRenamedOverAnother) {
  WatchDesk desk;
  const fs::path copy = desk.folder.path() / "a.comp~";
  desk.write(copy, "saved");
  desk.watch.changed();
  fs::rename(copy, desk.top);
  EXPECT_THAT(desk.watch.changed(), UnorderedElementsAre(copy, desk.top));
}

TEST(FileWatch, WatchesSingleFilesToo) {
  WatchDesk desk;
  const fs::path roots[] = {desk.top, desk.folder.path() / "not_yet.yaml"};
  desk.watch.watch(roots);
  desk.write(desk.deep, "is not watched any more");
  EXPECT_THAT(desk.watch.changed(), IsEmpty());
  desk.write(roots[1], "here");
  EXPECT_THAT(desk.watch.changed(), ElementsAre(roots[1]));
}

TEST(FileWatch, WhatWasSavedBeforeItIsWatchedAnewIsNotForgotten) {
  WatchDesk desk;
  desk.write(desk.top, "saved while a run went on");
  const fs::path roots[] = {desk.folder.path()};
  desk.watch.watch(roots);
  EXPECT_THAT(desk.watch.changed(), ElementsAre(desk.top));
}

}  // namespace
}  // namespace assay::app
