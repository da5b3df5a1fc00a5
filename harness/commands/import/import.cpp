#include "harness/commands/import/import.h"

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/commands/find_report.h"
#include "harness/commands/run/output/run_folder.h"
#include "harness/engine/run/run_info.h"
#include "harness/report/journal/journal.h"
#include "harness/report/journal/journal_text.h"
#include "harness/report/record/block.h"
#include "harness/report/record/device_name.h"
#include "harness/report/record/record.h"
#include "harness/report/record/run_listener.h"
#include "harness/report/writers/csv.h"
#include "harness/report/writers/writers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <ostream>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 26;
constexpr std::array known_columns{"id", "op", "shape", "params", "cache", "us", "source"};

/// The cells of one entry by the name of their column.
using Cells = std::map<std::string, std::string>;

[[noreturn]] void fail(const std::string& place, const std::string& what) {
  throw Error(fmt::format("importing times: {}: {}", printable(place), what));
}

void refuse_unknown_column(const std::string& name, const std::string& place) {
  if (std::ranges::find(known_columns, name) != known_columns.end()) return;
  fail(place,
       fmt::format("'{}' is no column; known are {}", printable(name), fmt::join(known_columns, ", ")));
}

/// Throws for a name that a header has twice: one of the two columns would be lost.
void check_header(const std::vector<std::string>& header, const std::string& place) {
  std::set<std::string> seen;
  for (const std::string& column : header) {
    refuse_unknown_column(column, place);
    if (!seen.insert(column).second)
      fail(place, fmt::format("the column '{}' is there twice; remove or rename one", printable(column)));
  }
}

double time_of_cell(const std::string& text, const std::string& place) {
  double us = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), us);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(us) || us <= 0)
    fail(place, fmt::format("us is '{}', not a positive number of microseconds", printable(text)));
  return us;
}

ForeignTime time_of(Cells cells, const std::string& place) {
  for (const auto& [name, cell] : cells) refuse_unknown_column(name, place);
  ForeignTime time{.id = cells["id"],
                   .op = cells["op"],
                   .shape = cells["shape"],
                   .params = cells["params"],
                   .cache = cells["cache"],
                   .us = time_of_cell(cells["us"], place),
                   .source = cells["source"],
                   .place = place};
  if (time.id.empty() == (time.op.empty() || time.shape.empty()))
    fail(place, "give either the id of a row, or op and shape");
  if (!time.cache.empty() && time.cache != "hot" && time.cache != "cold")
    fail(place, fmt::format("cache is '{}'; it is hot, cold or empty", printable(time.cache)));
  return time;
}

std::vector<ForeignTime> times_in_csv(const std::string& text, const std::string& name) {
  std::vector<std::string> header;
  std::vector<ForeignTime> times;
  for_each_csv_row(text, [&](const std::vector<std::string>& cells, std::size_t line) {
    const std::string place = fmt::format("{}:{}", name, line);
    if (header.empty()) {
      header = cells;
      check_header(header, place);
      return;
    }
    if (cells.size() != header.size())
      fail(place, fmt::format("it has {} cells, the header has {}", cells.size(), header.size()));
    Cells named;
    for (std::size_t i = 0; i < cells.size(); ++i) named[header[i]] = cells[i];
    times.push_back(time_of(std::move(named), place));
  });
  return times;
}

std::string text_of(const nlohmann::json& value, const std::string& key, const std::string& place) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  fail(place, fmt::format("'{}' is neither text nor a number", printable(key)));
}

std::vector<ForeignTime> times_in_json(const std::string& text, const std::string& name) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_array()) fail(name, "it is no JSON array of objects");
  std::vector<ForeignTime> times;
  for (const nlohmann::json& entry : json) {
    const std::string place = fmt::format("{}: entry {}", name, times.size() + 1);
    if (!entry.is_object()) fail(place, "it is no object");
    Cells cells;
    for (const auto& [key, value] : entry.items()) cells[key] = text_of(value, key, place);
    times.push_back(time_of(std::move(cells), place));
  }
  return times;
}

bool is_timed(const RowInfo& row) {
  return row.mode == "perf" && !row.versus;
}

bool has_cache(const ForeignTime& time, const RowInfo& row) {
  return time.cache.empty() || time.cache == row.cache;
}

/// The first of the params asked for that the row does not have; empty if it has all.
std::string missing_param(const ForeignTime& time, const RowInfo& row) {
  const std::vector<std::string> params = words_in(row.params);
  for (const std::string& asked : words_in(time.params)) {
    if (std::ranges::find(params, asked) == params.end()) return asked;
  }
  return {};
}

