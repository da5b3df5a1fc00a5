#include "harness/commands/export/new_file.h"

#include "tests/support/error_text.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <iterator>

namespace assay::app {
namespace {

using ::testing::HasSubstr;

std::ptrdiff_t files_in(const test::TemporaryFolder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder.path()), {});
}

TEST(NewFile, GetsItsNameWhenItIsComplete) {
  const test::TemporaryFolder folder;
  folder.write("a", "old");
  NewFile file(folder / "a");
  EXPECT_EQ(file.temporary().parent_path(), folder.path());
  test::write_file(file.temporary(), "new");
  EXPECT_EQ(folder.read("a"), "old");
  file.keep();
  EXPECT_EQ(folder.read("a"), "new");
  EXPECT_EQ(files_in(folder), 1);
  EXPECT_EQ(std::filesystem::status(folder / "a").permissions() & std::filesystem::perms::others_read,
            std::filesystem::perms::others_read);
}

TEST(NewFile, LeavesNothingIfItIsNotKept) {
  const test::TemporaryFolder folder;
  folder.write("a", "old");
  {
    const NewFile file(folder / "a");
    EXPECT_EQ(files_in(folder), 2);
  }
  EXPECT_EQ(folder.read("a"), "old");
  EXPECT_EQ(files_in(folder), 1);
}

TEST(NewFile, NamesTheFileThatCannotBeWritten) {
  EXPECT_THAT(test::error_of([] { NewFile("/no/such/folder/a"); }),
              HasSubstr("cannot create /no/such/folder/a: No such file or directory"));
}

}  // namespace
}  // namespace assay::app
