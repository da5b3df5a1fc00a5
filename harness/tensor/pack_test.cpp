#include "harness/tensor/pack.h"

#include "harness/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace assay {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Returns a tensor whose element i holds the bytes of a number that differs between neighbours.
HostTensor counting(DType dtype, const Shape& shape) {
  HostTensor tensor(dtype, shape);
  const std::size_t size = size_of(dtype);
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.numel()); ++i) {
    const auto value = static_cast<std::uint32_t>(i * 2654435761U + 12345U);
    std::memcpy(tensor.bytes().data() + i * size, &value, size);
  }
  return tensor;
}

std::vector<Physical> all_forms(DType dtype, const Shape& shape) {
  std::vector<Physical> forms;
  for (const Storage storage : {Storage::Buffer, Storage::Texture3D}) {
    for (const Layout layout : {Layout::WP, Layout::HP, Layout::CP}) {
      forms.emplace_back(Form{storage, layout}, dtype, shape);
    }
  }
  if (size_of(dtype) != 1) return forms;
  for (const Layout layout : {Layout::P4W, Layout::P4C, Layout::P4C1W, Layout::P4W4C, Layout::P4H4W}) {
    forms.emplace_back(Form{Storage::Buffer, layout}, dtype, shape);
  }
  return forms;
}

std::vector<std::byte> poison(std::size_t count, Poison kind, std::uint64_t first = 0) {
  std::vector<std::byte> bytes(count);
  fill_poison(bytes, kind, first);
  return bytes;
}

/// Returns the expected result of pack: each element at its offset, poison everywhere else.
std::vector<std::byte> plainly_packed(const HostTensor& tensor, const Physical& physical, Poison kind,
                                      std::uint64_t first) {
  std::vector<std::byte> data(static_cast<std::size_t>(physical.bytes()));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = poison_byte(kind, first + i);
  const Dims& d = physical.dims();
  const std::size_t size = size_of(tensor.dtype());
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const std::int64_t w = i % d.w, h = i / d.w % d.h, c = i / d.w / d.h % d.c, n = i / d.w / d.h / d.c;
    const auto offset = static_cast<std::size_t>(physical.offset(n, c, h, w));
    std::memcpy(data.data() + offset * size, tensor.bytes().data() + static_cast<std::size_t>(i) * size,
                size);
  }
  return data;
}

const std::vector<Shape> tails{{1},          {7},           {3, 5},       {2, 3, 5},
                               {2, 5, 3, 6}, {1, 4, 4, 8},  {2, 1, 9, 1}, {1, 13, 1, 1},
                               {3, 8, 2, 4}, {2, 17, 3, 5}, {1, 1, 8, 4}};

class PackTest : public testing::TestWithParam<DType> {};

TEST_P(PackTest, EveryElementLiesAtItsOffsetAndTheRestIsPoison) {
  for (const Shape& shape : tails) {
    const HostTensor tensor = counting(GetParam(), shape);
    for (const Physical& physical : all_forms(GetParam(), shape)) {
      for (const Poison kind : {Poison::A, Poison::B}) {
        ASSERT_EQ(pack(tensor, physical, kind, 1027), plainly_packed(tensor, physical, kind, 1027))
            << to_string(physical.form()) << " " << to_string(shape);
      }
    }
  }
}

TEST_P(PackTest, UnpackingGivesTheTensorBack) {
  for (const Shape& shape : tails) {
    const HostTensor tensor = counting(GetParam(), shape);
    for (const Physical& physical : all_forms(GetParam(), shape)) {
      const HostTensor back = unpack(pack(tensor, physical, Poison::A), physical);
      ASSERT_EQ(back.dtype(), tensor.dtype());
      ASSERT_EQ(back.shape(), tensor.shape());
      ASSERT_TRUE(std::ranges::equal(back.bytes(), tensor.bytes())) << to_string(physical.form());
    }
  }
}

TEST_P(PackTest, TensorsLargeEnoughForThreadsArePackedTheSame) {
  const Shape shape{3, 33, 61, 130};  // tails in every dim
  const HostTensor tensor = counting(GetParam(), shape);
  for (const Physical& physical : all_forms(GetParam(), shape)) {
    const std::vector<std::byte> data = pack(tensor, physical, Poison::B, 5);
    ASSERT_TRUE(data == plainly_packed(tensor, physical, Poison::B, 5)) << to_string(physical.form());
    ASSERT_TRUE(std::ranges::equal(unpack(data, physical).bytes(), tensor.bytes()));
  }
}