bool is_meant(const ForeignTime& time, const RowInfo& row) {
  if (!is_timed(row) || !has_cache(time, row)) return false;
  if (!time.id.empty()) return row.id == time.id;
  return row.op == time.op && row.shape == time.shape && missing_param(time, row).empty();
}

/// The parameters of a row's problem. Those of quantization, "x=0.05:-20", change no work, and are left out.
std::vector<std::string> params_of_problem(const RowInfo& row) {
  std::vector<std::string> params = words_in(row.params);
  std::erase_if(params, [](const std::string& param) { return param.find(':') != std::string::npos; });
  return params;
}

/// "op/case/impl (f16, x=8x16 y=8x16, M=8 N=16)"
std::string problem_text(const RowInfo& row) {
  const std::vector<std::string> params = params_of_problem(row);
  return fmt::format("{} ({}, {}{}{})", row.id, row.dtype, row.shapes, params.empty() ? "" : ", ",
                     fmt::join(params, " "));
}

/// A time is of one problem: `op`, `shape` and `params` must not fit others as well.
void refuse_other_problem(const ForeignTime& time, const RowInfo& one, const RowInfo& other) {
  if (one.shapes == other.shapes && one.dtype == other.dtype &&
      params_of_problem(one) == params_of_problem(other))
    return;
  throw Error(
      fmt::format("importing times: {}: it fits rows of different problems, {} and {}; give the id, or more "
                  "of their params",
                  printable(time.place), printable(problem_text(one)), printable(problem_text(other))));
}

/// Of the impls of one case and cache, `auto` stands for all, else the first: an imported time is of the
/// case.
std::vector<const RowInfo*> rows_of(const ForeignTime& time, const RunReport& report) {
  std::map<std::pair<std::string, std::string>, const RowInfo*> by_case;
  for (const Record& record : report.records) {
    const RowInfo& row = record.info;
    if (!is_meant(time, row)) continue;
    if (!by_case.empty()) refuse_other_problem(time, *by_case.begin()->second, row);
    const auto [at, is_first] = by_case.try_emplace({row.group + asked_forms(row), row.cache}, &row);
    if (!is_first && row.impl == "auto") at->second = &row;
  }
  std::vector<const RowInfo*> rows;
  for (const auto& [key, row] : by_case) rows.push_back(row);
  return rows;
}

/// The shapes of the op's timed rows, the first few of them.
std::string shapes_of_op(const std::string& op, const RunReport& report) {
  constexpr std::size_t most = 4;
  std::set<std::string> shapes;
  for (const Record& record : report.records) {
    if (is_timed(record.info) && record.info.op == op) shapes.insert(record.info.shape);
  }
  return first_names({shapes.begin(), shapes.end()}, most);
}

/// Why no row has this time: the first of op, shape, cache and params that no row has besides those before.
std::string why_no_row(const ForeignTime& time, const RunReport& report) {
  if (!time.id.empty()) {
    return fmt::format("the report has no timed row {}{}", time.id,
                       time.cache.empty() ? "" : fmt::format(" that is {}", time.cache));
  }
  const RowInfo* of_shape = nullptr;
  const RowInfo* of_cache = nullptr;
  for (const Record& record : report.records) {
    const RowInfo& row = record.info;
    if (!is_timed(row) || row.op != time.op || row.shape != time.shape) continue;
    of_shape = &row;
    if (has_cache(time, row)) of_cache = &row;
  }
  const std::string rows = fmt::format("timed row of {} with shape {}", time.op, time.shape);
  if (of_cache != nullptr) {
    return fmt::format("no {}{} has all of its params: {} has '{}', not {}",
                       time.cache.empty() ? "" : time.cache + " ", rows, of_cache->id, of_cache->params,
                       missing_param(time, *of_cache));
  }
  if (of_shape != nullptr)
    return fmt::format("no {} is {}: {} is {}", rows, time.cache, of_shape->id, of_shape->cache);
  const std::string shapes = shapes_of_op(time.op, report);
  if (shapes.empty()) return fmt::format("the report has no timed row of {}", time.op);
  return fmt::format("the report has no {}: its timed rows of {} have the shapes {}", rows, time.op, shapes);
}

/// A row of the imported report.
struct ImportedRow {
  RowInfo info;
  const ForeignTime* time = nullptr;
};

