#include "harness/op/expected_check.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay {
namespace {

enum class Presence : std::uint8_t { Needed, Optional, Refused };

/// Reports what is wrong with one output of one op's reference.
class Checker {
 public:
  Checker(std::string_view op, const TensorSpec& output) : op_(op), output_(output) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw std::logic_error("the reference of " + op_ + ", output '" + output_.name + "' (" +
                           std::string(name_of(output_.output_class)) + "): " + what);
  }

  template <class T>
  void check_list(const std::string& list, const std::vector<T>& values, Presence presence) const {
    if (values.empty()) {
      if (presence == Presence::Needed) refuse("it has no " + list);
      return;
    }
    if (presence == Presence::Refused) refuse("it has " + list + ", which the class does not use");
    const auto wanted = static_cast<std::size_t>(numel(output_.shape));
    if (values.size() != wanted) {
      refuse(list + " has " + std::to_string(values.size()) + " entries for " + std::to_string(wanted) +
             " elements");
    }
  }

  /// Checks errors and bounds: an entry that is negative or NaN would accept or reject everything.
  void check_not_negative(const std::string& list, const std::vector<float>& values) const {
    for (const float value : values) {
      if (!(value >= 0)) refuse(list + " has the entry " + std::to_string(value));
    }
  }

 private:
  std::string op_;
  const TensorSpec& output_;
};

void check_values(const Checker& checker, const TensorSpec& output, const HostTensor& values) {
  const bool is_double = output.output_class == OutputClass::Bounded && values.dtype() == DType::F64;
  if ((values.dtype() == output.dtype || is_double) && values.shape() == output.shape) return;
  checker.refuse("it gave " + std::string(name_of(values.dtype())) + " [" + to_string(values.shape()) +
                 "], but the op declares " + std::string(name_of(output.dtype)) + " [" +
                 to_string(output.shape) + "]");
}

}  // namespace

void check_expected(std::string_view op, const TensorSpec& output, const Expected& expected) {
  const Checker checker(op, output);
  check_values(checker, output, expected.values);
  const bool is_banded = output.output_class == OutputClass::Banded;
  const bool is_bounded = output.output_class == OutputClass::Bounded;
  if (is_banded && !is_integer(output.dtype)) checker.refuse("only integers can be banded");
  if (is_bounded && expected.bound.empty() && expected.magnitude.empty())
    checker.refuse("it has no bound or magnitude");
  checker.check_list("bound", expected.bound, is_bounded ? Presence::Optional : Presence::Refused);
  checker.check_list("magnitude", expected.magnitude,
                     is_banded    ? Presence::Needed
                     : is_bounded ? Presence::Optional
                                  : Presence::Refused);
  checker.check_list("unrounded", expected.unrounded, is_banded ? Presence::Needed : Presence::Refused);
  checker.check_not_negative("bound", expected.bound);
  checker.check_not_negative("magnitude", expected.magnitude);
}

}  // namespace assay
