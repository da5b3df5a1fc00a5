#include "harness/base/file.h"
#include "harness/base/status.h"
#include "harness/report/journal/codec.h"
#include "harness/report/record/report_totals.h"
#include "harness/report/writers/csv.h"
#include "harness/report/writers/writers.h"

#include <nlohmann/json.hpp>

#include <map>

namespace assay {

std::string run_json(const RunReport& report) {
  nlohmann::ordered_json json = json_of(report.run);
  json["complete"] = report.complete;
  json["journal_cut_off"] = report.cut_off;
  if (report.lines_left_out > 0) json["journal_lines_left_out"] = report.lines_left_out;
  json["cases"] = report.records.size();
  std::map<Status, std::size_t> counts;
  for (const Record& record : report.records) ++counts[record.status];
  auto& statuses = json["statuses"] = nlohmann::ordered_json::object();
  for (const auto& [status, count] : counts) statuses[std::string(name_of(status))] = count;
  if (const auto totals = time_totals(report)) {
    json["timed_rows"] = {{"wall_s", totals->rows_s},       {"submitted_s", totals->submitted_s},
                          {"heating_s", totals->heating_s}, {"judging_s", totals->judging_s},
                          {"filling_s", totals->filling_s}, {"resting_s", totals->resting_s}};
  }
  return json.dump(2) + "\n";
}

void write_reports(const std::filesystem::path& dir, const RunReport& report) {
  make_directories(dir);
  replace_file(dir / "accu.csv", [&](std::ostream& out) { write_accu_csv(report, out); });
  replace_file(dir / "perf.csv", [&](std::ostream& out) { write_perf_csv(report, out); });
  replace_file(dir / history_name, [&](std::ostream& out) { write_history_csv(report, out); });
  replace_file(dir / "perf.json", [&](std::ostream& out) { write_perf_json(report, out); });
  replace_file(dir / "junit.xml", [&](std::ostream& out) { write_junit_xml(report, out); });
  replace_file(dir / "run.json", run_json(report));
}

}  // namespace assay
