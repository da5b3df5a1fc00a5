#include "harness/commands/export/database.h"

#include "harness/base/error.h"
#include "harness/base/file.h"

#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <sqlite3.h>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace assay::app {
namespace {

void require_ok(int code, sqlite3* handle) {
  if (code == SQLITE_OK || code == SQLITE_DONE) return;
  const std::string why = handle == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle);
  throw Error("writing a database: " + why, ExitCode::Infrastructure);
}

struct Binder {
  sqlite3_stmt* statement;
  int parameter;

  int operator()(std::monostate) const { return sqlite3_bind_null(statement, parameter); }
  int operator()(std::int64_t value) const { return sqlite3_bind_int64(statement, parameter, value); }
  int operator()(double value) const {
    if (!std::isfinite(value)) return sqlite3_bind_null(statement, parameter);
    return sqlite3_bind_double(statement, parameter, value);
  }
  /// The text outlives the run of the statement, so SQLite need not copy it.
  int operator()(const std::string& text) const {
    return sqlite3_bind_text64(statement, parameter, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
};

}  // namespace

NewFile::NewFile(std::filesystem::path path) : path_(std::move(path)) {
  std::string name = path_.string() + ".XXXXXX.tmp";
  constexpr int suffix_length = 4;  // ".tmp"
  const FileDescriptor file(::mkstemps(name.data(), suffix_length));
  if (file.get() < 0) throw_file_error("create", path_, errno);
  temporary_ = name;
  constexpr mode_t readable_by_all = 0644;
  ::fchmod(file.get(), readable_by_all);  // mkstemps makes it private
}

NewFile::~NewFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void NewFile::keep() {
  std::error_code error;
  std::filesystem::rename(temporary_, path_, error);
  if (error) throw_file_error("write", path_, error.value());
  temporary_.clear();
}

void Database::Closer::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
}

Database::Database(const std::filesystem::path& file) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &handle, SQLITE_OPEN_READWRITE, nullptr);
  handle_.reset(handle);  // it must be closed even if opening failed
  require_ok(code, handle);
}

void Database::execute(const std::string& sql) {
  require_ok(sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr), handle_.get());
}

void Statement::Finalizer::operator()(sqlite3_stmt* handle) const {
  sqlite3_finalize(handle);
}

Statement::Statement(Database& database, const std::string& sql) : database_(database.handle_.get()) {
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &handle, nullptr);
  handle_.reset(handle);
  require_ok(code, database_);
}

void Statement::bind(int parameter, const SqlValue& value) {
  require_ok(std::visit(Binder{handle_.get(), parameter}, value), database_);
}

void Statement::run(std::span<const SqlValue> values) {
  if (std::ssize(values) != sqlite3_bind_parameter_count(handle_.get()))
    throw std::logic_error("a statement needs a value for each of its parameters");
  for (std::size_t i = 0; i < values.size(); ++i) bind(static_cast<int>(i) + 1, values[i]);
  const int code = sqlite3_step(handle_.get());
  require_ok(code, database_);
  require_ok(sqlite3_reset(handle_.get()), database_);
}

}  // namespace assay::app
