#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/record/words.h"
#include "harness/report/writers/writers.h"

#include <pugixml.hpp>

#include <map>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {
namespace {

enum class Outcome : std::uint8_t { Passed, Failure, Error, Skipped };

Outcome outcome_of(Status status) {
  switch (status) {
    case Status::Pass:
      return Outcome::Passed;
    case Status::Unsupported:
    case Status::Invalid:
    case Status::Skipped:
    case Status::ExpectedFail:
      return Outcome::Skipped;
    case Status::Fail:
    case Status::Mistrusted:
    case Status::Suspect:
    case Status::OutOfMemory:
    case Status::Flaky:
    case Status::UnexpectedPass:
      return Outcome::Failure;
    case Status::Crash:
    case Status::Timeout:
    case Status::DeviceLost:
    case Status::Missing:
    case Status::Interrupted:
      return Outcome::Error;
  }
  return Outcome::Error;
}

void set(pugi::xml_node node, const char* name, std::string_view value) {
  node.append_attribute(name).set_value(printable(value).c_str());
}

void set(pugi::xml_node node, const char* name, std::size_t value) {
  set(node, name, std::to_string(value));
}

void add_property(pugi::xml_node properties, const char* name, std::string_view value) {
  if (value.empty()) return;
  pugi::xml_node property = properties.append_child("property");
  set(property, "name", name);
  set(property, "value", value);
}

// One line for lists of failures; the full description is in the element's text.
std::string message_of(const Record& record) {
  std::string message = record.reason;
  if (message.empty() && record.accuracy) message = describe(*record.accuracy);
  std::string word(name_of(record.status));
  if (record.accuracy && record.accuracy->diagnosis)
    word += ", " + std::string(diagnosis_name(record.accuracy->diagnosis->word));
  return word + (message.empty() ? "" : ": ") + message;
}

void add_outcome(pugi::xml_node test, const Record& record) {
  const Outcome outcome = outcome_of(record.status);
  if (outcome == Outcome::Passed) return;
  const char* element = outcome == Outcome::Failure ? "failure"
                        : outcome == Outcome::Error ? "error"
                                                    : "skipped";
  pugi::xml_node node = test.append_child(element);
  set(node, "message", message_of(record));
  if (outcome == Outcome::Skipped) return;
  set(node, "type", name_of(record.status));
  node.text().set(failure_text(record).c_str());
}

constexpr const char* test_element = "testcase";

/// A word that identifies the device if files of several are loaded together: its name, and its UUID for
/// devices with equal names. It has no dots, at which Jenkins splits a class name.
std::string device_word(const DeviceInfo& device) {
  constexpr std::size_t telling_digits = 8;
  return slug_of(device.name) + (device.uuid.empty() ? "" : "-") + device.uuid.substr(0, telling_digits);
}

std::string suite_name(const RunInfo& run, const std::string& op) {
  return device_word(run.device) + "." + op;
}

/// The class distinguishes the rows of a case: one of mode both has two, and with cache both three.
std::string class_name(const RunInfo& run, const RowInfo& row) {
  return suite_name(run, row.op) + "." + row.mode + (row.cache == "cold" ? "-cold" : "");
}

/// The facts that JUnit's schema has no place for, as lines "name: value".
std::string facts_of(const Record& record) {
  const RowInfo& row = record.info;
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += std::string(name) + ": " + printable(value) + '\n';
  };
  add("status", std::string(name_of(record.status)));
  if (!row.where.file.empty()) add("at", row.where.file + ":" + std::to_string(row.where.line));
  add("impl", row.impl);
  add("params", row.params);
  add("forms", row.forms);
  add("repro", record.repro);
  add("validation", layer_text(record));
  if (record.accuracy) {
    add("output_hash", record.accuracy->output_hash);
    add("tolerance", record.accuracy->tolerance);
    add("tolerance_reason", record.accuracy->tolerance_reason);
    add("missed", record.accuracy->missed);
  }
  if (has_time(record)) add("time_us_p50", fixed(record.perf->time_us_p50, 4));
  return text;
}

