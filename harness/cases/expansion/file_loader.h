#pragma once

#include "harness/cases/expansion/case_expansion.h"
#include "harness/cases/expansion/expand.h"
#include "harness/cases/yaml/source_file.h"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace assay::cases {

/// Loads case files and the files that they include, each once.
class FileLoader {
 public:
  explicit FileLoader(LoadState& state) : state_(state) {}

  /// Adds the cases of a file to the state, after those of its includes. Errors go to the reporter. A file
  /// that a user named must have cases.
  void load(const std::filesystem::path& path, bool is_named);
  /// Returns the files loaded so far, by canonical path.
  std::vector<std::filesystem::path> files() const;

 private:
  struct File {
    std::unique_ptr<SourceFile> source;
    Arena nodes;
    const Node* root = nullptr;                ///< null: the file could not be read, or has been processed
    Sets sets;                                 ///< its own sets and those of its includes
    std::unordered_set<std::string> included;  ///< paths as the file writes them
    bool is_loading = true;
    bool has_cases = false;  ///< it has an op, or includes a file that has cases
    bool is_read = false;    ///< it could be read to its end
  };

  File& load_once(const std::filesystem::path& path);
  void parse(File& file, const std::filesystem::path& path);
  void read(File& file);
  void check_file_keys(const Node& root);
  void read_includes(File& file, const Node::Entry& entry);
  void include(File& file, const Node& item);
  void take_sets(File& file, const File& included, const Node& item);
  void read_sets(File& file, const Node::Entry& entry);
  const Op* read_op(const Node& root);
  const Op* declared_op(const File& file) const;
  std::shared_ptr<const Op> read_own_op(const Node& root);
  void check_set_names(const File& file, const Op& op);
  void read_cases(const File& file, const Op& op, const std::shared_ptr<const Op>& own_op);
  std::string include_chain(const File& again) const;

  LoadState& state_;
  std::map<std::string, File> files_;             ///< by canonical path
  std::map<std::string, SourceLocation> chains_;  ///< where each chain is declared, by its name
  std::vector<const File*> open_;                 ///< each one includes the next
};

}  // namespace assay::cases
