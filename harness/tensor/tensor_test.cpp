#include "harness/tensor/tensor.h"

#include "harness/base/error.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace assay {
namespace {

template <class T>
double round_trip(T value) {
  HostTensor tensor(DTypeOf<T>::value, {3});
  tensor.as<T>()[1] = value;
  EXPECT_EQ(tensor.at(0), 0);
  EXPECT_EQ(tensor.at(2), 0);
  return tensor.at(1);
}

TEST(HostTensorTest, ElementsAreWidenedFromEveryDType) {
  EXPECT_EQ(round_trip<float>(-1.5F), -1.5);
  EXPECT_EQ(round_trip<Half>(to_half(0.25F)), 0.25);
  EXPECT_EQ(round_trip<std::int32_t>(-2147483647), -2147483647.0);
  EXPECT_EQ(round_trip<std::int16_t>(-32768), -32768.0);
  EXPECT_EQ(round_trip<std::int8_t>(-128), -128.0);
  EXPECT_EQ(round_trip<std::uint8_t>(255), 255.0);
  EXPECT_EQ(round_trip<double>(1e300), 1e300);
  EXPECT_EQ(round_trip<std::int64_t>(1LL << 40), 0x1p40);
}

TEST(HostTensorTest, ANewTensorHasTheBytesOfItsElements) {
  const HostTensor tensor(DType::F16, {2, 3});
  EXPECT_EQ(tensor.numel(), 6);
  EXPECT_EQ(tensor.bytes().size(), 12U);
  EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
}

TEST(HostTensorTest, AnUninitializedTensorHasThemToo) {
  HostTensor tensor = HostTensor::uninitialized(DType::I16, {2, 3});
  EXPECT_EQ(tensor.dtype(), DType::I16);
  EXPECT_EQ(tensor.bytes().size(), 12U);
  for (std::int16_t& value : tensor.as<std::int16_t>()) value = 3;
  const HostTensor copy = tensor;
  EXPECT_EQ(copy.at(5), 3);
  EXPECT_THROW(HostTensor::uninitialized(DType::F32, {-1}), Error);
}

TEST(HostTensorTest, ADefaultTensorIsEmpty) {
  const HostTensor tensor;
  EXPECT_EQ(tensor.numel(), 0);
  EXPECT_TRUE(tensor.bytes().empty());
  EXPECT_TRUE(tensor.as<float>().empty());
}

TEST(HostTensorTest, ReadingAsAnotherTypeIsAMistake) {
  HostTensor tensor(DType::I8, {4});
  EXPECT_NO_THROW(tensor.as<std::int8_t>());
  EXPECT_THROW(tensor.as<std::uint8_t>(), std::logic_error);
  EXPECT_THROW(std::as_const(tensor).as<float>(), std::logic_error);
}

TEST(HostTensorTest, AnElementPastTheEndIsAMistake) {
  const HostTensor tensor(DType::I8, {4});
  EXPECT_THROW(tensor.at(4), std::logic_error);
  EXPECT_THROW(tensor.at(-1), std::logic_error);
}

TEST(HostTensorTest, AnImpossibleShapeIsRefused) {
  EXPECT_THROW(HostTensor(DType::I8, {4, 0}), Error);
  EXPECT_THROW(HostTensor(DType::I8, {1LL << 41}), Error);
}

TEST(SameBytes, ComparesDtypesShapesAndEveryByte) {
  std::vector<HostTensor> a;
  a.emplace_back(DType::I16, Shape{2, 3});
  a.emplace_back(DType::F32, Shape{1});
  std::vector<HostTensor> b = a;
  EXPECT_TRUE(same_bytes(a, b));
  b[1].as<float>()[0] = -0.0F;
  EXPECT_FALSE(same_bytes(a, b));
  b[1] = HostTensor(DType::I32, {1});
  EXPECT_FALSE(same_bytes(a, b));
  b[1] = a[1];
  b[0] = HostTensor(DType::I16, {3, 2});
  EXPECT_FALSE(same_bytes(a, b));
  b.pop_back();
  EXPECT_FALSE(same_bytes(a, b));
}

TEST(SameBytes, OfARangeLooksAtNothingElse) {
  HostTensor a(DType::I16, {5});
  HostTensor b = a;
  b.as<std::int16_t>()[1] = 256;
  b.as<std::int16_t>()[4] = 1;
  EXPECT_TRUE(same_bytes(a, b, 2, 4));
  EXPECT_TRUE(same_bytes(a, b, 0, 1));
  EXPECT_FALSE(same_bytes(a, b, 1, 2));
  EXPECT_FALSE(same_bytes(a, b, 3, 5));
}

}  // namespace
}  // namespace assay
