#include "harness/engine/ceilings/matrix_check.h"

#include "harness/base/error.h"
#include "tests/support/shaders_under_test.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

// Matrices of a device are compared with exact sums before they are used. On devices without matrices the
// kernel multiplies in plain code.

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CooperativeShape integers(std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  return {m, n, k, DType::I8, DType::I32, MatrixExtension::Khr};
}

CooperativeShape halves(std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  return {m, n, k, DType::F16, DType::F32, MatrixExtension::Khr};
}

class MatrixCheckTest : public ::testing::Test {
 protected:
  /// The kernels, with `was` replaced in one of their files.
  gpu::ShaderLibrary faulty(const std::string& file, const std::string& was, const std::string& becomes) {
    std::ifstream stream("shaders/" + file);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    const std::size_t at = text.find(was);
    EXPECT_NE(at, std::string::npos) << was;
    text.replace(at, was.size(), becomes);
    folder.write(file, text);
    const std::filesystem::path written =
        folder.path() / file;  // kernels are found by name, includes by path
    return gpu::ShaderLibrary({.directories = {folder.path(), written.parent_path()}, .cache_directory = {}});
  }
  std::uint32_t wrong_with(const std::string& was, const std::string& becomes,
                           const std::string& file = "harness/matrix_check.comp") {
    gpu::ShaderLibrary library = faulty(file, was, becomes);
    return matrix_check(device, library, integers(16, 16, 32), MatrixForm::Plain).wrong;
  }
  std::uint32_t misplaced_with(const std::string& was, const std::string& becomes) {
    gpu::ShaderLibrary library = faulty("common/placed_matrices.glslh", was, becomes);
    return misplaced_elements(device, library, 16, MatrixForm::Plain);
  }

  test::TemporaryFolder folder;
  gpu::Instance instance;
  gpu::Device device{instance, gpu::select_devices(instance.devices(), {}).front()};
  gpu::ShaderLibrary shaders{test::shaders_under_test()};
};

TEST_F(MatrixCheckTest, PlainCodeOfEveryVendorsShapeIsRight) {
  for (const CooperativeShape& shape :
       {integers(16, 16, 16), integers(16, 16, 32), integers(16, 8, 32), integers(8, 8, 32),
        integers(64, 16, 32), halves(16, 16, 16), halves(8, 8, 8), halves(8, 16, 16), halves(16, 8, 16)}) {
    EXPECT_EQ(matrix_check(device, shaders, shape, MatrixForm::Plain).wrong, 0U) << to_string(shape);
  }
}

TEST(WrongSums, AreThoseOfAnotherValue) {
  const auto bytes_of = [](const auto& values) { return std::as_bytes(std::span(values)); };
  const std::array exact{0.0F, 0.0F, 2.0F, 4.0F}, sums{0.0F, -0.0F, 2.0F, 4.5F};
  EXPECT_EQ(wrong_sums(halves(2, 2, 8), bytes_of(sums), bytes_of(exact)), 1U) << "-0 is 0";
  const std::array<std::uint32_t, 2> integer{0, 7}, other{0x80000000U, 7};
  EXPECT_EQ(wrong_sums(integers(1, 2, 16), bytes_of(other), bytes_of(integer)), 1U);
}

TEST(WrongSums, AreThoseOfAnotherElementToo) {
  const auto bytes_of = [](const auto& values) { return std::as_bytes(std::span(values)); };
  const std::uint32_t one = 0x3f800000, two = 0x40000000;  // as floats
  const std::array<std::uint32_t, 4> exact{5, 7, 0, one};
  const auto wrong = [&](const std::array<std::uint32_t, 4>& got) {
    return wrong_sums(integers(1, 2, 16), bytes_of(got), bytes_of(exact));
  };
  EXPECT_EQ(wrong({5, 7, 0x80000000U, one}), 0U) << "-0 is 0";
  EXPECT_EQ(wrong({5, 7, 0, two}), 1U);
  EXPECT_EQ(wrong({5, 8, 0, two}), 1U) << "of the same sum";
  EXPECT_EQ(wrong({5, 8, one, one}), 2U);
}

