#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <sqlite3.h>
#include <string>
#include <vector>

namespace assay::test {

/// The rows that a query finds in an SQLite file, cells as text; NULL is "NULL". A test fails if the query
/// does.
inline std::vector<std::vector<std::string>> sqlite_rows(const std::filesystem::path& file,
                                                         const std::string& query) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close_v2)> database(opened, &sqlite3_close_v2);
  EXPECT_EQ(code, SQLITE_OK) << file;
  std::vector<std::vector<std::string>> rows;
  const auto add = [](void* into, int count, char** cells, char** /*names*/) {
    std::vector<std::string>& row = static_cast<std::vector<std::vector<std::string>>*>(into)->emplace_back();
    for (int i = 0; i < count; ++i) row.emplace_back(cells[i] == nullptr ? "NULL" : cells[i]);
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(opened, query.c_str(), add, &rows, nullptr), SQLITE_OK)
      << query << ": " << sqlite3_errmsg(opened);
  return rows;
}

/// The only cell that a query finds; empty if there is none.
inline std::string sqlite_cell(const std::filesystem::path& file, const std::string& query) {
  const std::vector<std::vector<std::string>> rows = sqlite_rows(file, query);
  return rows.size() == 1 && rows[0].size() == 1 ? rows[0][0] : "";
}

}  // namespace assay::test
