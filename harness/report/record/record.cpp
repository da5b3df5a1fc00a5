#include "harness/report/record/record.h"

namespace assay {

RowKey key_of(const RowInfo& info) {
  return {info.id, info.mode, info.cache == "cold" ? "cold" : ""};
}

std::string asked_forms(const RowInfo& info) {
  std::string asked;
  bool inside = false;
  for (const char c : info.forms) {
    inside = inside || c == '(';
    if (!inside) asked += c;
    inside = inside && c != ')';
  }
  return asked;
}

std::string mode_words(const RowInfo& info) {
  return info.cache == "cold" ? info.mode + ", cold" : info.mode;
}

}  // namespace assay
