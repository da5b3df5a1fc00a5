#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace assay::test {

/// A fault that somebody might make in a kernel: a text of its source replaced by another, and what must see
/// it. Either `rows`, `tests` or `fuzzed_op` is given.
struct SeededFault {
  std::string name;    ///< letters, digits, _
  std::string shader;  ///< "copy.comp", or the path of an include below shaders/
  std::string was;     ///< a text of it: exactly one, unless `all`
  std::string is;      ///< what stands there instead
  bool all = false;    ///< every `was` is replaced
  std::string rows;    ///< ids of accuracy rows, as `assay run --filter` takes them
  std::vector<std::string> tiers;
  std::string cases;         ///< file or folder of the rows, where they are not among those of their ops
  std::string tests;         ///< tests of ops_test that run impls as if on another device
  std::size_t at_least = 2;  ///< how many rows, or trials of the tests, must fail
  /// The word that the diagnosis of rows must have (Diagnosis::word), "silent" if there must be none; empty:
  /// any.
  std::string word;
  bool missed = false;    ///< the diagnosis is known not to have it
  std::string fuzzed_op;  ///< an op of which `assay fuzz` must find it, as no written case does
  std::string why;        ///< no written case shows it
  bool in_ci = false;     ///< CI fuzzes it; else it is done on demand
};

/// Prints a test's parameter for GoogleTest as its shader: CTest accepts no text with quotes and semicolons.
void PrintTo(const SeededFault& fault, std::ostream* stream);

/// Reads a list of faults. Throws std::runtime_error that names the file, the line and what is wrong there:
/// no YAML, a key that is not known or is missing, two faults of one name.
std::vector<SeededFault> read_faults(const std::filesystem::path& file);

/// The source with the fault in it. Throws std::runtime_error where `was` is not in the source, or is there
/// several times and the fault does not say `all`.
std::string with_fault(const SeededFault& fault, std::string source);

}  // namespace assay::test