TEST(CheckedElements, AreAsManyAsKernelsRepeatAndLieInFloatsThatTheDeviceLists) {
  DeviceInfo device;
  device.subgroup_size = 32;
  device.cooperative_shapes = {integers(16, 16, 32), integers(16, 8, 32), halves(16, 16, 16),
                               halves(8, 8, 8)};
  EXPECT_TRUE(checks_elements(device, integers(16, 16, 32)));
  EXPECT_TRUE(checks_elements(device, halves(16, 16, 16)));
  EXPECT_TRUE(checks_elements(device, halves(8, 8, 8))) << "two elements";
  EXPECT_FALSE(checks_elements(device, integers(16, 8, 32))) << "no floats of this size";
  CooperativeShape by_the_other = integers(16, 16, 32);
  by_the_other.extension = MatrixExtension::Nv;
  EXPECT_FALSE(checks_elements(device, by_the_other)) << "no floats of this extension";
  device.subgroup_size = 8;
  EXPECT_TRUE(checks_elements(device, halves(16, 16, 16))) << "32 elements";
  device.subgroup_size = 4;
  EXPECT_FALSE(checks_elements(device, halves(16, 16, 16))) << "64";
  device.subgroup_size = 64;
  EXPECT_FALSE(checks_elements(device, halves(8, 8, 8))) << "one";
}

TEST_F(MatrixCheckTest, MatricesOfTheDeviceAtHandAreRight) {
  for (const CooperativeShape& shape : device.info().cooperative_shapes) {
    if (!can_check(shape)) continue;
    EXPECT_EQ(matrix_check(device, shaders, shape).wrong, 0U) << to_string(shape) << name_of(shape.extension);
  }
}

TEST_F(MatrixCheckTest, PlainCodePlacesElementsAsKernelsExpect) {
  for (const std::uint32_t columns : {8U, 16U}) {
    EXPECT_EQ(misplaced_elements(device, shaders, columns, MatrixForm::Plain), 0U) << columns;
  }
}

TEST_F(MatrixCheckTest, PlacesCanBeLookedForByKhrMatrices) {
  for (const int columns : {8, 16}) {
    std::vector<Define> defines{{"MATRICES", "1"},
                                {"FRAGMENT_N", std::to_string(columns)},
                                {"ELEMENTS", std::to_string(columns / 2)},
                                {"COLUMN_WORDS", std::to_string(columns / 4)}};
    add_khr_matrices(defines);
    EXPECT_NO_THROW(shaders.compile("matrix_places.comp", defines)) << columns;
  }
}

TEST_F(MatrixCheckTest, ElementsCanBeLookedAtInTheMatricesOfBothExtensions) {
  for (const bool is_real : {false, true}) {
    std::vector<Define> defines{
        {"MATRICES", "1"}, {"MATRICES_REAL", is_real ? "1" : "0"}, {"FRAGMENT_M", "16"}, {"FRAGMENT_N", "16"},
        {"ELEMENTS", "8"}, {"FRAGMENT_K", is_real ? "16" : "32"},  {"UNITS", "2"}};
    EXPECT_NO_THROW(shaders.compile("matrix_check.comp", defines)) << is_real;
    add_khr_matrices(defines);
    EXPECT_NO_THROW(shaders.compile("matrix_check.comp", defines)) << is_real;
  }
}

TEST_F(MatrixCheckTest, MisplacedElementsAreCounted) {
  EXPECT_GT(misplaced_with("row * 4u + holder, high_k + 2u * HIGH_ROW(e)", "row * 4u + holder, high_k"), 100U)
      << "of a";
  EXPECT_GT(misplaced_with("high_k + 2u * high_columns", "high_k"), 100U) << "of b";
}

