#include "harness/cases/expansion/load.h"

#include "harness/cases/expansion/case_expansion.h"
#include "harness/cases/expansion/chain_file.h"
#include "harness/cases/expansion/expand.h"
#include "harness/cases/expansion/file_keys.h"
#include "harness/cases/yaml/scalars.h"
#include "harness/cases/yaml/source_file.h"
#include "harness/cases/yaml/yaml_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

namespace assay::cases {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t deepest_includes = 32;

/// Whether a file declares an op that is not part of the binary.
bool is_manifest(const Node& root) {
  return root.find("op") != nullptr && root.find("chain") == nullptr &&
         (root.find("impls") != nullptr || root.find("reference") != nullptr);
}

std::string canonical_text(const fs::path& path) {
  std::error_code error;
  const fs::path result = fs::weakly_canonical(path, error);
  return error ? path.lexically_normal().string() : result.string();
}

bool is_set_name(const std::string& name) {
  const bool starts_well = !name.empty() && !(name[0] >= '0' && name[0] <= '9');
  return starts_well && id_text(name) == name && name.find('.') == std::string::npos;
}

/// Returns what a word means everywhere in the language, or an empty string.
std::string meaning_of(const std::string& word) {
  static const std::array<std::string_view, 6> words{"true", "false", "all", "each", "npy", "null"};
  if (std::find(words.begin(), words.end(), word) != words.end()) return "a word of the case language";
  if (parse_fill(word)) return "a fill";
  if (parse_form(word)) return "a form";
  return {};
}

std::string meaning_of(const std::string& word, const Op& op) {
  if (op.find_impl(word) != nullptr) return "an impl of " + op.name;
  for (const ParamSpec& param : op.params) {
    const bool is_choice = std::find(param.choices.begin(), param.choices.end(), word) != param.choices.end();
    if (is_choice) return fmt::format("a choice of the parameter '{}' of {}", param.name, op.name);
  }
  return {};
}

Diagnostic ambiguous(const Node& key, const std::string& meaning) {
  return diagnose(key, fmt::format("the set's name '{}' is also {}: rename it", key.text, meaning));
}

/// Throws a Problem for a file that is a kernel by its name: there are two ways to run one.
void refuse_kernel(const fs::path& path) {
  const fs::path suffix = path.extension();
  if (suffix != ".comp" && suffix != ".spv" && suffix != ".glsl" && suffix != ".hlsl") return;
  throw Problem(file_diagnostic(
      path,
      "this is a kernel, and not a case file (those end in .yaml): to run one in place of assay's own of the "
      "same "
      "name, give its folder with --shaders; to run one of yours as an op, write a manifest beside it and "
      "give that "
      "folder with --ops: `assay new-op NAME --external` makes one that works (docs/own-ops.md)"));
}

/// Returns the problem of a file that is not YAML. If its name does not end like that of a case file either,
/// the message says so.
Problem with_name_checked(const Problem& problem, const fs::path& path) {
  const fs::path suffix = path.extension();
  if (suffix == ".yaml" || suffix == ".yml") return problem;
  std::vector<Diagnostic> diagnostics = problem.diagnostics();
  for (Diagnostic& diagnostic : diagnostics) {
    diagnostic.message = fmt::format("this is not a case file (those end in .yaml): {}", diagnostic.message);
  }
  return Problem(std::move(diagnostics));
}

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

void FileLoader::load(const fs::path& path, bool is_named) {
  const std::size_t errors = state_.reporter.size();
  const File& file = load_once(path);
  if (is_named && file.is_read && !file.has_cases && state_.reporter.size() == errors) {
    state_.reporter.add(file_diagnostic(
        path,
        "the file has no cases, only what other files may include: add 'op' and 'cases', or name one of "
        "those files"));
  }
}

std::vector<std::filesystem::path> FileLoader::files() const {
  std::vector<std::filesystem::path> paths;
  for (const auto& [path, file] : files_) paths.emplace_back(path);
  return paths;
}

FileLoader::File& FileLoader::load_once(const fs::path& path) {
  const auto [found, is_new] = files_.try_emplace(canonical_text(path));
  File& file = found->second;
  if (!is_new) return file;
  open_.push_back(&file);
  try {
    parse(file, path);
    if (file.root != nullptr) read(file);
  } catch (const Problem& problem) {
    state_.reporter.add(problem);
  }
  open_.pop_back();
  file.is_loading = false;
  file.root = nullptr;
  if (file.sets.all().empty()) file.nodes.clear();  // else those who include it may need them
  return file;
}

void FileLoader::parse(File& file, const fs::path& path) {
  refuse_kernel(path);
  file.source = std::make_unique<SourceFile>(SourceFile::read(path));
  const Node* root = nullptr;
  try {
    root = parse_yaml(*file.source, file.nodes);
  } catch (const Problem& problem) {
    throw with_name_checked(problem, path);
  }
  if (root == nullptr || root->is_null()) {
    throw Problem(
        file.source->diagnose({}, "the file is empty: a case file has an 'op' and a list of 'cases'"));
  }
  if (!root->is_map()) {
    throw Problem(diagnose(
        *root,
        "a case file is a map with an 'op' and a list of 'cases', but this one is " + describe(*root)));
  }
  file.root = root;
}

void FileLoader::read(File& file) {
  const Node& root = *file.root;
  check_file_keys(root);
  if (const Node::Entry* entry = root.find_entry("include")) read_includes(file, *entry);
  if (const Node::Entry* entry = root.find_entry("sets")) read_sets(file, *entry);
  const std::shared_ptr<const Op> own_op = read_own_op(root);
  const Op* op = own_op ? own_op.get() : is_manifest(root) ? declared_op(file) : read_op(root);
  file.is_read = true;
  if (op == nullptr) return;
  file.has_cases = true;
  check_set_names(file, *op);
  read_cases(file, *op, own_op);
}

void FileLoader::check_file_keys(const Node& root) {
  for (const Flaw& flaw : root.flaws) state_.reporter.add(diagnose(flaw));
  const std::vector<std::string>& known = is_manifest(root) ? manifest_keys() : case_file_keys();
  for (const Node::Entry& entry : root.entries) {
    if (!entry.key->is_scalar() || entry.key->is_plain("<<")) continue;
    const std::string& key = entry.key->text;
    if (std::find(known.begin(), known.end(), key) == known.end())
      state_.reporter.add(unknown_name(*entry.key, "key", key, known));
  }
}

void FileLoader::read_includes(File& file, const Node::Entry& entry) {
  if (!entry.value->is_list()) wrong_type(*entry.value, {entry.key, "include"}, "a list of files");
  for (const Node* item : entry.value->items) {
    try {
      include(file, item->is_null() ? *entry.key : *item);
    } catch (const Problem& problem) {
      state_.reporter.add(problem);
    }
  }
}

void FileLoader::include(File& file, const Node& item) {
  if (!item.is_scalar() || item.text.empty())
    throw Problem(diagnose(item, "an include must be the name of a file"));
  refuse_nul(item, item.text);
  if (!file.included.insert(item.text).second) return;  // what it brings is there
  const fs::path path = (file.source->path().parent_path() / item.text).lexically_normal();
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (!fs::exists(status))
    throw Problem(diagnose(item, fmt::format("included file {} does not exist", path.string())));
  if (!fs::is_regular_file(status)) {
    throw Problem(diagnose(item, fmt::format("included file {} is {}, not a file", path.string(),
                                             fs::is_directory(status) ? "a folder" : "a device or FIFO")));
  }
  if (open_.size() >= deepest_includes) {
    throw Problem(diagnose(item, fmt::format("includes are nested more than {} deep", deepest_includes)));
  }
  const File& included = load_once(path);
  if (included.is_loading) {
    throw Problem(diagnose(item, fmt::format("include cycle: {}", include_chain(included))));
  }
  file.has_cases |= included.has_cases;
  take_sets(file, included, item);
}

std::string FileLoader::include_chain(const File& again) const {
  std::string chain;
  for (auto at = std::find(open_.begin(), open_.end(), &again); at != open_.end(); ++at) {
    chain += (*at)->source->path().string() + " -> ";
  }
  return chain + again.source->path().string();
}

void FileLoader::take_sets(File& file, const File& included, const Node& item) {
  for (const auto& [name, set] : included.sets.all()) {
    if (file.sets.add(set.key, set.value)) continue;
    const Node* known = file.sets.find(name)->key;
    if (known == set.key) continue;
    const SourceLocation first = location_of(*known), second = location_of(*set.key);
    state_.reporter.add(diagnose(item, fmt::format("the set '{}' is defined at {}:{} and at {}:{}", name,
                                                   first.file, first.line, second.file, second.line)));
  }
}

void FileLoader::read_sets(File& file, const Node::Entry& entry) {
  if (!entry.value->is_map()) wrong_type(*entry.value, {entry.key, "sets"}, "a map of named values");
  state_.reporter.add_flaws(*entry.value);
  std::unordered_set<std::string_view> seen;
  for (const Node::Entry& set : entry.value->entries) {
    if (!set.key->is_scalar() || !seen.insert(set.key->text).second) continue;
    if (set.key->text == "<<") continue;
    const std::string meaning = meaning_of(set.key->text);
    if (!is_set_name(set.key->text)) {
      state_.reporter.add(diagnose(
          *set.key,
          fmt::format(
              "a set's name may have only letters, digits and '_' and must not begin with a digit, got '{}'",
              set.key->text)));
    } else if (!meaning.empty()) {
      state_.reporter.add(ambiguous(*set.key, meaning));
    } else if (set.value->is_null()) {
      state_.reporter.add(diagnose(*set.key, fmt::format("the set '{}' has no value", set.key->text)));
    } else if (!file.sets.add(set.key, set.value)) {
      const SourceLocation first = location_of(*file.sets.find(set.key->text)->key);
      state_.reporter.add(diagnose(*set.key, fmt::format("the set '{}' is already defined at {}:{}",
                                                         set.key->text, first.file, first.line)));
    }
  }
}

/// Returns the chain that a file declares, or null.
std::shared_ptr<const Op> FileLoader::read_own_op(const Node& root) {
  const Node::Entry* entry = root.find_entry("chain");
  if (is_manifest(root)) return nullptr;
  if (entry == nullptr) {
    for (const std::string key : {"params", "tensors", "nodes", "outputs"}) {
      const Node::Entry* part = root.find_entry(key);
      if (part != nullptr) {
        throw Problem(
            diagnose(*part->key, fmt::format("a file with '{}' declares a chain: give it a name with "
                                             "'chain'",
                                             key)));
      }
    }
    return nullptr;
  }
  if (const Node::Entry* op = root.find_entry("op"))
    throw Problem(diagnose(*op->key, "a file has the cases of one op or of one chain, not of both"));
  if (root.find("cases") == nullptr)
    throw Problem(diagnose(*entry->key, "the file declares a chain but has no 'cases'"));
  auto made = std::make_shared<const Op>(read_chain(root, state_.registry, state_.options));
  const auto [known, is_new] = chains_.emplace(made->name, location_of(*entry->key));
  if (!is_new) {
    throw Problem(diagnose(*entry->key, fmt::format("the chain '{}' is already declared at {}:{}", made->name,
                                                    known->second.file, known->second.line)));
  }
  return made;
}

/// The problem of an op that nobody has. Without a name near it, it may be one that a manifest declares.
Problem unknown_op(const Node& key, const std::string& name, const Registry& registry) {
  std::vector<std::string> names;
  for (const Op& op : registry.ops()) names.push_back(op.name);
  Diagnostic diagnostic = unknown_name(key, "op", name, names).diagnostics().front();
  if (diagnostic.suggestion.empty()) diagnostic.message += "; an op of a manifest needs --ops";
  return Problem(std::move(diagnostic));
}

const Op* FileLoader::read_op(const Node& root) {
  const Node::Entry* entry = root.find_entry("op");
  if (entry == nullptr) {
    for (const std::string key : {"cases", "defaults"}) {
      const Node::Entry* user = root.find_entry(key);
      if (user != nullptr)
        throw Problem(diagnose(*user->key, fmt::format("a file with '{}' needs an 'op'", key)));
    }
    return nullptr;
  }
  const std::string& name = to_text(*entry->value, {entry->key, "op"});
  const Op* op = state_.registry.find(name);
  if (op == nullptr) throw unknown_op(*entry->key, name, state_.registry);
  if (root.find("cases") == nullptr) {
    throw Problem(diagnose(*entry->key, fmt::format("the file names the op '{}' but has no 'cases'", name)));
  }
  return op;
}

/// Returns the op that a manifest declares, which was loaded from it before; null if it has no cases.
const Op* FileLoader::declared_op(const File& file) const {
  const Node::Entry& entry = *file.root->find_entry("op");
  const std::string& name = to_text(*entry.value, {entry.key, "op"});
  const Op* op = state_.registry.find(name);
  const bool is_loaded = op != nullptr && !op->declared_in.empty() &&
                         canonical_text(op->declared_in) == canonical_text(file.source->path());
  if (!is_loaded) {
    throw Problem(diagnose(
        *entry.key,
        fmt::format("the file declares the op '{}', whose reference is a program: if you trust it, give "
                    "its folder with --ops",
                    name)));
  }
  return file.root->find("cases") == nullptr ? nullptr : op;
}

void FileLoader::check_set_names(const File& file, const Op& op) {
  for (const auto& [name, set] : file.sets.all()) {
    const std::string meaning = meaning_of(name, op);
    if (!meaning.empty()) state_.reporter.add(ambiguous(*set.key, meaning));
  }
}

void FileLoader::read_cases(const File& file, const Op& op, const std::shared_ptr<const Op>& own_op) {
  CaseExpansion expansion(state_, op, file.sets, own_op);
  if (const Node::Entry* entry = file.root->find_entry("defaults")) {
    if (!entry->value->is_map())
      wrong_type(*entry->value, {entry->key, "defaults"}, "a map of keys of a case");
    expansion.set_defaults(*entry->value);
  }
  const Node::Entry& entry = *file.root->find_entry("cases");
  if (!entry.value->is_list()) wrong_type(*entry.value, {entry.key, "cases"}, "a list of cases");
  if (entry.value->items.empty()) throw Problem(diagnose(*entry.key, "'cases' is an empty list"));
  for (const Node* node : entry.value->items) {
    if (node->is_null()) {
      state_.reporter.add(diagnose(*entry.key, "a case in this list is empty"));
    } else {
      expansion.add(*node);
    }
  }
}

}  // namespace
}  // namespace assay::cases

namespace assay {
namespace {

void check_param_names(const Registry& registry) {
  for (const Op& op : registry.ops()) {
    for (const ParamSpec& param : op.params) {
      if (!cases::is_reserved(param.name)) continue;
      throw std::logic_error("op " + op.name + " declares a parameter '" + param.name +
                             "', which is a key of the case language");
    }
  }
}

}  // namespace

LoadResult load_cases(std::span<const std::filesystem::path> files_or_directories, const Registry& registry,
                      const LoadOptions& options) {
  check_param_names(registry);
  cases::LoadState state{registry, options, {}, {}, {}, {}, 0};
  cases::FileLoader loader(state);
  for (const std::filesystem::path& path : files_or_directories) {
    try {
      std::error_code ignored;
      const bool is_named = !std::filesystem::is_directory(path, ignored);
      for (const std::filesystem::path& file : cases::case_files(path)) loader.load(file, is_named);
    } catch (const cases::Problem& problem) {
      state.reporter.add(problem);
    }
  }
  return {std::move(state.cases).take(), state.reporter.take(), loader.files(), state.npy_files.hashes()};
}

}  // namespace assay
