#include "harness/base/byte_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay {
namespace {

ByteBuffer counting(std::size_t size) {
  ByteBuffer bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes.data()[i] = static_cast<std::byte>(i % 251);
  return bytes;
}

TEST(ByteBufferTest, CopiesAreOfTheirOwn) {
  ByteBuffer bytes = counting(1000);
  ByteBuffer copy = bytes;
  ByteBuffer assigned(3);
  assigned = bytes;
  bytes.data()[7] = std::byte{99};
  EXPECT_TRUE(std::ranges::equal(copy, counting(1000)));
  EXPECT_TRUE(std::ranges::equal(assigned, counting(1000)));
  assigned = *&assigned;
  EXPECT_TRUE(std::ranges::equal(assigned, counting(1000)));
}

TEST(ByteBufferTest, WhatWasMovedFromIsEmpty) {
  ByteBuffer bytes = counting(10);
  ByteBuffer moved = std::move(bytes);
  EXPECT_EQ(bytes.size(), 0U);
  EXPECT_EQ(bytes.begin(), bytes.end());
  EXPECT_TRUE(std::ranges::equal(moved, counting(10)));
  bytes = std::move(moved);
  EXPECT_EQ(bytes.size(), 10U);
  EXPECT_EQ(moved.size(), 0U);
}

}  // namespace
}  // namespace assay
