#include "harness/report/record/row_key.h"

namespace assay {

RowKey key_of(const RowInfo& info) {
  return {info.id, info.mode, info.cache == "cold" ? "cold" : ""};
}

std::string mode_words(const RowInfo& info) {
  return info.cache == "cold" ? info.mode + ", cold" : info.mode;
}

}  // namespace assay
