#include "harness/report/console/rule_notes.h"

#include "harness/base/text.h"
#include "harness/report/console/style.h"

#include <fmt/core.h>

namespace assay {

std::string rule_note_lines(const RunInfo& run, bool color) {
  std::string lines;
  for (const RuleNote& rule : run.rule_notes) {
    lines += fmt::format("{}  {}:{}  {}  ({})\n    {}\n", painted(printable(rule.state), Ink::Yellow, color),
                         printable(rule.where.file), rule.where.line, printable(rule.match),
                         printable(rule.reason), printable(rule.note));
  }
  return lines;
}

}  // namespace assay