TEST_F(MatrixCheckTest, AShapeWhoseElementsLieElsewhereIsNotUsed) {
  const MatrixCheckStore store(folder.path(), "a driver");
  int checked = 0;
  const CheckOfPlaces right = [&](std::uint32_t) {
    ++checked;
    return 0U;
  };
  check_matrix_places(device, MatrixCheckStore(folder.path(), "another driver"), right);
  EXPECT_EQ(checked, 2);
  EXPECT_THAT(device.info().wrong_matrices, IsEmpty());
  const char* wrong =
      "16x16x16 f16 to f32 by VK_KHR_cooperative_matrix: 1 of 512 elements do not lie where kernels expect "
      "them";
  check_matrix_places(device, store, [](std::uint32_t columns) { return columns == 16 ? 1U : 0U; });
  EXPECT_THAT(device.info().wrong_matrices, ElementsAre(wrong));
  check_matrix_places(device, store, right);
  EXPECT_EQ(checked, 2) << "the driver is known";
  EXPECT_THAT(device.info().wrong_matrices, ElementsAre(wrong));
}

TEST_F(MatrixCheckTest, AFailureToLookForPlacesIsNoReasonToExpectThem) {
  check_matrix_places(device, MatrixCheckStore(folder.path(), "a driver"),
                      [](std::uint32_t) -> std::uint32_t { throw Error("no pipeline"); });
  EXPECT_THAT(device.info().wrong_matrices,
              ElementsAre(::testing::HasSubstr("no pipeline"), ::testing::HasSubstr("no pipeline")));
}

TEST_F(MatrixCheckTest, WrongElementsAreCounted) {
  EXPECT_GT(wrong_with("LOAD_B(columns, a_units, UNITS);", "LOAD_B(columns, a_units + 1u, UNITS);"), 200U);
  EXPECT_GT(wrong_with("  MULTIPLY_ADD(rows, columns, sums);\n", ""), 200U) << "nearly no sum is 0";
  EXPECT_EQ(wrong_with("  STORE_SUMS(", "  if (lane == 0u) sums.values[37] += 1;\n  STORE_SUMS("), 1U);
  EXPECT_EQ(wrong_with("i < y_units;", "i < y_units - 1u;"), 4U) << "elements that were not written";
}

// As where a driver gives an invocation more elements than kernels repeat.
TEST_F(MatrixCheckTest, ElementsThatAreLeftOutAreWrong) {
  EXPECT_EQ(wrong_with("of_first(FRAGMENT_M* FRAGMENT_N)) WHAT", "of_first(FRAGMENT_M* FRAGMENT_N / 2)) WHAT",
                       "common/matrices.glslh"),
            128U);
}

// As where it ignores a stride of 0.
TEST_F(MatrixCheckTest, ElementsWithTheNumbersOfOthersAreWrong) {
  EXPECT_EQ(wrong_with("LOAD_PER_ROW(row_numbers,", "LOAD_PER_COLUMN(row_numbers,"), 240U)
      << "all but the diagonal";
  EXPECT_EQ(wrong_with("LOAD_PER_COLUMN(column_numbers, column_numbers_at)",
                       "LOAD_PER_COLUMN(column_numbers, row_numbers_at)"),
            240U)
      << "all but the first column";
}

TEST_F(MatrixCheckTest, ShapesWhoseExactSumsAreUnknownAreLeftOut) {
  EXPECT_TRUE(can_check(integers(16, 16, 32)));
  EXPECT_TRUE(can_check(halves(8, 8, 8)));
  EXPECT_FALSE(can_check(integers(8, 8, 8))) << "a row is half a unit of 16 bytes";
  EXPECT_FALSE(can_check({16, 16, 16, DType::F16, DType::F16, MatrixExtension::Khr}));
  EXPECT_FALSE(can_check({16, 16, 32, DType::I8, DType::I32, MatrixExtension::Khr, /*saturates=*/true}));
}