RowInfo info_of(const RowInfo& row) {
  RowInfo info = row;
  info.baseline.clear();
  info.baseline_note.clear();
  info.shaders.reset();
  return info;
}

std::vector<ImportedRow> imported_rows(const std::vector<ForeignTime>& times, const RunReport& report,
                                       std::ostream& log) {
  std::vector<ImportedRow> rows;
  std::map<RowKey, std::string> places;
  for (const ForeignTime& time : times) {
    const std::vector<const RowInfo*> found = rows_of(time, report);
    for (const RowInfo* row : found) {
      const auto [at, is_new] = places.emplace(key_of(*row), time.place);
      if (!is_new) {
        throw Error(fmt::format("importing times: {} and {} are of the same row {}", printable(at->second),
                                printable(time.place), printable(row->id)));
      }
      rows.push_back({info_of(*row), &time});
    }
    if (!found.empty()) continue;
    log << printable_line(fmt::format("warning: {}: {}", time.place, why_no_row(time, report))) << '\n';
  }
  if (rows.empty()) throw Error("importing times: none of them is of a timed row of the report");
  return rows;
}

/// "PyTorch 2.11 on an H100; cuDNN 9"
std::string sources_of(const std::vector<ForeignTime>& times) {
  std::set<std::string> sources;
  for (const ForeignTime& time : times) sources.insert(time.source);
  sources.erase("");
  return fmt::format("{}", fmt::join(sources, "; "));
}

RunInfo run_info(const ImportOptions& options, const Context& context,
                 const std::vector<ForeignTime>& times) {
  RunInfo run;
  run.started_utc = utc_text(std::chrono::system_clock::now());
  run.device.name = options.name;
  run.device.type = "imported";
  run.device.driver_name = "imported";
  run.device.driver_info = sources_of(times);
  run.version = context.build.version;
  run.command = context.command_line;
  return run;
}

void write_row(Journal& journal, RowIndex index, const ImportedRow& row) {
  journal.begin(index);
  Block block;
  block.samples_ns = {row.time->us * ns_per_us};
  journal.block(index, block);
  RowEnd end;
  end.status = Status::Pass;
  end.perf.emplace().clock = "imported";
  journal.end(index, end);
}

void write_journal(const fs::path& file, const RunInfo& run, std::span<const ImportedRow> rows) {
  Journal journal(file);
  journal.run(run);
  std::vector<RowInfo> infos;
  for (const ImportedRow& row : rows) infos.push_back(row.info);
  journal.plan(infos);
  for (RowIndex index = 0; index < rows.size(); ++index) write_row(journal, index, rows[index]);
  journal.done();
}

}  // namespace

std::vector<ForeignTime> read_times(const std::filesystem::path& file) {
  const std::string name = file.string();
  auto text = whole_regular_file(file, most_bytes);
  if (!text) fail(name, "it is not a regular file, has more than 64 MiB or cannot be read");
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // spreadsheets write it
  if (text->starts_with(byte_order_mark)) text->erase(0, byte_order_mark.size());
  const std::size_t first = text->find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string::npos && (*text)[first] == '[';
  std::vector<ForeignTime> times = is_json ? times_in_json(*text, name) : times_in_csv(*text, name);
  if (times.empty()) fail(name, "it has no time");
  return times;
}

ExitCode import_times(const ImportOptions& options, const Context& context, const Terminal& terminal) {
  if (words_in(options.name).empty()) {
    throw Error("importing times: --as is blank; name what was measured, such as 'PyTorch 2.11'");
  }
  const std::vector<ForeignTime> times = read_times(options.file);
  const RunReport report = read_journal(only_journal(options.rows));
  const std::vector<ImportedRow> rows = imported_rows(times, report, terminal.log);
  RunInfo run = run_info(options, context, times);
  const std::vector<std::string> slugs{device_slug({&run.device, 1}, 0)};
  RunFolder folder(options.out);
  folder.make(slugs);
  run.run_id = folder.run_id();
  const fs::path directory = folder.of_device(slugs.front());
  make_directories(directory);
  write_journal(directory / journal_name, run, rows);
  write_reports(directory, read_journal(directory / journal_name));
  folder.link(slugs.front(), terminal.log);
  terminal.out << fmt::format("{} times imported as '{}', for {} rows: {}\n", times.size(),
                              printable(options.name), rows.size(), printable(directory.string()));
  return ExitCode::Fine;
}

}  // namespace assay::app
