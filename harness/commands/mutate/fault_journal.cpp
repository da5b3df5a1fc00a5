#include "harness/commands/mutate/fault_journal.h"

#include "harness/base/error.h"
#include "harness/commands/mutate/trial_protocol.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <exception>
#include <fcntl.h>
#include <string_view>
#include <utility>

namespace assay::app {
namespace {

using nlohmann::json;

constexpr int journal_format = 1;

std::string line_of(const FaultRun& run) {
  std::vector<std::string> cases;
  for (const auto& path : run.choice.cases) cases.push_back(path.string());
  const json value{{"assay_mutate", journal_format},
                   {"version", run.version},
                   {"device", run.device},
                   {"driver", run.driver},
                   {"rows", run.rows},
                   {"sources", run.sources},
                   {"shaders", run.choice.shaders},
                   {"cases", cases},
                   {"folder", run.choice.folder.string()},
                   {"ops", run.choice.op_folder.string()},
                   {"seed", run.choice.seed},
                   {"per_file", run.choice.per_file},
                   {"since", run.choice.since},
                   {"shard", run.choice.shard},
                   {"most_rows", run.choice.rows}};
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

FaultRun run_of(std::string_view line) {
  const json value = json::parse(line);
  if (value.at("assay_mutate").get<int>() != journal_format)
    throw Error("its format is that of another version of assay");
  FaultRun run{.choice = {},
               .version = value.at("version").get<std::string>(),
               .device = value.at("device").get<std::string>(),
               .driver = value.at("driver").get<std::string>(),
               .rows = value.at("rows").get<std::string>(),
               .sources = value.at("sources").get<std::string>()};
  run.choice.shaders = value.at("shaders").get<std::vector<std::string>>();
  for (const json& path : value.at("cases")) run.choice.cases.emplace_back(path.get<std::string>());
  run.choice.folder = value.at("folder").get<std::string>();
  run.choice.op_folder = value.value("ops", "");
  run.choice.seed = value.at("seed").get<std::uint64_t>();
  run.choice.per_file = value.at("per_file").get<std::size_t>();
  run.choice.since = value.at("since").get<std::string>();
  run.choice.shard = value.at("shard").get<std::string>();
  run.choice.rows = value.at("most_rows").get<std::size_t>();
  return run;
}

int opened(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) throw_file_error("open", path, errno);
  return file;
}

}  // namespace

std::filesystem::path fault_journal_in(const std::filesystem::path& folder) {
  return folder / "faults.jsonl";
}

FaultJournalContent read_fault_journal(const std::filesystem::path& file) {
  const auto text = whole_file(file);
  if (!text) throw Error(fmt::format("reading a run of assay mutate: there is no {}", file.string()));
  FaultJournalContent content;
  std::string_view rest = *text;
  try {
    for (bool is_first = true; rest.find('\n') != std::string_view::npos; is_first = false) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(line.size() + 1);
      if (is_first) {
        content.run = run_of(line);
      } else {
        content.results.push_back(parse_result(line));
      }
    }
  } catch (const std::exception& error) {
    throw Error(fmt::format("reading a run of assay mutate: {} is damaged: {}", file.string(), error.what()));
  }
  if (content.run.version.empty())
    throw Error(fmt::format("reading a run of assay mutate: {} has no first line", file.string()));
  return content;
}

void check_same_run(const FaultRun& before, const FaultRun& now) {
  const auto check = [](const std::string& was, const std::string& is, const char* what) {
    if (was == is) return;
    throw Error(
        fmt::format("resuming a run of assay mutate: {} changed since; start a new run (--out)", what));
  };
  check(before.version, now.version, "the binary");
  check(before.sources, now.sources, "the shaders");
  check(before.rows, now.rows, "the cases, or what the device can run,");
  check(before.device + before.driver, now.device + now.driver, "the device or its driver");
}

FaultJournal::FaultJournal(const std::filesystem::path& file, const FaultJournalContent& known)
    : path_(file), file_([&] {
        std::string text = line_of(known.run);
        for (const FaultResult& result : known.results) text += result_json(result);
        replace_file(file, text);
        return opened(file);
      }()) {}

void FaultJournal::add(const FaultResult& result) {
  const std::string line = result_json(result);
  if (write_bytes(file_.get(), line) != line.size()) throw_file_error("write", path_, errno);
}

}  // namespace assay::app
