#include "harness/commands/export/new_file.h"

#include "harness/base/file.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace assay::app {

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

}  // namespace assay::app
