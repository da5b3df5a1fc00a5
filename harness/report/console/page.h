#pragma once

#include "harness/report/console/style.h"
#include "harness/report/record/record.h"

#include <initializer_list>
#include <string>
#include <string_view>

namespace assay {

/// Text in sections of labelled lines: what `assay show` and `assay compare --explain` print.
class Page {
 public:
  explicit Page(bool color) : color_(color) {}

  /// The head of a row: its status, id and mode.
  void verdict(const Record& record);
  /// The head of anything: a word in its colour, and what it is said of.
  void title(std::string_view word, Ink ink, const std::string& subject);
  void section(const std::string& title);
  /// Nothing where there is no value; further lines of a value stand below its first.
  void line(std::string_view label, std::string_view value);

  const std::string& text() const { return text_; }

 private:
  bool color_;
  std::string text_;
};

/// The parts that are not empty, with a separator between each two.
std::string joined(std::initializer_list<std::string> parts, const std::string& separator);

/// The sections of a run: its device, its circumstances, its timer and the ceilings it is held against.
void show_run(Page& page, const RunInfo& run);

}  // namespace assay
