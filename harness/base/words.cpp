#include "harness/base/words.h"

#include <iterator>
#include <sstream>

namespace assay {

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace assay
