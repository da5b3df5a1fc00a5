#include "harness/cases/yaml/source_file.h"

#include "harness/base/file.h"
#include "harness/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace assay {
namespace {

/// Returns the text before the caret: a blank for every character shown and a tab for every tab, so that both
/// lines have the same width on every terminal.
std::string caret_indent(std::string_view line, int column) {
  std::size_t end = 0;
  int character = 1;
  for (; end < line.size() && character < column; ++character) {
    do ++end;
    while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U);
  }
  std::string indent;
  for (const char c : printable(line.substr(0, end))) {
    const bool continuation = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    if (!continuation) indent += c == '\t' ? '\t' : ' ';
  }
  if (character < column) indent.append(static_cast<std::size_t>(column - character), ' ');
  return indent;
}

}  // namespace

std::string to_string(const Diagnostic& diagnostic) {
  const SourceLocation& where = diagnostic.where;
  std::string text = printable(where.file);
  if (where.line > 0) text += fmt::format(":{}:{}", where.line, where.column);
  text += ": error: " + printable(diagnostic.message);
  if (!diagnostic.source_line.empty()) {
    text += fmt::format("\n    {}\n    {}^", printable(diagnostic.source_line),
                        caret_indent(diagnostic.source_line, where.column));
  }
  if (!diagnostic.suggestion.empty())
    text += fmt::format("\n    did you mean '{}'?", printable(diagnostic.suggestion));
  return text;
}

}  // namespace assay

namespace assay::cases {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_shown_line = 400;

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

[[noreturn]] void refuse_file(const fs::path& path, std::string message) {
  throw Problem(file_diagnostic(path, std::move(message)));
}

std::string read_bytes(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    const bool is_link = fs::is_symlink(path, error);
    refuse_file(path, is_link ? "it is a link to a file that does not exist" : "no such file");
  }
  if (!fs::is_regular_file(status)) refuse_file(path, "not a regular file");
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) refuse_file(path, "reading its size: " + error.message());
  if (size > SourceFile::max_bytes) {
    refuse_file(path, fmt::format("the file has {} bytes, more than the {} that a case file may have", size,
                                  SourceFile::max_bytes));
  }
  std::optional<std::string> bytes = whole_file(path, SourceFile::max_bytes);
  if (!bytes) refuse_file(path, "the file cannot be read");
  return *std::move(bytes);
}

/// Returns the length of the UTF-8 sequence at `position`, or 0 if it is not valid.
std::size_t sequence_length(std::string_view text, std::size_t position) {
  const auto lead = static_cast<unsigned char>(text[position]);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || position + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[position + i])) return 0;
  }
  return length;
}

bool is_forbidden_control(char byte) {
  return (static_cast<unsigned char>(byte) < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') ||
         byte == 0x7F;
}

std::string with_unix_line_ends(std::string text) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    text[kept++] = text[i] == '\r' ? '\n' : text[i];
  }
  text.resize(kept);
  return text;
}

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

Diagnostic file_diagnostic(const fs::path& path, std::string message, int line) {
  Diagnostic diagnostic;
  diagnostic.where.file = path.string();
  diagnostic.where.line = line;
  diagnostic.where.column = line > 0 ? 1 : 0;
  diagnostic.message = std::move(message);
  return diagnostic;
}

SourceFile SourceFile::read(const fs::path& path) {
  return {path, read_bytes(path)};
}

SourceFile::SourceFile(fs::path path, std::string bytes) : path_(std::move(path)) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.erase(0, 3);
  check_text(bytes);
  text_ = with_unix_line_ends(std::move(bytes));
  find_lines();
}

// The YAML parser treats byte 0x04 as the end of the file and silently replaces broken UTF-8, so both are
// refused beforehand.
void SourceFile::check_text(const std::string& bytes) const {
  int line = 1;
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t length = sequence_length(bytes, i);
    if (length == 0 || is_forbidden_control(bytes[i])) {
      throw Problem(
          file_diagnostic(path_,
                          fmt::format("not a text file: byte 0x{:02x} at offset {} is not UTF-8 text",
                                      static_cast<unsigned char>(bytes[i]), i),
                          line));
    }
    if (bytes[i] == '\n') ++line;
    i += length;
  }
}

void SourceFile::find_lines() {
  for (std::size_t begin = 0; begin < text_.size() || begin == 0;) {
    line_starts_.push_back(begin);
    const std::size_t end = std::min(text_.find('\n', begin), text_.size());
    if (end - begin > max_line_bytes) {
      const std::string message = fmt::format("the line has {} bytes, more than the {} that a line may have",
                                              end - begin, max_line_bytes);
      throw Problem(file_diagnostic(path_, message, lines()));
    }
    begin = end + 1;
  }
}

std::string_view SourceFile::line(int number) const {
  if (number < 1 || number > lines()) return {};
  const std::size_t begin = line_starts_[static_cast<std::size_t>(number) - 1];
  const std::size_t end = std::min(text_.find('\n', begin), text_.size());
  return std::string_view(text_).substr(begin, end - begin);
}

SourceLocation SourceFile::locate(Mark mark) const {
  int number = mark.line + 1;
  std::size_t byte = static_cast<std::size_t>(std::max(mark.byte, 0));
  if (number > lines()) {
    number = lines();
    while (number > 1 && line(number).find_first_not_of(" \t") == std::string_view::npos) --number;
    byte = line(number).size();
  }
  const std::string_view before = line(number).substr(0, std::min(line(number).size(), byte));
  const auto characters =
      std::count_if(before.begin(), before.end(), [](char c) { return !is_continuation(c); });
  return {path_.string(), std::max(number, 1), static_cast<int>(characters) + 1};
}

Diagnostic SourceFile::diagnose(Mark mark, std::string message, std::string suggestion) const {
  SourceLocation where = locate(mark);
  std::string shown;
  if (line(where.line).size() <= longest_shown_line) shown = line(where.line);
  return {std::move(where), std::move(message), std::move(shown), std::move(suggestion)};
}

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
