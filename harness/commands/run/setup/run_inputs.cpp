#include "harness/commands/run/setup/run_inputs.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/hash.h"
#include "harness/cases/expectations/expectations.h"
#include "harness/cases/yaml/source_file.h"
#include "harness/commands/device_profiles.h"
#include "harness/commands/find_report.h"
#include "harness/external/external_op.h"
#include "harness/report/journal/journal_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

/// The words for inputs in a sentence, by their name in a journal.
constexpr std::array<std::pair<const char*, const char*>, 9> inputs{{
    {"binary", "the binary"},
    {"cases", "the case files"},
    {"expectations", "the expectations"},
    {"shaders", "the files in --shaders"},
    {"versus_shaders", "the files in --versus-shaders"},
    {"times", "the report in --times"},
    {"ops", "the folders of --ops"},
    {"as_if", "the limits in --as-if"},
    {"tuning", "the entries of the tuning file"},
}};

/// Prefix of the names of arrays that cases use; the path of the array's file follows.
constexpr std::string_view array_prefix = "array ";

/// The words for an input in a sentence.
std::string words_for(const std::string& name) {
  if (name.starts_with(array_prefix)) return "the array in " + name.substr(array_prefix.size());
  const auto* const found = std::ranges::find(inputs, name, [](const auto& input) { return input.first; });
  return found == inputs.end() ? name : found->second;
}

constexpr std::uintmax_t any_size = std::numeric_limits<std::uintmax_t>::max();

/// The hash of files, in which what is no regular file or too large (and refused where it is used) has no
/// content.
std::string hash_of_files(std::span<const fs::path> files, std::uintmax_t most_bytes = any_size) {
  Hasher hasher;
  for (const fs::path& file : files) {
    hasher.feed(file.filename().string() + '\n');
    read_regular_file(file, most_bytes, [&](std::string_view piece) { hasher.feed(piece); });
  }
  return hasher.result();
}

std::string hash_of_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;  // of a link to itself
    if (at->is_regular_file(ignored)) files.push_back(at->path());
  }
  std::ranges::sort(files);
  return hash_of_files(files);
}

constexpr const char* start_anew = "run the cases again into a new folder instead";

/// The folder of the run that a device's folder belongs to, links followed.
fs::path run_folder_of(const fs::path& journal) {
  std::error_code error;
  const fs::path device = fs::canonical(journal.parent_path(), error);
  const fs::path whole = (error ? journal.parent_path() : device).parent_path();
  const fs::path from_here = fs::relative(whole, error);
  return error || from_here.empty() || *from_here.begin() == ".." ? whole : from_here;
}

bool is_same(const RowInfo& a, const RowInfo& b) {
  return a.id == b.id && a.mode == b.mode && a.op == b.op && a.impl == b.impl && a.group == b.group &&
         a.params == b.params && a.forms == b.forms && a.tune == b.tune && a.fill == b.fill &&
         a.seed == b.seed;
}

}  // namespace

std::map<std::string, std::string> run_inputs(const RunOptions& options, const LoadResult& loaded) {
  const std::array binary{fs::path("/proc/self/exe")};
  std::map<std::string, std::string> made{
      {"binary", hash_of_files(binary)},
      {"cases", hash_of_files(loaded.files, cases::SourceFile::max_bytes)}};
  for (const auto& [file, hash] : loaded.arrays) made.emplace(std::string(array_prefix) + file, hash);
  const std::vector<fs::path> expectations = options.cases.expectation_files();
  if (!expectations.empty()) {
    made["expectations"] = hash_of_files(expectations, cases::SourceFile::max_bytes);
  }
  if (!options.cases.times.empty()) {
    const std::array journal{only_journal(options.cases.times)};
    made["times"] = hash_of_files(journal);
  }
  std::string ops;
  for (const fs::path& folder : options.cases.op_folders) ops += external::folder_hash(folder) + '\n';
  if (!ops.empty()) made["ops"] = hash_hex(ops);
  if (const auto profile = profile_of(options.as_if)) made["as_if"] = hash_hex(profile_json(profile->device));
  if (!options.shaders.empty()) made["shaders"] = hash_of_folder(options.shaders);
  if (!options.versus_shaders.empty()) made["versus_shaders"] = hash_of_folder(options.versus_shaders);
  return made;
}

std::optional<std::string> different_inputs(const std::map<std::string, std::string>& before,
                                            const std::map<std::string, std::string>& now) {
  std::string text;
  for (const auto& [name, hash] : before) {
    const auto other = now.find(name);
    if (name == tuning_file_input || other == now.end() || other->second == hash) continue;
    text += (text.empty() ? "" : " and ") + words_for(name);
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

std::optional<std::string> inputs_of_one_only(const std::map<std::string, std::string>& one,
                                              const std::map<std::string, std::string>& other) {
  std::string text;
  if (other.empty()) return std::nullopt;  // nothing is known about them
  for (const auto& [name, hash] : one) {
    if (name != tuning_file_input && !other.contains(name))
      text += (text.empty() ? "" : " and ") + words_for(name);
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

ResumedRun find_resumed_run(const fs::path& path) {
  std::vector<fs::path> journals = journals_of(path);
  const auto newest = std::ranges::max_element(
      journals, {}, [](const fs::path& journal) { return run_folder_of(journal).filename().string(); });
  ResumedRun run{.folder = run_folder_of(*newest)};
  const RunInfo info = run_of_journal(*newest);
  run.command = info.command;
  run.shard = info.shard;
  run.secret_seed = info.secret_seed;
  if (run.command.size() < 2) {
    throw Error(
        fmt::format("resuming a run: {} does not contain its command line: it was killed before it began; {}",
                    newest->string(), start_anew));
  }
  return run;
}

std::optional<std::string> refuse_other_run(const RunInfo& before, const RunInfo& now) {
  const auto refused = [&](const std::string& what) {
    return fmt::format("resuming run {}: {}; {}", before.run_id, what, start_anew);
  };
  if (before.device.uuid != now.device.uuid || before.device.name != now.device.name) {
    return refused(fmt::format("it ran on the device {} ({}), but this is {} ({})", before.device.name,
                               before.device.uuid, now.device.name, now.device.uuid));
  }
  if (before.device.driver_info != now.device.driver_info) {
    return refused(
        fmt::format("the driver was {} and is {}", before.device.driver_info, now.device.driver_info));
  }
  if (before.version != now.version)
    return refused(fmt::format("assay was {} and is {}", before.version, now.version));
  if (const auto inputs = different_inputs(before.inputs, now.inputs))
    return refused(*inputs + " have changed");
  if (const auto inputs = inputs_of_one_only(before.inputs, now.inputs))
    return refused(*inputs + " are gone");
  if (const auto inputs = inputs_of_one_only(now.inputs, before.inputs))
    return refused(*inputs + " were added since");
  return std::nullopt;
}

std::optional<std::string> refuse_other_plan(const ReportBuilder& journal, std::span<const RowInfo> now) {
  if (!journal.has_plan()) return std::nullopt;
  for (RowIndex row = 0; row < std::min(journal.rows(), now.size()); ++row) {
    if (is_same(journal.info(row), now[row])) continue;
    return fmt::format("resuming a run: its row {} was {} ({}), and is {} ({}) now; {}", row,
                       journal.info(row).id, journal.info(row).params, now[row].id, now[row].params,
                       start_anew);
  }
  if (journal.rows() == now.size()) return std::nullopt;
  return fmt::format("resuming a run: it had {} rows, but the case files give {} now; {}", journal.rows(),
                     now.size(), start_anew);
}

}  // namespace assay::app
