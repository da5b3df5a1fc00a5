#include "harness/cases/tests/bad_input_test_support.h"
#include "harness/tensor/npy/npy.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

// Tests errors in files that a case names: their header, dtype, shape and values are checked when the case is
// loaded.

namespace assay::cases {
namespace {

using namespace test;

using testing::HasSubstr;
using testing::StartsWith;

class NpyErrors : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& bytes) { folder.write(name, bytes); }

  template <class T>
  void write(const std::string& name, const Shape& shape, T value) {
    HostTensor tensor(DTypeOf<T>::value, shape);
    for (T& element : tensor.as<T>()) element = value;
    write_npy(folder.path() / name, tensor);
  }

  /// Returns the message about a case of quantize_affine (x f32 [8, 6], scale f32 and zero_point i32 [4, 2],
  /// q i8).
  std::string error_of(const std::string& line) {
    const LoadResult result = load_text(folder, quantize_file + "    " + line + "\n");
    EXPECT_EQ(result.cases.size(), result.errors.empty() ? 1u : 0u);
    return messages(folder, result.errors);
  }

  TemporaryFolder folder;
};

TEST_F(NpyErrors, AFileLargerThanMemoryIsRefusedByItsHeader) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1048576, 1048576), }";
  write("x.npy", std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header);
  const auto begin = std::filesystem::file_size(folder / "x.npy");
  std::error_code error;
  std::filesystem::resize_file(folder / "x.npy", begin + (std::uintmax_t{1} << 42), error);
  if (error) GTEST_SKIP() << "the file system has no files of 4 TiB";
  EXPECT_THAT(error_of("fill: {x: {npy: x.npy}}"),
              StartsWith("case.yaml:6:16: error: x.npy holds f32 [1048576x1048576], but 'x' is f32 [8x6]\n"));
}

TEST_F(NpyErrors, WordsOfAHeaderAreShownBriefly) {
  const std::string header = "{'descr': '" + std::string(50, '\x1b') + std::string(150, 'f') + "', }";
  write("x.npy", std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header);
  const std::string message = error_of("fill: {x: {npy: x.npy}}");
  EXPECT_THAT(message, HasSubstr("\\x1b"));
  EXPECT_EQ(message.find('\x1b'), message.npos);
  EXPECT_LT(message.size(), 400U);
}

TEST_F(NpyErrors, AGoodFileIsTaken) {
  write("x.npy", Shape{8, 6}, 2.5f);
  write("q.npy", Shape{8, 6}, std::int8_t{3});
  EXPECT_EQ(error_of("fill: {x: {npy: x.npy}}"), "");
  EXPECT_EQ(error_of("expected: {q: {npy: q.npy}}"), "");
}

TEST_F(NpyErrors, AMissingFile) {
  const std::string error = error_of("fill: {x: {npy: nothing.npy}}");
  EXPECT_THAT(error, StartsWith("case.yaml:6:16: error: "));
  EXPECT_THAT(error, HasSubstr("nothing.npy"));
  EXPECT_THAT(error, HasSubstr("\n        fill: {x: {npy: nothing.npy}}\n                   ^"));
}

TEST_F(NpyErrors, AFileOfAnotherKind) {
  write("x.npy", std::string("this is text, and long enough to be read as a header of something"));
  EXPECT_THAT(error_of("fill: {x: {npy: x.npy}}"), StartsWith("case.yaml:6:16: error: "));
}

