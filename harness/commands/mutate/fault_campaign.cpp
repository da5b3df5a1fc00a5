#include "harness/commands/mutate/fault_campaign.h"

#include "harness/base/file.h"
#include "harness/base/hash.h"
#include "harness/commands/mutate/fault_reports.h"
#include "harness/commands/mutate/fault_result.h"
#include "harness/commands/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <ostream>
#include <set>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

namespace assay::app {
namespace {

/// Rows that killed neighbours and come first; more would keep rows of other kinds waiting.
constexpr std::size_t most_proven = 6;
/// The distance in lines at which a kill counts half.
constexpr double near_lines = 8;

std::string kind_of(const TrialRow& row) {
  std::string text = row.test_case->op->name + "\n" + row.test_case->impl->name;
  for (const auto& [shader, defines, folders] : row.variants) {
    text += "\n" + shader;
    for (const Define& define : defines)
      text.append(" ").append(define.name).append("=").append(define.value);
  }
  return text;
}

using Indices = std::vector<std::size_t>;

/// Deals rows out in turns: of each kind the first, then of each the second. A turn has the cheapest first.
template <class KindOf>
Indices dealt(std::span<const TrialRow> rows, const Indices& dealt_from, KindOf kind_of_row) {
  std::map<std::string, std::size_t> turns_of;
  std::vector<std::tuple<std::size_t, double, std::size_t>> turns;  // turn, cost, row
  for (const std::size_t row : dealt_from)
    turns.emplace_back(turns_of[kind_of_row(rows[row])]++, rows[row].cost, row);
  std::ranges::sort(turns);
  Indices order;
  for (const auto& [turn, cost, row] : turns) order.push_back(row);
  return order;
}

/// By variant, and those of one variant by their traits.
Indices dealt(std::span<const TrialRow> rows, Indices users) {
  std::ranges::stable_sort(users, {}, [&](std::size_t row) { return rows[row].cost; });
  const auto traits = [](const TrialRow& row) { return kind_of(row) + row.traits; };
  return dealt(rows, dealt(rows, users, traits), kind_of);
}

/// Rows of both orders in turn, each once. A feature that the cheapest row of no variant has is found by
/// chance.
Indices mixed(const Indices& a, const Indices& b) {
  Indices order;
  std::set<std::size_t> taken;
  const auto take = [&](std::size_t row) {
    if (taken.insert(row).second) order.push_back(row);
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    take(a[i]);
    take(b[i]);
  }
  return order;
}

Indices shuffled(std::span<const TrialRow> rows, Indices users) {
  std::ranges::stable_sort(users, {}, [&](std::size_t row) { return hash64(rows[row].test_case->id); });
  return users;
}

/// Rows of the first pass.
constexpr std::size_t first_rows = 40;
constexpr double between_progress_s = 10;
/// Compiling many variants and optimizing them takes a while on a busy machine.
constexpr double least_between_rows_s = 180;

std::size_t count_of_processes(int asked) {
  if (asked > 0) return static_cast<std::size_t>(asked);
  return std::max(1U, std::thread::hardware_concurrency());
}

/// The path by which faults name a source: below shaders/, or below the folder that replaces it.
std::string path_below(const std::filesystem::path& folder, const gpu::ShaderSource& source) {
  if (source.is_embedded) return source.path;
  return std::filesystem::path(source.display)
      .lexically_normal()
      .lexically_relative(folder.lexically_normal())
      .generic_string();
}

}  // namespace

RowOrder::RowOrder(std::span<const TrialRow> rows, const std::vector<std::size_t>& users)
    : order_(mixed(dealt(rows, users), shuffled(rows, users))) {}

std::vector<std::size_t> RowOrder::rows_for(int line) const {
  std::map<std::size_t, double> weights;
  for (const Seen& kill : kills_) weights[kill.row] += 1 / (1 + std::abs(kill.line - line) / near_lines);
  std::vector<std::pair<double, std::size_t>> proven;
  for (const auto& [row, weight] : weights) proven.emplace_back(-weight, row);
  std::ranges::sort(proven);
  std::vector<std::size_t> order;
  std::set<std::size_t> taken;
  for (std::size_t i = 0; i < std::min(proven.size(), most_proven); ++i) {
    order.push_back(proven[i].second);
    taken.insert(proven[i].second);
  }
  std::ranges::copy_if(order_, std::back_inserter(order),
                       [&](std::size_t row) { return !taken.contains(row); });
  return order;
}

void RowOrder::note_kill(int line, std::size_t row) {
  kills_.push_back({line, row});
}

FaultCampaign::FaultCampaign(const Parts& parts, FaultJournal& journal, std::vector<FaultRecord>& records)
    : parts_(parts), journal_(journal), records_(records), scratch_(parts.options.out / "scratch") {
  make_directories(scratch_);
  find_users();
  note_known_kills();
}

FaultCampaign::~FaultCampaign() {
  std::error_code ignored;
  std::filesystem::remove_all(scratch_, ignored);
}

/// A row uses a file if a shader of its program is the file or includes it.
void FaultCampaign::find_users() {
  std::map<std::string, std::set<std::string>> files_of;
  std::map<std::string, std::vector<std::size_t>> users;
  const auto rows = parts_.rows.all();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::set<std::string> files;
    for (const auto& [shader, defines, folders] : rows[row].variants) {
      const auto [known, is_new] = files_of.try_emplace(shader);
      if (is_new) {
        for (const auto& [name, source] : parts_.sources.closure(shader, folders))
          known->second.insert(path_below(parts_.options.choice.folder, source));
      }
      files.insert(known->second.begin(), known->second.end());
    }
    for (const std::string& file : files) users[file].push_back(row);
  }
  for (const auto& [file, of_file] : users) orders_.emplace(file, RowOrder(rows, of_file));
}

