#pragma once

#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace assay::test {

/// A kernel of shaders/ that entries of the gallery start from.
struct GalleryKernel {
  std::string shader;           ///< as programs name it: "copy.comp"
  std::string cases;            ///< a case file; a case named `shown` is one of its accuracy rows
  std::string input, output;    ///< GLSL: bindings of an input and of an output
  bool needs_matrices = false;  ///< the device must have cooperative matrices
};

/// A text of a source that is replaced by another.
struct SourceEdit {
  std::string was;  ///< a text that is there once
  std::string is;
};

/// A submission and what `assay judge` must say about it. Either it is a kernel with changes, or `files`
/// alone.
struct GalleryEntry {
  std::string name;  ///< NAME_of_KERNEL
  GalleryKernel kernel;
  std::vector<SourceEdit> edits;             ///< of the kernel
  std::string main;                          ///< a new main(); the kernel's is then honest_main()
  std::map<std::string, std::string> files;  ///< further files, by name
  std::map<std::string, std::string> links;  ///< symbolic links: name and target
  std::vector<std::string> options;          ///< of `assay judge`
  /// trusted, distrusted, wrong or incomplete; `unchanged` or `refused`: there is nothing to judge, or it is
  /// too large, and the exit code is 2.
  std::string verdict;
  std::string word;    ///< that a reason must have; in place of one a part of the message for exit code 2
  bool in_ci = false;  ///< else it runs on demand
  bool lavapipe_only = false;  ///< it may take down a real device
  std::string pending;  ///< the work that is to catch it; until then another verdict or word is expected
};

/// Prints a test's parameter for GoogleTest: CTest accepts no text with quotes and semicolons.
void PrintTo(const GalleryEntry& entry, std::ostream* stream);

/// Reads a gallery: a map `kernels` and a list `entries`, described in tests/cheats/README.md. An entry for
/// several kernels becomes several. Throws std::runtime_error that names the file, the line and what is
/// wrong.
std::vector<GalleryEntry> read_gallery(const std::filesystem::path& file);

/// The kernel's source with the entry's changes. Throws std::runtime_error if a text that is to be replaced
/// is not there once.
std::string changed_source(const GalleryEntry& entry, std::string source);

}  // namespace assay::test
