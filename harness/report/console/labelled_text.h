#pragma once

#include "harness/device/device_info.h"
#include "harness/report/console/terminal_text.h"
#include "harness/report/record/record.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// The one place that formats ceilings for people: GB/s for memory and GOP/s for arithmetic, the units of the
// rows that are compared with them.

struct CeilingLine {
  std::string label;
  std::string value;  ///< with its unit; the bandwidth curve is a table of several lines
};

/// All of a device's ceilings, one per line.
std::vector<CeilingLine> ceiling_lines(const Ceilings& ceilings);

/// The ceilings for a terminal: each line is indented by four and ends with a newline.
std::string ceilings_text(const Ceilings& ceilings);

/// The main figures in one line without line end: bandwidth far beyond the caches, best bandwidth,
/// arithmetic.
std::string ceilings_line(const Ceilings& ceilings);

/// Text in sections of labelled lines, for `assay show` and `assay compare --explain`.
class Page {
 public:
  explicit Page(bool color) : color_(color) {}

  /// Adds the title of a row: its status, id and mode.
  void verdict(const Record& record);
  /// Adds a title: a coloured word and its subject.
  void title(std::string_view word, Ink ink, const std::string& subject);
  void section(const std::string& title);
  /// Adds a labelled line, or nothing if there is no value; further lines of a value are aligned with its
  /// first.
  void line(std::string_view label, std::string_view value);

  const std::string& text() const { return text_; }

 private:
  bool color_;
  std::string text_;
};

/// Joins the parts that are not empty with a separator.
std::string joined(std::initializer_list<std::string> parts, const std::string& separator);

/// Adds the sections of a run: its device, its circumstances, its timer and the ceilings.
void show_run(Page& page, const RunInfo& run);

}  // namespace assay
