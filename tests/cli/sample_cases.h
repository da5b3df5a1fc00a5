#pragma once

#include <gtest/gtest.h>

#include <string>

namespace assay::test {

// Small case files that the tests of the binary share.

inline constexpr const char* shuffle_cases = R"(op: q8ta_pixel_shuffle
cases:
  - name: small
    tier: smoke
    upscale_factor: 2
    shape: {each: [[1, 16, 4, 4], [2, 24, 8, 5]]}
    qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
    forms: {each: [{x: buffer/4W4C, y: buffer/4W4C}, {x: buffer/4W4C, y: buffer/4C1W}]}
)";

inline constexpr const char* perf_cases = R"(op: q8ta_pixel_shuffle
cases:
  - name: timed
    mode: perf
    upscale_factor: 2
    shape: [1, 16, 4, 4]
    qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
)";

inline constexpr const char* both_cases = R"(op: q8ta_pixel_shuffle
cases:
  - name: both
    mode: both
    upscale_factor: 2
    shape: [1, 16, 4, 4]
    qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
)";

/// Two rows of one group that differ in their forms.
inline constexpr const char* perf_pair_cases = R"(op: q8ta_pixel_shuffle
cases:
  - name: timed
    mode: perf
    upscale_factor: 2
    shape: [1, 16, 4, 4]
    qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
    forms: {each: [{x: buffer/4W4C, y: buffer/4W4C}, {x: buffer/4W4C, y: buffer/4C1W}]}
)";

/// Constant input: the answer is constant, so the case proves nothing.
inline constexpr const char* mistrusted_cases = R"(op: q8ta_pixel_shuffle
cases:
  - name: flat
    upscale_factor: 2
    shape: [1, 16, 4, 4]
    fill: {x: {constant: 7}}
    qparams: {x: {scale: 0.5, zero_point: 0}, y: {scale: 0.25, zero_point: 3}}
)";

/// Tests of what reads a report: all in one process read the same run on the best device, of the cases
/// `shuffle_cases` and `both_cases` in files c.yaml and p.yaml.
class SampleRunTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  /// The folder that was given as --out.
  static std::string out();
};

}  // namespace assay::test