TEST_F(NpyErrors, ATruncatedFile) {
  write("whole.npy", Shape{8, 6}, 2.5f);
  const std::uintmax_t size = std::filesystem::file_size(folder.path() / "whole.npy");
  for (const std::uintmax_t kept : {std::uintmax_t{0}, std::uintmax_t{5}, std::uintmax_t{40}, size - 1}) {
    std::filesystem::copy_file(folder.path() / "whole.npy", folder.path() / "x.npy",
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(folder.path() / "x.npy", kept);
    EXPECT_THAT(error_of("fill: {x: {npy: x.npy}}"), StartsWith("case.yaml:6:16: error: ")) << kept;
  }
}

TEST_F(NpyErrors, AnotherDtype) {
  write("x.npy", Shape{8, 6}, std::int32_t{2});
  EXPECT_THAT(error_of("fill: {x: {npy: x.npy}}"),
              StartsWith("case.yaml:6:16: error: x.npy holds i32 [8x6], but 'x' is f32 [8x6]\n"));
}

TEST_F(NpyErrors, AnotherShape) {
  write("q.npy", Shape{6, 8}, std::int8_t{2});
  EXPECT_THAT(error_of("expected: {q: {npy: q.npy}}"),
              StartsWith("case.yaml:6:20: error: q.npy holds i8 [6x8], but 'q' is i8 [8x6]\n"));
}

TEST_F(NpyErrors, AScaleThatIsNotPositiveOrNotFinite) {
  for (const float bad : {0.0f, -1.0f, std::nanf(""), std::numeric_limits<float>::infinity()}) {
    write("s.npy", Shape{4, 2}, bad);
    EXPECT_THAT(
        error_of("fill: {scale: {npy: s.npy}}"),
        StartsWith(
            "case.yaml:6:12: error: 'scale' is a scale: every value must be finite and greater than 0"));
  }
  write("s.npy", Shape{4, 2}, 0.5f);
  EXPECT_EQ(error_of("fill: {scale: {npy: s.npy}}"), "");
}

TEST_F(NpyErrors, AZeroPointOutOfRange) {
  write("z.npy", Shape{4, 2}, std::int32_t{128});
  EXPECT_THAT(
      error_of("fill: {zero_point: {npy: z.npy}}"),
      StartsWith("case.yaml:6:12: error: values of 'zero_point' must be between -128 and 127, got 128\n"));
}

TEST_F(NpyErrors, NanIsDataLikeAnyOther) {
  write("x.npy", Shape{8, 6}, std::nanf(""));
  EXPECT_EQ(error_of("fill: {x: {npy: x.npy}}"), "");
}

TEST_F(NpyErrors, DimsOfOneMayBeMissing) {
  write("s.npy", Shape{4, 1, 2, 1}, 0.5f);
  EXPECT_EQ(error_of("fill: {scale: {npy: s.npy}}"), "");
  write("s.npy", Shape{8}, 0.5f);
  EXPECT_THAT(error_of("fill: {scale: {npy: s.npy}}"),
              HasSubstr("s.npy holds f32 [8], but 'scale' is f32 [4x2]"));
}

TEST_F(NpyErrors, DoublesAndLongIntegersMustBeNumbersOfTheTensor) {
  write("s.npy", Shape{4, 2}, 0.5);
  write("z.npy", Shape{4, 2}, std::int64_t{-7});
  EXPECT_EQ(error_of("fill: {scale: {npy: s.npy}, zero_point: {npy: z.npy}}"), "");
  write("s.npy", Shape{4, 2}, 0.1);
  EXPECT_THAT(
      error_of("fill: {scale: {npy: s.npy}}"),
      StartsWith(
          "case.yaml:6:20: error: s.npy holds 0.1 at [0, 0], which f32 cannot represent; save it as f32\n"));
  write("q.npy", Shape{8, 6}, std::int64_t{128});
  EXPECT_THAT(error_of("expected: {q: {npy: q.npy}}"),
              HasSubstr("q.npy holds 128 at [0, 0], which i8 cannot represent"));
}

TEST_F(NpyErrors, ArraysOfAnotherWidthAreTakenWhereEveryValueFits) {
  write("z.npy", Shape{4, 2}, std::int8_t{-7});
  write("x.npy", Shape{8, 6}, to_half(0.5f));
  EXPECT_EQ(error_of("fill: {zero_point: {npy: z.npy}, x: {npy: x.npy}}"), "");
  write("x.npy", Shape{8, 6}, 0.1f);
  EXPECT_THAT(error_of("dtype: f16\n    fill: {x: {npy: x.npy}}"),
              HasSubstr("at [0, 0], which f16 cannot represent; save it as f16"));
  write("x.npy", Shape{8, 6}, 0.5f);
  EXPECT_EQ(error_of("dtype: f16\n    fill: {x: {npy: x.npy}}"), "");
}

TEST_F(NpyErrors, TheRangeOfFloatDataIsForFillsAlone) {
  write("x.npy", Shape{8, 6}, 1e30f);
  EXPECT_EQ(error_of("fill: {x: {npy: x.npy}}"), "") << "x is declared with -4 to 4";
}

TEST_F(NpyErrors, DoublesMayStayForABoundedOutput) {
  write("y.npy", Shape{64, 1}, 0.1);
  const std::string line = "    expected: {y: {npy: y.npy}}\n";
  EXPECT_EQ(messages(folder, load_text(folder, dequantize_case(line)).errors), "");
  EXPECT_THAT(messages(folder, load_text(folder, dequantize_case("    fill: {x: {npy: y.npy}}\n")).errors),
              HasSubstr("y.npy holds f64 [64x1], but 'x' is i8 [64]"));
}

TEST_F(NpyErrors, AMemberOfAnArchive) {
  const std::string golden = std::filesystem::absolute(ASSAY_SOURCE_DIR "/references/golden/q8ta_relu.npz");
  const auto error_with = [&](const std::string& file, const std::string& member) {
    return error_of("fill: {x: {npz: " + file + ", member: " + member + "}}");
  };
  // The other op's array is found and read, but does not fit.
  EXPECT_THAT(error_with(golden, "00/x"), HasSubstr("but 'x' is f32 [8x6]"));
  EXPECT_THAT(error_with(golden, "nobody"), HasSubstr("it has no member 'nobody'"));
  EXPECT_THAT(error_with("none.npz", "x"), HasSubstr("none.npz: there is no such file"));
  write("x.npy", Shape{8, 6}, 2.5f);
  EXPECT_THAT(error_with("x.npy", "x"), HasSubstr("x.npy: it is not a .npz archive"));
  EXPECT_THAT(error_of("fill: {x: {npy: " + golden + "}}"), HasSubstr("it is not a .npy file"));
}

TEST_F(NpyErrors, AMemberNeedsItsArchive) {
  EXPECT_THAT(error_of("fill: {x: {npz: a.npz}}"),
              HasSubstr("'npz' needs a 'member': {npz: FILE, member: NAME}"));
  EXPECT_THAT(error_of("fill: {x: {npy: a.npy, member: x}}"),
              HasSubstr("'member' belongs to 'npz', not to 'npy'"));
  EXPECT_THAT(error_of("fill: {x: {member: x}}"),
              HasSubstr("must be {npy: FILE} or {npz: FILE, member: NAME}"));
  EXPECT_THAT(error_of("expected: {q: {npz: a.npz, npy: a.npy}}"),
              HasSubstr("must be {npy: FILE} or {npz: FILE, member: NAME}"));
}

TEST_F(NpyErrors, PathsAreRelativeToTheFileTheyAreWrittenIn) {
  write("x.npy", Shape{8, 6}, 2.5f);
  folder.write("deeper/sets.yaml", "sets: {from_file: {x: {npy: ../x.npy}}}\n");
  const LoadResult result =
      load_text(folder, "include: [deeper/sets.yaml]\n" + quantize_file + "    fill: from_file\n");
  EXPECT_EQ(messages(folder, result.errors), "");
  ASSERT_EQ(result.cases.size(), 1u);
  EXPECT_EQ(result.cases[0].fills->at("x").file, ArrayFile((folder.path() / "x.npy").string()));
}

}  // namespace
}  // namespace assay::cases