/// A resumed run knows what killed the faults before.
void FaultCampaign::note_known_kills() {
  const auto rows = parts_.rows.all();
  std::map<std::string, std::size_t> numbers;
  for (std::size_t row = 0; row < rows.size(); ++row) numbers[rows[row].test_case->id] = row;
  for (const FaultRecord& record : records_) {
    const auto order = orders_.find(record.fault.file);
    if (order == orders_.end()) continue;
    for (const Kill& kill : record.result.kills) {
      const auto row = numbers.find(kill.row);
      if (row != numbers.end()) order->second.note_kill(record.fault.line, row->second);
    }
  }
}

TrialCrew::Parts FaultCampaign::crew_parts() const {
  // Keeps more freed memory: a fifth of the time of compilers of shaders is in malloc. glibc reads it when a
  // process starts.
  ::setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=20000", 0);
  CaseOptions cases;
  cases.files = parts_.options.choice.cases;
  cases.op_folders = parts_.options.choice.op_folders();
  return {.command = parts_.command,
          .setup = {.cases = cases.paths(),
                    .shaders = parts_.options.choice.folder,
                    .op_folders = cases.op_folders,
                    .device = parts_.device,
                    .scratch = std::filesystem::absolute(scratch_)},
          .fingerprint = parts_.rows.fingerprint(),
          .limits = {.row_s = parts_.options.hang_limit_s,
                     .between_s = std::max(least_between_rows_s, 3 * parts_.options.hang_limit_s)},
          .processes = count_of_processes(parts_.options.jobs)};
}

/// Empty while faults may begin.
std::string FaultCampaign::reason_to_end() const {
  if (parts_.stop_requested && parts_.stop_requested()) return "the run was stopped; --resume continues it";
  const double budget_s = parts_.options.budget_s;
  if (budget_s > 0 && watch_.s() > budget_s) return "the budget was used up; --resume continues the run";
  return "";
}

