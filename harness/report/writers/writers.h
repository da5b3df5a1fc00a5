#pragma once

#include "harness/report/record/record.h"

#include <filesystem>
#include <iosfwd>
#include <string>

namespace assay {

// Every writer is a pure function of the report: no clock, no locale, no environment.

/// accu.csv: one row per case of mode accu, with accu_columns() (columns.h). RFC 4180.
void write_accu_csv(const RunReport& report, std::ostream& out);
/// perf.csv: one row per case of mode perf, with perf_columns(); times that are withheld are empty.
void write_perf_csv(const RunReport& report, std::ostream& out);
/// history.csv: one row per case of either mode, with history_columns(). RFC 4180.
void write_history_csv(const RunReport& report, std::ostream& out);
/// perf.json: Google Benchmark's format for its compare.py. Each sample is a repetition; mean, median and
/// stddev follow. Cases without a time are listed in the context under "withheld".
void write_perf_json(const RunReport& report, std::ostream& out);
/// junit.xml: one test suite per op, one test case per row.
void write_junit_xml(const RunReport& report, std::ostream& out);
/// The times in the format of Google Benchmark's console reporter, aggregates only.
std::string perf_console(const RunReport& report);
/// run.json: the run's circumstances and the number of cases by status.
std::string run_json(const RunReport& report);

/// Writes accu.csv, perf.csv, history.csv, perf.json, junit.xml and run.json into `dir` (created when
/// missing). Each file is written under a temporary name and renamed: a reader never sees half a file. Throws
/// Error(Infrastructure) that names the file and the system's reason.
void write_reports(const std::filesystem::path& dir, const RunReport& report);

}  // namespace assay
