#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <variant>

struct sqlite3;
struct sqlite3_stmt;

namespace assay::app {

/// A value of a database: NULL, an integer, a number or text.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;

/// An open SQLite database. Its functions, and those of Statement, throw Error(Infrastructure) with the
/// message of SQLite.
class Database {
 public:
  /// Opens a file; an empty one is an empty database.
  explicit Database(const std::filesystem::path& file);

  /// Runs statements of our own, separated by semicolons: text of others is only ever bound to a Statement.
  void execute(const std::string& sql);

 private:
  friend class Statement;

  struct Closer {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Closer> handle_;
};

/// A prepared statement, to be run many times.
class Statement {
 public:
  /// The database must outlive the statement.
  Statement(Database& database, const std::string& sql);

  /// Runs the statement with a value for each of its parameters. NaN and infinities become NULL.
  void run(std::span<const SqlValue> values);

 private:
  void bind(int parameter, const SqlValue& value);

  struct Finalizer {
    void operator()(sqlite3_stmt* handle) const;
  };
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalizer> handle_;
};

}  // namespace assay::app
