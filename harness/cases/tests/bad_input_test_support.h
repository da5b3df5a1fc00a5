#pragma once

#include "harness/cases/tests/fake_ops_test_support.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

namespace assay::test {

/// Case files with an error, and the complete message about it.
struct BadInput {
  std::string name;
  std::string files;      ///< case.yaml; a line "=== NAME" begins another file
  std::size_t cases = 0;  ///< how many cases are still loaded
  std::string message;    ///< the whole message: file:line:col, line, caret, suggestion
};
std::ostream& operator<<(std::ostream& stream, const BadInput& input);

/// Loads case.yaml and compares the messages.
class BadInputTest : public testing::TestWithParam<BadInput> {
 protected:
  static void expect_message(const BadInput& input);
};

std::string name_of_bad_input(const testing::TestParamInfo<BadInput>& info);

/// Valid case files of q8ta_pixel_shuffle and quantize_affine, each with one case, which ends the file.
inline const std::string shuffle_file = pixel_shuffle_case("");
inline const std::string quantize_file = R"(op: quantize_affine
cases:
  - name: one
    shape: [8, 6]
    block_size: [2, 3]
)";

/// Returns `text` with the first `old` replaced; the test fails if there is none.
std::string with(std::string text, std::string_view old, std::string_view replacement);

}  // namespace assay::test
