#include "harness/external/manifest/manifest_reader.h"

#include "harness/base/source_hash.h"
#include "harness/external/manifest/impl_reader.h"
#include "harness/external/manifest/param_reader.h"
#include "harness/external/manifest/reference_reader.h"
#include "harness/external/manifest/tensor_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::external {
namespace {

using cases::diagnose;
using cases::Problem;
using cases::Problems;

/// Reads one manifest. Everything is read, so that no error hides another, unless a part depends on a wrong
/// one.
class ManifestReader {
 public:
  explicit ManifestReader(const Node& root) : root_(root) {
    made_.file = root.file->path();
    made_.text_hash = source_hash(root.file->text());
    made_.folder = made_.file.has_parent_path() ? made_.file.parent_path() : ".";
  }

  Manifest read() {
    read_head();
    if (const Node::Entry* params = root_.find_entry("params")) made_.params = read_params(*params);
    const Scope scope = scope_of(made_.params);
    made_.tensors = read_tensors(entry("tensors"), made_.params, scope, has_class_elsewhere());
    Problems problems;
    problems.attempt([&] { read_work(scope); });
    problems.attempt([&] { made_.reference = read_reference(entry("reference"), made_, scope); });
    problems.attempt([&] { read_include_folders(); });
    problems.attempt([&] { made_.impls = read_impls(entry("impls"), made_, scope); });
    problems.settle();
    return std::move(made_);
  }

 private:
  const Node::Entry& entry(const std::string& key) const {
    return required(root_, key, *root_.find_entry("op")->key, fmt::format("the manifest of '{}'", made_.op));
  }

  /// Whether another op says how outputs are checked.
  bool has_class_elsewhere() const {
    const Node::Entry* reference = root_.find_entry("reference");
    return reference != nullptr && reference->value->is_map() &&
           reference->value->find_entry("op") != nullptr;
  }

  void read_head() {
    const Node::Entry& op = required(root_, "op", root_, "the manifest");
    made_.op = cases::to_text(*op.value, {op.key, "op"});
    check_name(*op.value, "an op");
    made_.summary = text_in(root_, "summary");
    if (const Node::Entry* version = root_.find_entry("version")) {
      constexpr std::int64_t most = 1'000'000;
      const std::int64_t given = cases::to_integer(*version->value, {version->key, "version"});
      if (given < 1 || given > most)
        throw Problem(diagnose(*version->value, fmt::format("a version is 1 to {}", most)));
      made_.version = static_cast<int>(given);
    }
  }

  void read_work(Scope scope) {
    static const std::vector<std::string> keys{"ops", "bytes_read", "bytes_written"};
    const Node::Entry* work = root_.find_entry("work");
    if (work == nullptr) return;
    if (!work->value->is_map()) cases::wrong_type(*work->value, {work->key, "work"}, "a map with 'ops'");
    cases::check_keys(*work->value, keys);
    for (const DeclaredTensor& tensor : made_.tensors) {
      for (const char* fact : {".shape", ".elements", ".bytes"}) scope.names.push_back(tensor.name + fact);
    }
    const auto expression = [&](const std::string& key) -> std::optional<PlacedExpression> {
      const Node::Entry* given = work->value->find_entry(key);
      if (given == nullptr) return std::nullopt;
      return expression_of(*given->value, {given->key, key}, scope);
    };
    made_.operations = expression("ops");
    made_.bytes_read = expression("bytes_read");
    made_.bytes_written = expression("bytes_written");
  }

  void read_include_folders() {
    const Node::Entry* folders = root_.find_entry("include_folders");
    if (folders == nullptr) return;
    if (!folders->value->is_list())
      cases::wrong_type(*folders->value, {folders->key, "include_folders"}, "a list of folders");
    for (const Node* item : folders->value->items)
      made_.include_folders.push_back(folder_in(made_.folder, *item, {folders->key, "include_folders"}));
  }

  const Node& root_;
  Manifest made_;
};

}  // namespace

Manifest read_manifest(const Node& root) {
  return ManifestReader(root).read();
}

}  // namespace assay::external