INSTANTIATE_TEST_SUITE_P(EveryDeviceDType, PackTest,
                         testing::Values(DType::F32, DType::F16, DType::I32, DType::I16, DType::I8,
                                         DType::U8),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST(PackErrorTest, ATensorOfAnotherShapeOrDTypeIsRefused) {
  const HostTensor tensor(DType::I8, {4});
  const Form form{Storage::Buffer, Layout::WP};
  EXPECT_THAT(
      [&] {
        pack(tensor, Physical(form, DType::I8, {2, 2}), Poison::A);
      },
      ThrowsMessage<Error>(HasSubstr("packing a tensor i8 4 as buffer/WP: the form was made for i8 2x2")));
  EXPECT_THROW(pack(tensor, Physical(form, DType::U8, {4}), Poison::A), Error);
}

TEST(PackErrorTest, ADataRegionOfAnotherSizeIsRefused) {
  const Physical physical({Storage::Buffer, Layout::WP}, DType::I8, {4});
  const std::vector<std::byte> bytes(8);
  EXPECT_NO_THROW(unpack(std::span(bytes).first(4), physical));
  EXPECT_THAT([&] { unpack(bytes, physical); },
              ThrowsMessage<Error>(HasSubstr("4 bytes are needed, but 8 were given")));
  EXPECT_THROW(unpack(std::span(bytes).first(3), physical), Error);
}

TEST(PoisonTest, EveryByteOfBIsTheComplementOfA) {
  const auto a = poison(4099, Poison::A), b = poison(4099, Poison::B);
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i], ~b[i]);
}

TEST(PoisonTest, NoByteOfOneNumberIsThatOfAnotherAtItsPlace) {
  for (std::uint32_t a = 0; a < 20; ++a) {
    for (std::uint32_t b = a + 1; b < 150; b += 7) {
      for (std::uint64_t offset = 0; offset < 32; ++offset) {
        ASSERT_NE(poison_byte(Poison::A.of(a), offset), poison_byte(Poison::A.of(b), offset))
            << a << " " << b;
      }
    }
  }
  const auto a = poison(99, Poison::A.of(5)), b = poison(99, Poison::B.of(5));
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(b[i], ~a[i]) << i;
}

TEST(PoisonTest, AByteDependsOnItsOffsetOnly) {
  for (const std::uint64_t first : {0U, 1U, 7U, 8U, 9U, 1024U, 12345U}) {
    for (const std::size_t count : {0U, 1U, 3U, 7U, 8U, 9U, 15U, 16U, 100U}) {
      const auto bytes = poison(count, Poison::A, first);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(bytes[i], poison_byte(Poison::A, first + i)) << first << " " << count << " " << i;
      }
    }
  }
}

TEST(PoisonTest, RegionsLargeEnoughForThreadsAreFilledTheSame) {
  const auto bytes = poison((5U << 20) + 3, Poison::B, 3);
  for (std::size_t i = 0; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], poison_byte(Poison::B, 3 + i)) << i;
}

TEST(PoisonTest, BytesLookRandom) {
  const auto bytes = poison(1 << 16, Poison::A);
  std::array<int, 256> histogram{};
  for (const std::byte byte : bytes) ++histogram[static_cast<std::size_t>(byte)];
  EXPECT_GT(*std::ranges::min_element(histogram), 256 - 96);  // six standard deviations
  EXPECT_LT(*std::ranges::max_element(histogram), 256 + 96);
  int equal_neighbours = 0;
  for (std::size_t i = 1; i < bytes.size(); ++i) equal_neighbours += bytes[i] == bytes[i - 1] ? 1 : 0;
  EXPECT_LT(equal_neighbours, 256 + 96);
}

TEST(PackInto, FillsMemoryThatIsThere) {
  const HostTensor tensor = counting(DType::I8, {1, 5, 2, 3});
  for (const Physical& physical : all_forms(DType::I8, tensor.shape())) {
    std::vector<std::byte> data(static_cast<std::size_t>(physical.bytes()), std::byte{77});
    pack_into(data, tensor, physical, Poison::B, 16);
    EXPECT_EQ(data, pack(tensor, physical, Poison::B, 16)) << to_string(physical.form());
    data.push_back({});
    EXPECT_THROW(pack_into(data, tensor, physical, Poison::B), Error);
  }
}

TEST(HasPadding, TellsBytesThatNoElementOwns) {
  const auto padded = [](Layout layout, const Shape& shape) {
    return has_padding({{Storage::Buffer, layout}, DType::I8, shape});
  };
  EXPECT_FALSE(padded(Layout::WP, {8}));
  EXPECT_TRUE(padded(Layout::WP, {5})) << "to whole words";
  EXPECT_FALSE(padded(Layout::P4C, {1, 8, 3, 3}));
  EXPECT_TRUE(padded(Layout::P4C, {1, 7, 3, 3}));
  EXPECT_FALSE(has_padding({{Storage::Buffer, Layout::WP}, DType::F32, {5}}));
}

}  // namespace
}  // namespace assay
