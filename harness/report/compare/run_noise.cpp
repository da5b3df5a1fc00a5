#include "harness/report/compare/run_noise.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/compare/row_side.h"
#include "harness/report/record/device_name.h"
#include "harness/report/writers/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>

namespace assay {

namespace {

const std::vector<std::string> header = {"device",  "device_key", "driver", "base_run",
                                         "new_run", "rows",       "alarms", "largest_pct"};

auto identity(const RunPair& pair) {
  return std::tie(pair.device_key, pair.driver, pair.base_run, pair.new_run);
}

template <class Number>
Number number_in(const std::string& cell, const std::string& where) {
  Number number{};
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (error == std::errc{} && end == cell.data() + cell.size() && number >= 0) return number;
  throw Error(where + ": '" + printable(cell) + "' is not a valid number here");
}

}  // namespace

std::optional<double> RunNoise::between_runs_pct(const RunInfo& run) const {
  const std::string key = device_key(run), driver = driver_of(run.device);
  std::size_t pairs = 0, rows = 0;
  double largest = 0;
  for (const RunPair& pair : pairs_) {
    if (pair.device_key != key || pair.driver != driver) continue;
    ++pairs;
    rows += pair.rows;
    largest = std::max(largest, pair.largest_pct);
  }
  if (pairs < fewest_pairs || rows < fewest_rows) return std::nullopt;
  return largest;
}

std::string run_noise_csv(const std::vector<RunPair>& pairs) {
  std::string csv = csv_row(header);
  for (const RunPair& pair : pairs) {
    csv += csv_row({pair.device, pair.device_key, pair.driver, pair.base_run, pair.new_run,
                    std::to_string(pair.rows), std::to_string(pair.alarms), fixed(pair.largest_pct, 4)});
  }
  return csv;
}

std::vector<RunPair> parse_run_noise(std::string_view text, const std::string& file) {
  std::vector<RunPair> pairs;
  for_each_csv_row(text, [&](const std::vector<std::string>& cells, std::size_t line) {
    const std::string where = fmt::format("reading run noise: {}:{}", printable(file), line);
    if (line == 1 && cells == header) return;
    if (line == 1 || cells.size() != header.size())
      throw Error(where + ": this file was not written by `assay compare --keep-run-noise`");
    pairs.push_back({cells[0], cells[1], cells[2], cells[3], cells[4],
                     number_in<std::size_t>(cells[5], where), number_in<std::size_t>(cells[6], where),
                     number_in<double>(cells[7], where)});
  });
  return pairs;
}

std::vector<RunPair> with_pairs(std::vector<RunPair> kept, const std::vector<RunPair>& added) {
  for (const RunPair& pair : added) {
    std::erase_if(kept, [&](const RunPair& other) { return identity(other) == identity(pair); });
    kept.push_back(pair);
  }
  return kept;
}

std::vector<RunPair> pairs_in(const std::filesystem::path& file) {
  constexpr std::size_t most_bytes = std::size_t{64} << 20;
  // It may be a FIFO, as in --run-noise <(command).
  const std::optional<std::string> text = whole_file(file, most_bytes + 1);
  if (!text) throw_file_error("read", file, errno);
  if (text->size() > most_bytes)
    throw Error(fmt::format("reading run noise: {} has more than 64 MiB", printable(file.string())));
  return parse_run_noise(*text, file.string());
}

RunNoise read_run_noise(const std::filesystem::path& file) {
  return file.empty() ? RunNoise() : RunNoise(pairs_in(file));
}

}  // namespace assay
