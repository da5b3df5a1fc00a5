#include "harness/commands/fuzz/point_runs.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/commands/points/candidates.h"
#include "harness/commands/run/quiet_run.h"
#include "harness/engine/accuracy/data_set.h"

#include <fmt/format.h>

#include <map>
#include <system_error>
#include <utility>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

/// The points of one op in a file, and where each is among all.
struct OpFile {
  std::vector<Case> cases;
  std::vector<std::size_t> places;
};

std::map<std::string, OpFile> by_op(std::span<const Case> points) {
  std::map<std::string, OpFile> files;
  for (std::size_t i = 0; i < points.size(); ++i) {
    OpFile& file = files[points[i].op->name];
    file.cases.push_back(points[i]);
    file.places.push_back(i);
  }
  return files;
}

bool is_refused(const Case& point) try {
  make_data_set(point);
  return false;
} catch (const ParameterError&) {
  return true;
}

}  // namespace

PointEnd end_of(const Record& record, const Case& point) {
  PointEnd end{.status = record.status, .metric = {}, .what = record.reason};
  if (record.accuracy) {
    end.metric = record.accuracy->metric;
  } else if (record.status == Status::Fail && is_refused(point)) {
    end.status = Status::Invalid;
  }
  return end;
}

bool PointEnd::is_failure() const {
  // A row that a trivial answer would pass shows nothing about the kernel.
  const bool says_nothing =
      status == Status::Mistrusted || status == Status::Missing || status == Status::Interrupted;
  return class_of(status) != StatusClass::Fine && !says_nothing;
}

PointRuns::PointRuns(const FuzzOptions& options, const Context& context, const Terminal& terminal,
                     fs::path folder)
    : options_(options), context_(context), terminal_(terminal), folder_(std::move(folder)) {
  make_directories(folder_);
}

PointRuns::~PointRuns() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  fs::remove(folder_.parent_path(), ignored);  // only if it is empty: nothing was found
}

std::vector<std::string> PointRuns::words(const std::vector<fs::path>& files) const {
  std::vector<std::string> words{"assay", "run"};
  for (const fs::path& file : files) words.push_back(file.string());
  const auto add = [&](const char* option, std::string value) {
    words.emplace_back(option);
    words.push_back(std::move(value));
  };
  add("--mode", "accu");
  add("--answer-cache", "none");  // no point is drawn twice
  add("--out", (folder_ / "run").string());
  words.emplace_back("--overwrite");
  add("--hang-limit", fmt::format("{}", options_.hang_limit_s));
  if (!options_.device.empty()) add("--device", options_.device);
  for (const fs::path& folder : options_.op_folders) add("--ops", folder.string());
  if (!options_.shaders.empty()) add("--shaders", options_.shaders.string());
  return words;
}

RunReport PointRuns::report_of(const std::vector<std::string>& words,
                               const std::function<bool()>& must_stop) const try {
  return quiet_run({.purpose = "fuzzing",
                    .memory_limit_gib = options_.memory_limit_gib,
                    .verbose = options_.verbose,
                    .may_leave_shaders_unused = true},
                   words, context_, terminal_, must_stop);
} catch (const Error&) {
  if (must_stop()) return {};  // a run that ends before it has a device is an error
  throw;
}

std::vector<std::optional<PointEnd>> PointRuns::run(std::span<const Case> points,
                                                    const std::function<bool()>& must_stop) {
  std::vector<std::optional<PointEnd>> ends(points.size());
  std::map<std::pair<std::string, std::string>, std::pair<std::size_t, Case>> known;  // by op and name
  std::vector<fs::path> files;
  for (const auto& [op, file] : by_op(points)) {
    const fs::path path = folder_ / (op + ".yaml");
    const Candidates candidates(context_.registry, path);
    std::vector<Case> valid;
    std::vector<std::size_t> places;
    for (const Candidates::Loaded& one : candidates.valid(file.cases)) {
      valid.push_back(file.cases[one.number]);
      places.push_back(file.places[one.number]);
    }
    const std::vector<Case> kept = candidates.keep(valid, "point");
    for (std::size_t i = 0; i < kept.size(); ++i) known[{op, kept[i].name}] = {places[i], kept[i]};
    if (!kept.empty()) files.push_back(path);
  }
  if (files.empty()) return ends;
  const RunReport report = report_of(words(files), must_stop);
  if (!report.run.device.name.empty()) device_ = report.run.device.name;
  for (const Record& record : report.records) {
    const auto& [place, point] = known.at({record.info.op, record.info.name});
    ends[place] = end_of(record, point);
  }
  return ends;
}

}  // namespace assay::app
