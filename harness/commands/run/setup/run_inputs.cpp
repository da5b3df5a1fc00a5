#include "harness/commands/run/setup/run_inputs.h"

#include "harness/base/file.h"
#include "harness/base/hash.h"
#include "harness/cases/expectations/expectations.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>
#include <vector>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

/// The words for inputs in a sentence, by their name in a journal.
constexpr std::array<std::pair<const char*, const char*>, 5> inputs{{
    {"binary", "the binary"},
    {"cases", "the case files"},
    {"expectations", "the expectations"},
    {"shaders", "the files in --shaders"},
    {"versus_shaders", "the files in --versus-shaders"},
}};

/// Prefix of the names of arrays that cases use; the path of the array's file follows.
constexpr std::string_view array_prefix = "array ";

/// The words for an input in a sentence.
std::string words_for(const std::string& name) {
  if (name.starts_with(array_prefix)) return "the array in " + name.substr(array_prefix.size());
  const auto* const found = std::ranges::find(inputs, name, [](const auto& input) { return input.first; });
  return found == inputs.end() ? name : found->second;
}

std::string hash_of_files(std::span<const fs::path> files) {
  Hasher hasher;
  for (const fs::path& file : files) {
    hasher.feed(file.filename().string() + '\n');
    read_in_pieces(file, [&](std::string_view piece) { hasher.feed(piece); });
  }
  return hasher.result();
}

std::string hash_of_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->is_regular_file(error)) files.push_back(at->path());
  }
  std::ranges::sort(files);
  return hash_of_files(files);
}

}  // namespace

std::map<std::string, std::string> run_inputs(const RunOptions& options, const LoadResult& loaded) {
  const std::array binary{fs::path("/proc/self/exe")};
  std::map<std::string, std::string> made{{"binary", hash_of_files(binary)},
                                          {"cases", hash_of_files(loaded.files)}};
  for (const auto& [file, hash] : loaded.arrays) made.emplace(std::string(array_prefix) + file, hash);
  const std::vector<fs::path> expectations = find_expectations(options.cases.paths());
  if (!expectations.empty()) made["expectations"] = hash_of_files(expectations);
  if (!options.shaders.empty()) made["shaders"] = hash_of_folder(options.shaders);
  if (!options.versus_shaders.empty()) made["versus_shaders"] = hash_of_folder(options.versus_shaders);
  return made;
}

std::optional<std::string> different_inputs(const std::map<std::string, std::string>& before,
                                            const std::map<std::string, std::string>& now) {
  std::string text;
  for (const auto& [name, hash] : before) {
    const auto other = now.find(name);
    if (other == now.end() || other->second == hash) continue;
    text += (text.empty() ? "" : " and ") + words_for(name);
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace assay::app