// Only attributes and elements of the schema with which Jenkins' xUnit plugin checks files (junit-10.xsd): it
// refuses a file with any other. junit_test.cpp lists them.
void add_test(pugi::xml_node suite, const RunInfo& run, const Record& record) {
  pugi::xml_node test = suite.append_child(test_element);
  set(test, "name", record.info.id);
  set(test, "classname", class_name(run, record.info));
  set(test, "time", fixed(record.total_ms / 1e3, 6));
  add_outcome(test, record);
  test.append_child("system-out").text().set(facts_of(record).c_str());
}

struct Totals {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double seconds = 0;

  void add(const Record& record) {
    const Outcome outcome = outcome_of(record.status);
    ++tests;
    failures += outcome == Outcome::Failure ? 1 : 0;
    errors += outcome == Outcome::Error ? 1 : 0;
    skipped += outcome == Outcome::Skipped ? 1 : 0;
    seconds += record.total_ms / 1e3;
  }
};

void set_totals(pugi::xml_node node, const Totals& totals) {
  set(node, "tests", totals.tests);
  set(node, "failures", totals.failures);
  set(node, "errors", totals.errors);
  set(node, "time", fixed(totals.seconds, 6));
}

void add_suite_properties(pugi::xml_node suite, const RunInfo& run) {
  pugi::xml_node properties = suite.append_child("properties");
  add_property(properties, "run_id", run.run_id);
  add_property(properties, "device", run.device.name);
  add_property(properties, "driver", driver_of(run.device));
  add_property(properties, "version", run.version);
  add_property(properties, "seed", std::to_string(run.seed));
}

using Suites = std::map<std::string, std::vector<const Record*>>;

/// A suite with an empty test as placeholder for all of its tests.
void add_suite(pugi::xml_node root, const RunReport& report, const std::string& op,
               const std::vector<const Record*>& records) {
  pugi::xml_node suite = root.append_child("testsuite");
  set(suite, "name", suite_name(report.run, op));
  Totals totals;
  for (const Record* record : records) totals.add(*record);
  set_totals(suite, totals);
  set(suite, "skipped", totals.skipped);
  set(suite, "timestamp", report.run.started_utc);
  set(suite, "hostname", report.run.host);
  add_suite_properties(suite, report.run);
  suite.append_child(test_element);
}

/// The whole file, with an empty test as placeholder in each suite.
std::string frame_of(const RunReport& report, const Suites& suites) {
  Totals totals;
  for (const Record& record : report.records) totals.add(record);
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  set(declaration, "version", "1.0");
  set(declaration, "encoding", "UTF-8");
  pugi::xml_node root = document.append_child("testsuites");
  set(root, "name", "assay");
  set_totals(root, totals);
  for (const auto& [op, records] : suites) add_suite(root, report, op, records);
  std::ostringstream out;
  document.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
  return std::move(out).str();
}

}  // namespace

void write_junit_xml(const RunReport& report, std::ostream& out) {
  Suites suites;
  for (const Record& record : report.records) suites[record.info.op].push_back(&record);
  const std::string frame = frame_of(report, suites);
  // Tests are written one at a time: the tree of a large run would take as much memory as its records. No
  // text of the frame contains '<', so the placeholder is found only where it was put.
  const std::string place = std::string("    <") + test_element + " />\n";
  constexpr unsigned depth = 2;
  std::size_t begin = 0;
  pugi::xml_document document;
  for (const auto& [op, records] : suites) {
    const std::size_t end = frame.find(place, begin);
    out << std::string_view(frame).substr(begin, end - begin);
    for (const Record* record : records) {
      add_test(document, report.run, *record);
      document.first_child().print(out, "  ", pugi::format_default, pugi::encoding_utf8, depth);
      document.remove_child(document.first_child());
    }
    begin = end + place.size();
  }
  out << std::string_view(frame).substr(begin);
}

}  // namespace assay
