#include "harness/commands/export/database.h"

#include "harness/base/error.h"
#include "tests/support/error_text.h"
#include "tests/support/sqlite_rows.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <vector>

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

class SqliteDatabase : public ::testing::Test {
 protected:
  SqliteDatabase() { database_.execute("CREATE TABLE t (a, b)"); }

  void insert(const std::vector<SqlValue>& values) {
    Statement(database_, "INSERT INTO t VALUES (?,?)").run(values);
  }
  std::vector<std::vector<std::string>> rows() const {
    return test::sqlite_rows(file_, "SELECT a, b, typeof(a), typeof(b) FROM t");
  }
  Database& database() { return database_; }
  const test::TemporaryFolder& folder() const { return folder_; }

 private:
  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.write("t.db", "");
  Database database_{file_};
};

TEST_F(SqliteDatabase, KeepsValuesWithTheirTypes) {
  insert({std::int64_t{-9223372036854775807}, 0.5});
  insert({std::string("7"), std::monostate()});
  EXPECT_EQ(rows(), (std::vector<std::vector<std::string>>{{"-9223372036854775807", "0.5", "integer", "real"},
                                                           {"7", "NULL", "text", "null"}}));
}

TEST_F(SqliteDatabase, TakesTextAsText) {
  const std::string hostile = "'); DROP TABLE t; --";
  insert({hostile, std::string("\"?1\"")});
  EXPECT_EQ(rows(), (std::vector<std::vector<std::string>>{{hostile, "\"?1\"", "text", "text"}}));
}

TEST_F(SqliteDatabase, HasNullForWhatIsNoNumber) {
  insert({std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()});
  EXPECT_EQ(rows(), (std::vector<std::vector<std::string>>{{"NULL", "NULL", "null", "null"}}));
}

TEST_F(SqliteDatabase, SaysWhatSqliteSays) {
  EXPECT_THAT(test::error_of([&] { database().execute("CREATE TABEL u (a)"); }),
              HasSubstr("writing a database: near \"TABEL\": syntax error"));
  EXPECT_THAT(test::error_of([&] { Statement(database(), "INSERT INTO u VALUES (?)"); }),
              HasSubstr("no such table: u"));
  EXPECT_THAT(test::error_of([&] { Database(folder() / "none.db"); }),
              HasSubstr("unable to open database file"));
}

TEST_F(SqliteDatabase, NeedsAValueForEachParameter) {
  EXPECT_THROW(insert({std::string("one")}), std::logic_error);
}

}  // namespace

}  // namespace assay::app
