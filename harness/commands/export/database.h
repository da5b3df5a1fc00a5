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

/// A file that is written under a temporary name next to its own, and gets its own when it is complete:
/// readers see the old file or the new one, never a part. For what can only be written by its path;
/// replace_file() (file.h) is simpler.
class NewFile {
 public:
  /// Creates the temporary file, empty. Throws Error(Infrastructure).
  explicit NewFile(std::filesystem::path path);
  /// Removes the temporary file if it was not kept.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::filesystem::path& temporary() const { return temporary_; }
  /// Gives the file its name; an older one is replaced. Throws Error(Infrastructure).
  void keep();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;  ///< empty: kept
};

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
