#pragma once

#include "harness/cases/expansion/load.h"
#include "harness/op/op.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::test {

/// Ops with the parameters and tensors of real ones, and nothing to run.
///   q8ta_pixel_shuffle   qparams, two forms of each tensor, impls `fused` and `unfused` (no 4C1W)
///   quantize_affine      lists, choices, defaults, roles of fills, float tensors with textures
///   q8ta_dequantize      an output that is exact (dtype f32) or bounded (f16)
const Registry& fake_ops();

/// Loads a text as the file `case.yaml`.
LoadResult load_text(const TemporaryFolder& folder, std::string_view text, const LoadOptions& options = {});
LoadResult load_text(std::string_view text, const LoadOptions& options = {});

/// Loads a text that must have no errors.
std::vector<Case> load_good(std::string_view text, const LoadOptions& options = {});

/// Returns what `assay list` prints.
std::string listed(std::span<const Case* const> cases, bool details);

std::vector<std::string> ids_of(const std::vector<Case>& cases);

/// Returns all messages, one after the other, without the folder's path.
std::string messages(const TemporaryFolder& folder, const std::vector<Diagnostic>& errors);

/// Returns a case of q8ta_dequantize with a bounded output; `extra` is its seventh line and what follows.
std::string dequantize_case(std::string_view extra);

/// Returns a case file of q8ta_pixel_shuffle with one case that ends with `extra`: lines "    key: value".
std::string pixel_shuffle_case(std::string_view extra);

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