TEST_F(MatrixCheckTest, AWrongShapeIsNotUsedAndIsNotCheckedAgain) {
  const MatrixCheckStore store(folder.path(), "a driver");
  const std::vector<CooperativeShape> shapes{integers(16, 16, 32), integers(16, 8, 32)};
  int checked = 0;
  const CheckOfShape check = [&](const CooperativeShape& shape) {
    ++checked;
    return MatrixCheck{shape, shape.columns == 16 ? 12U : 0U, ""};
  };
  check_matrices(device, store, shapes, check);
  EXPECT_EQ(checked, 2);
  const char* wrong = "16x16x32 i8 to i32 by VK_KHR_cooperative_matrix: 12 of 256 wrong";
  EXPECT_THAT(device.info().wrong_matrices, ElementsAre(wrong));
  check_matrices(device, store, shapes, check);
  EXPECT_EQ(checked, 2) << "the driver is known";
  EXPECT_THAT(device.info().wrong_matrices, ElementsAre(wrong)) << "the stored result says the same, once";
  check_matrices(device, MatrixCheckStore(folder.path(), "another driver"), shapes, check);
  EXPECT_EQ(checked, 4);
}

TEST_F(MatrixCheckTest, AShapeThatCannotBeMultipliedIsNotUsedAndTheOthersAreChecked) {
  const MatrixCheckStore store(folder.path(), "a driver");
  const std::vector<CooperativeShape> shapes{integers(16, 16, 32), integers(16, 8, 32)};
  int checked = 0;
  const CheckOfShape check = [&](const CooperativeShape& shape) -> MatrixCheck {
    ++checked;
    if (shape.columns == 16) throw Error("the driver's compiler\ngave up");
    return {shape, 0, ""};
  };
  for (int run = 0; run < 2; ++run) {
    check_matrices(device, store, shapes, check);
    EXPECT_EQ(checked, 2);
    EXPECT_THAT(
        device.info().wrong_matrices,
        ElementsAre("16x16x32 i8 to i32 by VK_KHR_cooperative_matrix: the driver's compiler gave up"));
  }
}

TEST_F(MatrixCheckTest, AShapeWhoseCheckEndsTheProcessIsKnownToTheNextOne) {
  const MatrixCheckStore store(folder.path(), "a driver");
  const std::vector<CooperativeShape> shapes{integers(16, 16, 32), integers(16, 8, 32)};
  const CheckOfShape lost = [](const CooperativeShape&) -> MatrixCheck { throw gpu::DeviceLost("lost"); };
  EXPECT_THROW(check_matrices(device, store, shapes, lost), gpu::DeviceLost);
  int checked = 0;
  check_matrices(device, store, shapes, [&](const CooperativeShape& shape) {
    ++checked;
    return MatrixCheck{shape, 0, ""};
  });
  EXPECT_EQ(checked, 1) << "the other one";
  EXPECT_THAT(
      device.info().wrong_matrices,
      ElementsAre("16x16x32 i8 to i32 by VK_KHR_cooperative_matrix: its check ended an earlier process"));
}

TEST_F(MatrixCheckTest, WithoutMemoryNothingIsSaidOfAShape) {
  const MatrixCheckStore store(folder.path(), "a driver");
  const std::vector<CooperativeShape> shapes{integers(16, 16, 32)};
  check_matrices(device, store, shapes,
                 [](const CooperativeShape&) -> MatrixCheck { throw gpu::OutOfMemory("full"); });
  EXPECT_THAT(device.info().wrong_matrices, IsEmpty());
  EXPECT_THAT(store.load(), IsEmpty()) << "it is checked by the next process";
}

TEST_F(MatrixCheckTest, DamagedResultsAreNone) {
  const MatrixCheckStore store(folder.path(), "a driver");
  const MatrixCheckStore::Entries entries{{"a shape", {MatrixCheckStore::State::Ended, 3, ""}},
                                          {"another", {MatrixCheckStore::State::Ended, 0, "no pipeline"}},
                                          {"a third", {MatrixCheckStore::State::Began, 0, ""}}};
  EXPECT_THAT(store.load(), IsEmpty());
  store.store(entries);
  EXPECT_EQ(store.load(), entries);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    std::string text = test::read_file(entry.path());
    text[text.size() / 2] ^= 1;
    std::ofstream(entry.path(), std::ios::binary) << text;
  }
  EXPECT_THAT(store.load(), IsEmpty());
  const MatrixCheckStore none({}, "a driver");
  none.store(entries);
  EXPECT_THAT(none.load(), IsEmpty());
}

}  // namespace
}  // namespace assay
