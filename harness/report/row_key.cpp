#include "harness/report/row_key.h"

namespace assay {

RowKey key_of(const CaseInfo& info) {
  return {info.id, info.mode, info.cache == "cold" ? "cold" : ""};
}

std::string mode_words(const CaseInfo& info) {
  return info.cache == "cold" ? info.mode + ", cold" : info.mode;
}

}  // namespace assay
