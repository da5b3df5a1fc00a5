#include "harness/engine/supervision/worker_handle.h"

#include "harness/base/text.h"

namespace assay {

std::string with_last_words(const std::string& what, const Worker& worker) {
  const std::string words = worker.last_words();
  return words.empty() ? what : what + "; its last words: " + printable(words);
}

}  // namespace assay
