#include "tests/cheats/gallery.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string_view>

namespace assay::test {
namespace {

constexpr std::array<std::string_view, 6> verdicts{"trusted",    "distrusted", "wrong",
                                                   "incomplete", "unchanged",  "refused"};

class GalleryReader {
 public:
  explicit GalleryReader(std::filesystem::path file) : file_(std::move(file)) {}

  std::vector<GalleryEntry> read() {
    const YAML::Node all = YAML::LoadFile(file_.string());
    if (!all.IsMap() || !all["kernels"].IsMap() || !all["entries"].IsSequence())
      throw wrong(all, "this is no map of `kernels` and `entries`");
    for (const auto& kernel : all["kernels"])
      kernels_[kernel.first.as<std::string>()] = read_kernel(kernel.second);
    std::vector<GalleryEntry> entries;
    for (const YAML::Node& node : all["entries"]) add_entries(node, entries);
    return entries;
  }

 private:
  std::runtime_error wrong(const YAML::Node& at, const std::string& what) const {
    return std::runtime_error(file_.string() + ":" + std::to_string(at.Mark().line + 1) + ": " + what);
  }

  void check_keys(const YAML::Node& node, const std::set<std::string>& known) const {
    if (!node.IsMap()) throw wrong(node, "this is no map");
    for (const auto& entry : node) {
      const auto key = entry.first.as<std::string>();
      if (!known.contains(key)) throw wrong(entry.first, "unknown key '" + key + "'");
    }
  }

  std::string text(const YAML::Node& node, const std::string& key) const {
    if (!node[key] || !node[key].IsScalar()) throw wrong(node, "the text '" + key + "' is missing");
    return node[key].as<std::string>();
  }

  GalleryKernel read_kernel(const YAML::Node& node) const {
    check_keys(node, {"shader", "cases", "input", "output", "matrices"});
    return {.shader = text(node, "shader"),
            .cases = text(node, "cases"),
            .input = text(node, "input"),
            .output = text(node, "output"),
            .needs_matrices = is_true(node["matrices"])};
  }

  std::vector<std::string> kernels_of(const YAML::Node& node) const {
    const YAML::Node of = node["of"];
    if (!of) throw wrong(node, "`of` is missing: the name of a kernel, or a list of them");
    if (of.IsScalar()) return {of.as<std::string>()};
    return of.as<std::vector<std::string>>();
  }

  static std::map<std::string, std::string> texts(const YAML::Node& node) {
    if (!node) return {};
    return node.as<std::map<std::string, std::string>>();
  }

  static bool is_true(const YAML::Node& node) { return node && node.as<bool>(); }

  static std::string text_or_empty(const YAML::Node& node) {
    return node ? node.as<std::string>() : std::string();
  }

  GalleryEntry read_entry(const YAML::Node& node) const {
    check_keys(node, {"name", "of", "edits", "main", "files", "links", "options", "verdict", "word", "ci",
                      "lavapipe_only", "pending"});
    GalleryEntry entry;
    entry.name = text(node, "name");
    entry.verdict = text(node, "verdict");
    if (std::ranges::find(verdicts, entry.verdict) == verdicts.end())
      throw wrong(node["verdict"], "'" + entry.verdict + "' is no verdict");
    entry.word = text_or_empty(node["word"]);
    entry.main = text_or_empty(node["main"]);
    entry.pending = text_or_empty(node["pending"]);
    entry.in_ci = is_true(node["ci"]);
    entry.lavapipe_only = is_true(node["lavapipe_only"]);
    entry.files = texts(node["files"]);
    entry.links = texts(node["links"]);
    if (node["options"]) entry.options = node["options"].as<std::vector<std::string>>();
    for (const YAML::Node& edit : node["edits"]) {
      check_keys(edit, {"was", "is"});
      entry.edits.push_back({text(edit, "was"), text(edit, "is")});
    }
    if (entry.edits.empty() && entry.main.empty() && entry.files.empty() && entry.links.empty())
      throw wrong(node, "'" + entry.name + "' changes nothing");
    return entry;
  }

  void add_entries(const YAML::Node& node, std::vector<GalleryEntry>& entries) {
    const GalleryEntry entry = read_entry(node);
    for (const std::string& kernel : kernels_of(node)) {
      const auto found = kernels_.find(kernel);
      if (found == kernels_.end()) throw wrong(node["of"], "there is no kernel '" + kernel + "'");
      GalleryEntry of_kernel = entry;
      of_kernel.kernel = found->second;
      of_kernel.name += "_of_" + kernel;
      if (!names_.insert(of_kernel.name).second)
        throw wrong(node, "there is a second entry '" + of_kernel.name + "'");
      entries.push_back(std::move(of_kernel));
    }
  }

  std::filesystem::path file_;
  std::map<std::string, GalleryKernel> kernels_;
  std::set<std::string> names_;
};

void replace_once(const GalleryEntry& entry, std::string& source, const SourceEdit& edit) {
  const std::size_t at = source.find(edit.was);
  const std::string story =
      entry.name + " replaces \"" + edit.was + "\" in the shader " + entry.kernel.shader;
  if (at == std::string::npos)
    throw std::runtime_error(story + ", where it is not: give the text that is there");
  if (source.find(edit.was, at + 1) != std::string::npos)
    throw std::runtime_error(story + ", where it is several times: give more of the line");
  source.replace(at, edit.was.size(), edit.is);
}

}  // namespace

void PrintTo(const GalleryEntry& entry, std::ostream* stream) {
  *stream << entry.kernel.shader;
}

std::vector<GalleryEntry> read_gallery(const std::filesystem::path& file) {
  try {
    return GalleryReader(file).read();
  } catch (const YAML::Exception& error) {
    throw std::runtime_error("reading the gallery in " + file.string() + ": " + error.what());
  }
}

std::string changed_source(const GalleryEntry& entry, std::string source) {
  for (const SourceEdit& edit : entry.edits) replace_once(entry, source, edit);
  if (entry.main.empty()) return source;
  replace_once(entry, source, {"void main()", "void honest_main()"});
  return source + "\n#define INPUT " + entry.kernel.input + "\n#define OUTPUT " + entry.kernel.output + "\n" +
         entry.main;
}

}  // namespace assay::test
