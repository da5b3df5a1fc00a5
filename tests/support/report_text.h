#pragma once

// The files of a report as text. Only tests include this: runs write them into streams.

#include "harness/report/writers/writers.h"

#include <sstream>
#include <string>

namespace assay::test {

template <class Write>
std::string text_of(const Write& write, const RunReport& report) {
  std::ostringstream out;
  write(report, out);
  return std::move(out).str();
}

inline std::string accu_csv(const RunReport& report) {
  return text_of(write_accu_csv, report);
}
inline std::string perf_csv(const RunReport& report) {
  return text_of(write_perf_csv, report);
}
inline std::string history_csv(const RunReport& report) {
  return text_of(write_history_csv, report);
}
inline std::string perf_json(const RunReport& report) {
  return text_of(write_perf_json, report);
}
inline std::string junit_xml(const RunReport& report) {
  return text_of(write_junit_xml, report);
}

}  // namespace assay::test
