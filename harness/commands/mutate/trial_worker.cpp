#include "harness/commands/mutate/trial_worker.h"

#include "harness/base/file.h"
#include "harness/base/parallel.h"
#include "harness/base/text.h"
#include "harness/commands/context.h"
#include "harness/commands/loaded_cases.h"
#include "harness/commands/mutate/fault_result.h"
#include "harness/commands/run/setup/engine_options.h"
#include "harness/engine/ceilings/matrix_check.h"

#include <nlohmann/json.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sys/prctl.h>
#include <unistd.h>

namespace assay::app {
namespace {

using nlohmann::json;

/// Messages of drivers and compilers may hold anything.
std::string dumped(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

json json_of(const Kill& kill) {
  return {{"row", kill.row}, {"how", shortened(printable(first_line(kill.how)), 200)}, {"word", kill.word}};
}

Kill kill_of(const json& value) {
  return {value.at("row").get<std::string>(), value.at("how").get<std::string>(),
          value.at("word").get<std::string>()};
}

json json_of(const FaultResult& result) {
  json kills = json::array();
  for (const Kill& kill : result.kills) kills.push_back(json_of(kill));
  return {{"id", result.id},
          {"end", name_of(result.end)},
          {"kills", kills},
          {"rows_ran", result.rows_ran},
          {"rows_left", result.rows_left},
          {"cpu_s", result.cpu_s},
          {"why", printable(result.why)}};
}

FaultResult result_of(const json& value) {
  FaultResult result{.id = value.at("id").get<std::string>(),
                     .end = parse_fault_end(value.at("end").get<std::string>()),
                     .kills = {},
                     .rows_ran = value.at("rows_ran").get<std::size_t>(),
                     .rows_left = value.at("rows_left").get<std::size_t>(),
                     .cpu_s = value.at("cpu_s").get<double>(),
                     .why = value.at("why").get<std::string>()};
  for (const json& kill : value.at("kills")) result.kills.push_back(kill_of(kill));
  return result;
}

std::vector<std::string> texts(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::string> all;
  for (const auto& path : paths) all.push_back(path.string());
  return all;
}

std::vector<std::filesystem::path> paths(const json& texts) {
  std::vector<std::filesystem::path> all;
  for (const json& text : texts) all.emplace_back(text.get<std::string>());
  return all;
}

/// Beyond it a worker ends after its fault, and another takes its place: drivers keep what they compile.
constexpr std::size_t most_resident_bytes = std::size_t{1536} << 20;

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Other workers use the other cores. Kernels run once or twice, so that optimizing them costs more than it
/// saves, and no driver needs to remember what no one will run again.
void prepare_environment() {
  ::setenv("LP_NUM_THREADS", "1", 0);
  ::setenv("GALLIVM_PERF", "nopt", 0);
  ::setenv("MESA_SHADER_CACHE_DISABLE", "true", 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit_parallel_threads(1);
}

void tell(const TrialNews& news) {
  std::cout << line_of(news) << std::flush;
}

/// Leaves without the exit handlers of a driver whose memory may be damaged.
[[noreturn]] void leave() {
  std::cout.flush();
  ::_exit(0);
}

void serve_faults(TrialBench& bench) {
  const TrialBench::Listener listener{.begin = [](std::size_t row) { tell({.row = row}); },
                                      .end = [] { tell({.row = no_row}); },
                                      .goes_on = [] { tell({.row = no_row}); },
                                      .killed =
                                          [](std::size_t row, const Kill& kill) {
                                            tell({.kill = TrialNews::RowKill{row, kill}});
                                          }};
  for (std::string line; std::getline(std::cin, line);) {
    try {
      const FaultResult result = bench.run(parse_request(line), listener);
      const bool is_lost = bench.is_lost();
      const bool retires = is_lost || resident_bytes() > most_resident_bytes;
      tell({.end = TrialNews::End{result, retires}});
      if (retires) leave();
    } catch (const DamagedProcess& error) {
      tell({.damaged = error.what()});
      leave();
    } catch (const Error& error) {
      tell({.error = error.what(), .error_code = error.code()});
      leave();
    } catch (const std::exception& error) {
      tell({.error = error.what()});
      leave();
    }
  }
}

CaseOptions cases_of(const TrialSetup& setup) {
  CaseOptions options;
  options.files = setup.cases;
  options.op_folders = setup.op_folders;
  options.mode = "accu";
  return options;
}

}  // namespace

std::string line_of(const TrialSetup& setup) {
  return dumped({{"cases", texts(setup.cases)},
                 {"ops", texts(setup.op_folders)},
                 {"shaders", setup.shaders.string()},
                 {"device", setup.device},
                 {"scratch", setup.scratch.string()}});
}

TrialSetup parse_setup(std::string_view line) {
  const json value = json::parse(line);
  return {.cases = paths(value.at("cases")),
          .shaders = value.at("shaders").get<std::string>(),
          .op_folders = paths(value.at("ops")),
          .device = value.at("device").get<std::size_t>(),
          .scratch = value.at("scratch").get<std::string>()};
}

std::string line_of(const TrialRequest& request) {
  return dumped({{"file", request.file},
                 {"text", request.text},
                 {"rows", request.rows},
                 {"most_rows", request.most_rows},
                 {"without_fault", request.without_fault}});
}

TrialRequest parse_request(std::string_view line) {
  const json value = json::parse(line);
  return {.file = value.at("file").get<std::string>(),
          .text = value.at("text").get<std::string>(),
          .rows = value.at("rows").get<std::vector<std::size_t>>(),
          .most_rows = value.at("most_rows").get<std::size_t>(),
          .without_fault = value.at("without_fault").get<bool>()};
}

std::string line_of(const TrialNews& news) {
  if (news.ready) return dumped({{"ready", *news.ready}});
  if (news.row) return dumped({{"row", *news.row}});
  if (news.kill) return dumped({{"killed_by", news.kill->row}, {"kill", json_of(news.kill->kill)}});
  if (news.damaged) return dumped({{"damaged", *news.damaged}});
  if (news.error) return dumped({{"error", *news.error}, {"code", static_cast<int>(news.error_code)}});
  return dumped({{"end", json_of(news.end.value().result)}, {"retires", news.end->retires}});
}

TrialNews parse_news(std::string_view line) {
  const json value = json::parse(line);
  TrialNews news;
  if (value.contains("ready")) {
    news.ready = value.at("ready").get<std::string>();
  } else if (value.contains("row")) {
    news.row = value.at("row").get<std::size_t>();
  } else if (value.contains("kill")) {
    news.kill = {value.at("killed_by").get<std::size_t>(), kill_of(value.at("kill"))};
  } else if (value.contains("damaged")) {
    news.damaged = value.at("damaged").get<std::string>();
  } else if (value.contains("error")) {
    news.error = value.at("error").get<std::string>();
    news.error_code = static_cast<ExitCode>(value.at("code").get<int>());
  } else {
    news.end = {result_of(value.at("end")), value.at("retires").get<bool>()};
  }
  return news;
}

std::string result_json(const FaultResult& result) {
  return dumped(json_of(result));
}

FaultResult parse_result(std::string_view text) {
  return result_of(json::parse(text));
}

ExitCode serve_trials(const Context& context) {
  prepare_environment();
  std::string line;
  if (!std::getline(std::cin, line)) return ExitCode::Usage;
  const TrialSetup setup = parse_setup(line);
  const CaseOptions options = cases_of(setup);
  const Context with_manifests = with_ops(context, setup.op_folders);
  const LoadResult loaded = load(options, options.files, with_manifests.registry);
  gpu::Instance instance;
  gpu::Device device(instance, setup.device);
  check_matrices(device);
  const TrialRows rows(selected_cases(options, loaded.cases), device.info());
  TrialBench bench(device, rows.all(),
                   {.shaders = setup.shaders,
                    .scratch = setup.scratch,
                    .answers = answer_cache_options({}, context.build)});
  tell({.ready = rows.fingerprint()});
  serve_faults(bench);
  leave();
}

}  // namespace assay::app