/// The faults that a pass with so many rows may end in another way.
std::vector<std::size_t> FaultCampaign::open_faults(std::size_t most_rows) const {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const FaultResult& result = records_[i].result;
    const bool has_rows_left = result.is_open() && result.rows_ran < most_rows;
    const bool has_rows = orders_.contains(records_[i].fault.file);
    if (has_rows && (result.end == FaultEnd::NotRun || has_rows_left)) open.push_back(i);
  }
  return open;
}

void FaultCampaign::run() {
  for (FaultRecord& record : records_) {
    if (record.result.end == FaultEnd::NotRun && !orders_.contains(record.fault.file))
      record.result.why = "no row that this device can run uses the file";
  }
  TrialCrew crew(crew_parts());
  const std::size_t most_rows = parts_.options.choice.rows;
  if (try_all(crew, std::min(first_rows, most_rows))) try_all(crew, most_rows);
  show_progress(true);
  show_survivors();
}

/// False if the run ends early.
bool FaultCampaign::try_all(TrialCrew& crew, std::size_t most_rows) {
  const std::vector<std::size_t> open = open_faults(most_rows);
  to_try_ = open.size();
  for (std::size_t next = 0; next < open.size() || !crew.is_idle();) {
    if (const std::string reason = reason_to_end(); !reason.empty()) {
      for (FaultRecord& record : records_) {
        if (record.result.end == FaultEnd::NotRun && record.result.why.empty()) record.result.why = reason;
      }
      return false;
    }
    while (next < open.size() && crew.has_room()) begin(crew, open[next++], most_rows);
    for (const TrialCrew::Finished& finished : crew.wait(0.2)) finish(finished);
    show_progress(false);
  }
  return true;
}

void FaultCampaign::begin(TrialCrew& crew, std::size_t index, std::size_t most_rows) {
  crew.begin(index, request_for(records_[index].fault, most_rows));
}

TrialRequest FaultCampaign::request_for(const mutation::Fault& fault, std::size_t most_rows) const {
  const auto source = parts_.sources.find(fault.file);
  return {.file = fault.file,
          .text = mutation::with_fault(fault, source.value().text),
          .rows = orders_.at(fault.file).rows_for(fault.line),
          .most_rows = most_rows};
}

void FaultCampaign::finish(const TrialCrew::Finished& finished) {
  FaultRecord& record = records_[finished.fault];
  record.result = finished.outcome.result;
  record.result.id = record.fault.id;
  for (std::size_t i = 0; i < finished.outcome.killers.size(); ++i) {
    const std::size_t row = finished.outcome.killers[i];
    orders_.at(record.fault.file).note_kill(record.fault.line, row);
    record.result.kills.at(i).row = parts_.rows.all()[row].test_case->id;
  }
  journal_.add(record.result);
  --to_try_;
  ++tried_;
  cpu_s_ += record.result.cpu_s;
}

void FaultCampaign::show_survivors() const {
  for (const FaultRecord& record : records_) {
    if (record.result.end != FaultEnd::Survived) continue;
    parts_.terminal.out << fmt::format("survived  {}  ({} rows ran, {} left)  {}\n", fault_text(record.fault),
                                       record.result.rows_ran, record.result.rows_left, record.fault.id);
  }
}

void FaultCampaign::show_progress(bool now) {
  if (!now && watch_.s() - shown_s_ < between_progress_s) return;
  shown_s_ = watch_.s();
  const FaultScore score = score_of(records_);
  const double per_fault = tried_ == 0 ? 0 : cpu_s_ / static_cast<double>(tried_);
  parts_.terminal.log << fmt::format(
      "{} faults: {} killed, {} survived, {} unchanged, {} do not compile, {} to try; {:.0f} s, {:.2f} CPU s "
      "a "
      "trial\n",
      records_.size(), score.killed, score.survived, score.unchanged, score.does_not_compile, to_try_,
      watch_.s(), per_fault);
}

}  // namespace assay::app
