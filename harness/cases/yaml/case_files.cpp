#include "harness/cases/yaml/case_files.h"

#include "harness/cases/yaml/source_file.h"

#include <algorithm>
#include <system_error>

namespace assay::cases {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, std::string message) {
  throw Problem(file_diagnostic(path, std::move(message)));
}

std::vector<fs::path> files_below(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(directory, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored) && entry->path().filename() == "expectations") {
      entry.disable_recursion_pending();
    } else if (is_yaml_file(*entry)) {
      files.push_back(entry->path());
    }
  }
  if (error) refuse(directory, "listing the case files below this directory: " + error.message());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

bool is_yaml_file(const fs::directory_entry& entry) {
  if (entry.path().extension() != ".yaml") return false;
  std::error_code ignored;
  if (entry.is_regular_file(ignored)) return true;
  return entry.is_symlink(ignored) && !fs::exists(entry.path(), ignored);
}

std::vector<fs::path> case_files(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    const bool is_link = fs::is_symlink(path, ignored);
    refuse(path, is_link ? "it is a link to a file that does not exist" : "no such file or directory");
  }
  if (!fs::is_directory(path, ignored)) return {path};
  std::vector<fs::path> files = files_below(path);
  if (files.empty()) refuse(path, "there is no case file (*.yaml) below this directory");
  return files;
}

std::vector<fs::path> yaml_files_in(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (is_yaml_file(*entry)) files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace assay::cases
