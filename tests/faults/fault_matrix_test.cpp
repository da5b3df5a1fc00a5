#include "tests/faults/bench.h"
#include "tests/faults/fault_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <set>
#include <string>

namespace assay::faults {
namespace {

using ::testing::ContainsRegex;
using ::testing::MatchesRegex;

const Shape matrix_image = {2, 5, 3, 7};  // a batch, rows that are no multiple of four, 210 elements

/// One kernel, and what the engine must say of it.
struct Verdict {
  Case (*make)(const std::string& impl);
  std::string impl;
  std::string metric;     ///< a regular expression; empty: the kernel is right
  std::string diagnosis;  ///< the word of the diagnosis; empty: it says nothing
  std::string reason;     ///< a regular expression
  bool missed = false;    ///< the diagnosis is known not to have that word
};

std::ostream& operator<<(std::ostream& out, const Verdict& verdict) {
  return out << verdict.impl;
}

Case matrix_quantize_case(const std::string& impl) {
  static const Op op = quantize();
  return fault_case(op, impl, quantize_params(matrix_image));
}

Case tie_case(const std::string& impl) {
  static const Op op = quantize();
  return fault_case(op, impl, quantize_params(matrix_image), FillKind::Ties);
}

Case saturating_case(const std::string& impl) {
  static const Op op = quantize();
  return fault_case(op, impl, quantize_params(matrix_image), FillKind::Saturate);
}

Case dequantize_case(const std::string& impl) {
  static const Op op = dequantize();
  return fault_case(op, impl, dequantize_params(matrix_image));
}

Case zero_case(const std::string& impl) {
  static const Op op = dequantize();
  return fault_case(op, impl, dequantize_params(matrix_image), FillKind::Zero);
}

const Op& pixel_shuffle_op() {
  static const Op op = pixel_shuffle();
  return op;
}

Case same_case(const std::string& impl) {
  return fault_case(pixel_shuffle_op(), impl, pixel_shuffle_params({2, 32, 3, 4}, 2, true));
}

Case different_case(const std::string& impl) {
  return fault_case(pixel_shuffle_op(), impl, pixel_shuffle_params({2, 32, 3, 4}, 2, false));
}

/// Nine channels: three lanes of padding in every third word of x.
Case matrix_padded_case(const std::string& impl) {
  return fault_case(pixel_shuffle_op(), impl, pixel_shuffle_params({2, 9, 2, 5}, 3, false));
}

// With this many wrong bytes, dozens equal the poison of their place by chance.
Case large_clone_case(const std::string& impl) {
  static const Op op = clone();
  return fault_case(op, impl, clone_params({2, 40, 16, 16}));
}

Case clone_case(const std::string& impl) {
  static const Op op = clone();
  return fault_case(op, impl, clone_params(matrix_image));
}

Case texture_tie_case(const std::string& impl) {
  static const Op op = quantize_tensor();
  return fault_case(op, impl, quantize_tensor_params(matrix_image), FillKind::Ties);
}

Case matrix_texture_case(const std::string& impl) {
  static const Op op = dequantize_tensor();
  return fault_case(op, impl, dequantize_tensor_params(matrix_image));
}

Case matmul_case(const std::string& impl) {
  static const Op op = matmul();
  return fault_case(op, impl, matmul_params(5, 67, 13));
}

Case flip_3d_case(const std::string& impl) {
  static const Op op = flip(Storage::Texture3D);
  return fault_case(op, impl, flip_params(matrix_image));
}

Case flip_2d_case(const std::string& impl) {
  static const Op op = flip(Storage::Texture2D);
  return fault_case(op, impl, flip_params({15, 14}));
}

class FaultMatrix : public ::testing::TestWithParam<Verdict> {};

void expect_verdict(const Record& record, const Verdict& verdict) {
  const bool right = verdict.metric.empty();
  ASSERT_TRUE(record.accuracy.has_value()) << record.reason;
  EXPECT_EQ(record.status, right ? Status::Pass : Status::Fail) << record.reason;
  EXPECT_THAT(record.accuracy->metric, MatchesRegex(verdict.metric)) << record.reason;
  EXPECT_THAT(record.reason, ContainsRegex(verdict.reason));
  const auto& diagnosis = record.accuracy->diagnosis;
  EXPECT_EQ((diagnosis ? diagnosis->word : "") == verdict.diagnosis, !verdict.missed)
      << (diagnosis ? diagnosis->word + ": " + diagnosis->text : "silent");
  EXPECT_EQ(record.perf.has_value(), right && record.info.mode == "perf");
}

/// Drivers that do not clear workgroup memory may still give a thread to the program that no poison reached.
TEST(UninitializedWorkgroupMemory, FailsAndIsNamed) {
  static const Op op = quantize();
  const Case test_case =
      fault_case(op, "reads_uninitialized_workgroup_memory", quantize_params({2, 64, 64, 64}));
  std::string metric;
  for (int attempt = 0; attempt < 50 && metric != "reads_uninitialized"; ++attempt) {
    const Record record = Bench::shared().run(test_case, Mode::Accu);
    ASSERT_EQ(record.status, Status::Fail) << record.reason;
    metric = record.accuracy->metric;
  }
  EXPECT_EQ(metric, "reads_uninitialized");
}

/// A maximum is right with one sign of what the variable held, and wrong with the other.
TEST(UninitializedVariable, IsFoundByTheSignOfSomeRow) {
  static const Op op = quantize();
  std::set<Status> seen;
  for (std::int64_t width = 1; width <= 12; ++width) {
    const Case test_case =
        fault_case(op, "keeps_the_larger_of_an_uninitialized_variable", quantize_params({1, 2, 3, width}));
    seen.insert(Bench::shared().run(test_case, Mode::Accu).status);
  }
  EXPECT_TRUE(seen.contains(Status::Fail));
}

TEST_P(FaultMatrix, BothModesNameTheFaultAndOnlyARightKernelHasATime) {
  const Verdict& verdict = GetParam();
  const Case test_case = verdict.make(verdict.impl);
  expect_verdict(Bench::shared().run(test_case, Mode::Accu), verdict);
  const Record timed = Bench::shared().run(test_case, Mode::Perf);
  expect_verdict(timed, verdict);
  if (!timed.perf) return;
  EXPECT_TRUE(timed.perf->verified);
  EXPECT_GT(timed.perf->time_us_p50, 0);
  EXPECT_GE(timed.perf->blocks, 5);
}

std::string name_of_verdict(const ::testing::TestParamInfo<Verdict>& info) {
  const Case test_case = info.param.make(info.param.impl);
  std::string name = test_case.op->name + "_" + info.param.impl;
  return name + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(Control, FaultMatrix,
                         ::testing::Values(Verdict{matrix_quantize_case, "correct", "", "", "^$"},
                                           Verdict{tie_case, "correct", "", "", "^$"},
                                           Verdict{saturating_case, "correct", "", "", "^$"},
                                           Verdict{dequantize_case, "correct", "", "", "^$"},
                                           Verdict{same_case, "correct", "", "", "^$"},
                                           Verdict{different_case, "correct", "", "", "^$"},
                                           Verdict{matrix_padded_case, "correct", "", "", "^$"},
                                           Verdict{clone_case, "correct", "", "", "^$"},
                                           Verdict{texture_tie_case, "correct", "", "", "^$"},
                                           Verdict{matrix_texture_case, "correct", "", "", "^$"},
                                           Verdict{matmul_case, "correct", "", "", "^$"}),
                         name_of_verdict);

INSTANTIATE_TEST_SUITE_P(
    Memory, FaultMatrix,
    ::testing::Values(Verdict{matrix_quantize_case, "null_kernel", "unwritten", "unwritten",
                              "210 of 210 elements of 'q' were never written, first q\\[0, 0, 0, 0\\]"},
                      Verdict{matrix_quantize_case, "one_element_not_written", "unwritten", "unwritten",
                              "1 of 210 elements of 'q' were never written, first q\\[1, 4, 2, 6\\]"},
                      Verdict{matrix_quantize_case, "write_past_end", "write_out_of_bounds", "",
                              "'q' was written past its end: [1-4] bytes, the nearest at end\\+[0-3]"},
                      Verdict{matrix_quantize_case, "write_before_start", "write_out_of_bounds", "",
                              "'q' was written before its start: [1-4] bytes, the nearest at start-[1-4]"},
                      Verdict{matrix_quantize_case, "input_overwritten", "input_modified", "",
                              "input 'x' was overwritten, first at byte (16|17|18|19) of its data"},
                      Verdict{matrix_quantize_case, "reads_past_end", "reads_out_of_bounds", "",
                              "depends on memory before or past a tensor's data: 1 of 210 elements, first "
                              "q\\[0, 0, 0, 0\\]"},
                      Verdict{matrix_quantize_case, "reads_uninitialized_variable", "reads_uninitialized", "",
                              "depends on a variable that is read before it is set: [0-9]+ of 210 elements, "
                              "first q\\[0, 0, 0, 0\\]"},
                      Verdict{matrix_padded_case, "depends_on_padding", "depends_on_padding", "",
                              "depends on the padding of inputs: .* first y\\[0, 0, 0, 0\\]"},
                      Verdict{matrix_quantize_case, "keeps_old_bit", "depends_on_old_output", "",
                              "depends on what outputs or scratch held before: 53 of 210 elements, first "
                              "q\\[0, 0, 0, 0\\]"}),
    name_of_verdict);

INSTANTIATE_TEST_SUITE_P(
    Arithmetic, FaultMatrix,
    ::testing::Values(
        Verdict{matrix_quantize_case, "zero_point_ignored", "wrong_value", "zero_point",
                "q\\[0, .* elements wrong"},
        Verdict{matrix_quantize_case, "zero_point_off_by_one", "wrong_value", "zero_point",
                "q\\[0, 0, 0, 0\\]: expected .* elements wrong \\([0-9.]+ %\\), largest error 1$"},
        Verdict{tie_case, "half_away", "wrong_value", "rounding", "q\\[0, .* largest error 1$"},
        Verdict{texture_tie_case, "half_away", "wrong_value", "rounding", "y\\[0, .* largest error 1$"},
        Verdict{matrix_texture_case, "zero_point_off_by_one", "wrong_value", "zero_point",
                "y\\[0, 0, 0, 0\\]: expected .*; 210 of 210 elements wrong"},
        Verdict{matrix_quantize_case, "truncation", "wrong_value", "rounding", "q\\[0, .* largest error 1$"},
        Verdict{matrix_quantize_case, "scale_off", "wrong_value", "scale", "q\\[.* largest error"},
        Verdict{different_case, "requantize_skipped", "wrong_value", "scale",
                "y\\[0, 0, 0, .* elements wrong"},
        Verdict{zero_case, "minus_zero", "wrong_value", "sign",
                "y\\[0, 0, 0, 0\\]: expected 0 by the reference, got -0 \\(exact\\)"},
        Verdict{dequantize_case, "nan_output", "wrong_value", "nan",
                "y\\[1, 0, 0, 0\\]: expected .*, got nan \\(exact\\); 1 of 210 elements wrong"}),
    name_of_verdict);

INSTANTIATE_TEST_SUITE_P(
    Indexing, FaultMatrix,
    ::testing::Values(
        Verdict{same_case, "copy_kernel", "wrong_value", "layout", "y\\[0, 0, 0, .* elements wrong", true},
        Verdict{different_case, "copy_kernel", "wrong_value", "", "y\\[0, 0, 0, .* elements wrong"},
        Verdict{same_case, "swapped_layout", "wrong_value", "layout", "y\\[0, .* elements wrong"},
        Verdict{different_case, "swapped_layout", "wrong_value", "layout", "y\\[0, .* elements wrong"},
        Verdict{matrix_quantize_case, "only_batch_0", "wrong_value", "tail", "^q\\[1, 0, "},
        Verdict{same_case, "only_batch_0", "wrong_value", "tail", "^y\\[1, 0, "},
        Verdict{matrix_quantize_case, "width_tail_dropped", "wrong_value", "tail", "^q\\[0, 0, 0, [4-6]\\]"},
        Verdict{clone_case, "lanes_swapped", "depends_on_padding", "packing",
                "42 of 210 elements, first y\\[0, 4, 0, 0\\].*; y\\[0, 0, 0, .* elements wrong", true},
        Verdict{large_clone_case, "guard_copied", "write_out_of_bounds", "",
                "^'y' was written past its end: [1-4] bytes, the nearest at end"},
        Verdict{large_clone_case, "reads_guard", "reads_out_of_bounds", "",
                "depends on memory before or past a tensor's data: 20480 of 20480 elements"},
        Verdict{clone_case, "only_batch_0", "wrong_value", "tail", "^y\\[1, 0, "},
        Verdict{clone_case, "tail_block_dropped", "wrong_value", "tail", "^y\\[0, 4, 0, "},
        Verdict{matmul_case, "last_k_dropped", "wrong_value", "accumulation", "^y\\[0, "},
        Verdict{matmul_case, "column_tail_dropped", "wrong_value", "tail",
                "^y\\[0, 12\\]: .*; 5 of 65 elements wrong"},
        Verdict{matmul_case, "counted_twice", "wrong_value", "", "^y\\[0, "},
        Verdict{matmul_case, "return_before_barrier", "wrong_value|reads_uninitialized|nondeterministic", "",
                "^y\\[0, 0\\]|; y\\[0, 0\\]"}),
    name_of_verdict);

// Textures have no guards, and need none; all else is seen in them too. Their rows are 7 and 14 elements
// wide.
INSTANTIATE_TEST_SUITE_P(
    Texture, FaultMatrix,
    ::testing::Values(Verdict{flip_3d_case, "correct", "", "", "^$"},
                      Verdict{flip_2d_case, "correct", "", "", "^$"},
                      Verdict{flip_3d_case, "one_texel_not_written", "unwritten", "unwritten",
                              "4 of 210 elements of 'y' were never written, first y\\[1, 4, 1, 0\\]"},
                      Verdict{flip_2d_case, "one_texel_not_written", "unwritten", "unwritten",
                              "4 of 210 elements of 'y' were never written, first y\\[1, 0\\]"},
                      Verdict{flip_3d_case, "one_texel_wrong", "wrong_value", "",
                              "^y\\[1, 4, 1, 1\\]: .*; 1 of 210 elements wrong"},
                      Verdict{flip_2d_case, "one_texel_wrong", "wrong_value", "",
                              "^y\\[1, 1\\]: .*; 1 of 210 elements wrong"},
                      Verdict{flip_3d_case, "rows_swapped", "wrong_value", "index", "^y\\[0, 0, 0, "},
                      Verdict{flip_2d_case, "rows_swapped", "wrong_value", "index", "^y\\[0, "},
                      Verdict{flip_3d_case, "depends_on_padding", "depends_on_padding", "",
                              "on the padding of inputs: 1 of 210 elements, first y\\[0, 0, 0, 4\\]"},
                      Verdict{flip_2d_case, "depends_on_padding", "depends_on_padding", "",
                              "on the padding of inputs: 1 of 210 elements, first y\\[0, 12\\]"},
                      Verdict{flip_3d_case, "keeps_old_bit", "depends_on_old_output", "",
                              "60 of 210 elements, first y\\[0, 0, 0, 0\\]"},
                      Verdict{flip_3d_case, "input_overwritten", "input_modified", "",
                              "input 'x' was overwritten, first at byte 8 of its data"},
                      Verdict{flip_2d_case, "input_overwritten", "input_modified", "",
                              "input 'x' was overwritten, first at byte 16 of its data"}),
    name_of_verdict);

TEST(FaultMatrix, PrintsNothing) {
  Bench& bench = Bench::shared();
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  bench.run(matrix_quantize_case("correct"));
  bench.run(matrix_quantize_case("null_kernel"));
  bench.run(matmul_case("does_not_compile"));
  bench.run(matmul_case("correct"), Mode::Perf);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

// Faults that show only where invocations run one after another, as lavapipe's do beyond a subgroup.

TEST(ScheduleFault, AMissingBarrierFails) {
  Bench& bench = Bench::shared();
  if (!bench.is_lavapipe()) GTEST_SKIP() << "a device may run the whole workgroup in step";
  for (const Mode mode : {Mode::Accu, Mode::Perf}) {
    const Record record = bench.run(matmul_case("missing_barrier"), mode);
    EXPECT_EQ(record.status, Status::Fail) << record.reason;
    EXPECT_FALSE(record.perf.has_value());
  }
}

TEST(ScheduleFault, SharedMemoryReadBeforeItIsWrittenIsNamed) {
  Bench& bench = Bench::shared();
  if (!bench.is_lavapipe()) GTEST_SKIP() << "only lavapipe is known to keep shared memory between runs";
  for (const Mode mode : {Mode::Accu, Mode::Perf}) {
    const Record record = bench.run(matmul_case("uninitialized_shared"), mode);
    EXPECT_EQ(record.status, Status::Fail);
    ASSERT_TRUE(record.accuracy.has_value());
    // A thread that no poison reached may make two equal runs differ first.
    EXPECT_THAT(record.accuracy->metric, MatchesRegex("reads_uninitialized|nondeterministic"));
    EXPECT_THAT(record.reason,
                ContainsRegex("(read before it is written|between two equal runs): 5 of 65 elements, first "
                              "y\\[0, 0\\]: "));
    EXPECT_FALSE(record.perf.has_value());
  }
}

TEST(TimedFault, AnAnswerThatIsRightOnlyTheFirstTimeHasNoTime) {
  Bench& bench = Bench::shared();
  EXPECT_EQ(bench.run(matmul_case("wrong_when_repeated"), Mode::Accu).status, Status::Pass);
  const Record record = bench.run(matmul_case("wrong_when_repeated"), Mode::Perf);
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_FALSE(record.perf.has_value());
  EXPECT_THAT(record.reason,
              ::testing::HasSubstr("the timed runs did not compute the answer that was judged"));
}

// Nor can it be wrong only while it is timed: a program is given the same offset whenever it runs.
TEST(TimedFault, AProgramCannotTellByItsGuardsThatItIsTimed) {
  Bench& bench = Bench::shared();
  EXPECT_EQ(bench.run(matrix_quantize_case("wrong_without_guards"), Mode::Accu).status, Status::Pass);
  const Record record = bench.run(matrix_quantize_case("wrong_without_guards"), Mode::Perf);
  EXPECT_EQ(record.status, Status::Pass) << record.reason;
  EXPECT_TRUE(record.perf.has_value());
}

}  // namespace
}  // namespace assay::faults
