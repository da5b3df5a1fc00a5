#pragma once

#include "harness/base/error.h"

#include <cstddef>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// One error in a file that a user wrote, and its place.
struct Diagnostic {
  SourceLocation where;
  std::string message;
  std::string source_line;  ///< text of the line; the caret points to `where.column`
  std::string suggestion;   ///< the nearest known name, or empty
};

/// Returns several lines, without a newline at the end:
///
///     cases/x.yaml:7:5: error: unknown key 'shpae'
///         shpae: [1, 16, 4, 4]
///         ^
///     did you mean 'shape'?
///
/// Tabs of the source line are kept and repeated before the caret. Line 0 stands for the whole file, without
/// line number and source line.
std::string to_string(const Diagnostic& diagnostic);

}  // namespace assay

namespace assay::cases {

/// A place in a source file as the YAML parser counts: line and byte within the line, both from 0.
struct Mark {
  int line = 0;
  int byte = 0;
};

/// An exception with one or more diagnostics that were found together.
class Problem : public std::exception {
 public:
  explicit Problem(Diagnostic diagnostic) : diagnostics_{std::move(diagnostic)} {}
  /// `diagnostics` must not be empty.
  explicit Problem(std::vector<Diagnostic> diagnostics) : diagnostics_(std::move(diagnostics)) {}
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  const char* what() const noexcept override { return diagnostics_.front().message.c_str(); }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// Returns a diagnostic about a whole file, or about one of its lines.
Diagnostic file_diagnostic(const std::filesystem::path& path, std::string message, int line = 0);

/// The text of a file that a user wrote: UTF-8 without byte order mark, with lines ended by '
/// '.
class SourceFile {
 public:
  static constexpr std::size_t max_bytes = std::size_t{16} << 20;
  static constexpr std::size_t max_line_bytes = std::size_t{64} << 10;

  /// Reads and checks a file. Throws Problem if it cannot be read, is larger than max_bytes, has a line
  /// longer than max_line_bytes, or is not text.
  static SourceFile read(const std::filesystem::path& path);

  /// Checks a text that is already in memory.
  SourceFile(std::filesystem::path path, std::string bytes);

  const std::filesystem::path& path() const { return path_; }
  const std::string& text() const { return text_; }
  int lines() const { return static_cast<int>(line_starts_.size()); }
  /// Returns line `number`, from 1, without its end. Empty past the last line.
  std::string_view line(int number) const;

  /// Returns line and column from 1, with columns in characters (UTF-8 code points). A place past the end
  /// becomes the end of the last line with text.
  SourceLocation locate(Mark mark) const;

  /// Returns a diagnostic with its source line, unless the line is too long to be read.
  Diagnostic diagnose(Mark mark, std::string message, std::string suggestion = {}) const;

 private:
  void check_text(const std::string& bytes) const;
  void find_lines();

  std::filesystem::path path_;
  std::string text_;
  std::vector<std::size_t> line_starts_;
};

/// Returns the case files that a path stands for: the file itself, or all *.yaml below a directory, sorted,
/// without those in folders named `expectations`. Throws Problem if there is none.
std::vector<std::filesystem::path> case_files(const std::filesystem::path& path);

/// Returns whether a directory entry is a file named *.yaml, or a link with such a name to nothing: reading
/// it is an error, where passing over it would lose its cases.
bool is_yaml_file(const std::filesystem::directory_entry& entry);

/// Returns the *.yaml files directly in a directory, sorted.
std::vector<std::filesystem::path> yaml_files_in(const std::filesystem::path& directory);

}  // namespace assay::cases
