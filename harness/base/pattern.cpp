#include "harness/base/pattern.h"

#include "harness/base/error.h"
#include "harness/base/text.h"

#include <fmt/format.h>

#include <re2/re2.h>

namespace assay {
namespace {

re2::RE2::Options options_of(Pattern::Case letters) {
  re2::RE2::Options options;
  options.set_case_sensitive(letters == Pattern::Case::Matters);
  options.set_log_errors(false);
  return options;
}

std::shared_ptr<const re2::RE2> compile(const std::string& expression, Pattern::Case letters) {
  constexpr std::size_t longest = 1000;     // anything longer is a mistake
  constexpr std::size_t longest_why = 200;  // RE2 quotes the faulty part, which may be the whole expression
  if (expression.size() > longest) throw Error(fmt::format("it has more than {} characters", longest));
  auto compiled = std::make_shared<const re2::RE2>(expression, options_of(letters));
  if (!compiled->ok()) throw Error(shortened(printable(compiled->error()), longest_why));
  return compiled;
}

}  // namespace

Pattern::Pattern(const std::string& expression, Case letters) : compiled_(compile(expression, letters)) {}

bool Pattern::is_in(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

}  // namespace assay
