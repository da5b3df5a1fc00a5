#include "harness/engine/accuracy/experiment_memory.h"

#include "harness/base/error.h"
#include "tests/support/small_op.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace assay {
namespace {

using test::tensor;

/// The findings in guards of 16 bytes around 8 bytes of data, of which `write` changes some bytes.
template <class Write>
std::vector<Finding> findings(Poison poison, Write write) {
  constexpr std::size_t guard = 16, end = 24;
  std::vector<std::byte> bytes(end + guard);
  fill_poison(bytes, poison);
  write(bytes);
  const std::span<const std::byte> all(bytes);
  std::vector<Finding> found;
  check_guards("y", {all.first(guard), all.last(guard), end}, poison, found);
  return found;
}

TEST(Guards, WritesAreCountedOnEachSide) {
  EXPECT_TRUE(findings(Poison::A, [](auto&) {}).empty());
  const std::vector<Finding> found = findings(Poison::A, [](std::vector<std::byte>& bytes) {
    for (const std::size_t i : {12U, 13U, 25U}) bytes[i] = ~bytes[i];
  });
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].metric, "write_out_of_bounds");
  EXPECT_EQ(found[0].reason, "'y' was written before its start: 2 bytes, the nearest at start-3");
  EXPECT_EQ(found[1].metric, "write_out_of_bounds");
  EXPECT_EQ(found[1].reason, "'y' was written past its end: 1 bytes, the nearest at end+1");
}

TEST(Guards, OneWriteSeenByBothRunsIsOneFindingWithTheLargerCount) {
  // Both runs store the same two bytes before the data; one byte equals the first run's poison.
  const std::byte chance = poison_byte(Poison::A, 13);
  const auto store = [&](std::vector<std::byte>& bytes) {
    bytes[12] = ~poison_byte(Poison::A, 12) ^ std::byte{1};
    bytes[13] = chance;
  };
  const std::vector<Finding> a = findings(Poison::A, store);
  const std::vector<Finding> b = findings(Poison::B, store);
  for (const auto& runs : {std::pair{a, b}, std::pair{b, a}}) {
    std::vector<Finding> found;
    add_findings(found, runs.first);
    add_findings(found, runs.second);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].reason, "'y' was written before its start: 2 bytes, the nearest at start-3");
  }
}

TEST(Guards, OtherMemoryAndOtherReasonsStayFindingsOfTheirOwn) {
  const Finding input{"input_modified", "input 'x' was overwritten, first at byte 3 of its data"};
  const Finding other{"input_modified", "input 'w' was overwritten, first at byte 3 of its data"};
  const Finding before{"write_out_of_bounds", "before", "y before its start", 4};
  const Finding after{"write_out_of_bounds", "after", "y past its end", 4};
  std::vector<Finding> found;
  add_findings(found, {input, before});
  add_findings(found, {input, other, before, after});
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[2].reason, other.reason);
  EXPECT_EQ(found[3].reason, after.reason);
}

/// A program of one dispatch that binds two tensors, a scratch and a texture so.
Program program_of(Binding::Range first, Binding::Range second) {
  Program program;
  const Resource scratch = add_scratch(program, {.name = "t", .shape = {4}});
  program.dispatches.emplace_back();
  for (const Resource one : {Resource::tensor(0), Resource::tensor(1), scratch, Resource::tensor(2)})
    program.dispatches.back().bindings.emplace_back(one);
  program.dispatches.back().bindings[0].range = first;
  program.dispatches.back().bindings[1].range = second;
  return program;
}

TEST(Guards, WhatOfThemAKernelReachesIsToldByTensor) {
  using enum Binding::Range;
  const std::vector<TensorSpec> tensors{{.name = "x"}, {.name = "y"}, {.name = "texture"}};
  const std::vector<Form> forms{Form{}, Form{}, Form{Storage::Texture2D}};
  EXPECT_EQ(guards_seen(program_of(All, All), tensors, forms), "both");
  EXPECT_EQ(guards_seen(program_of(DataAndAfter, Data), tensors, forms), "t=both x=after y=none");
  Program twice = program_of(DataAndAfter, DataAndAfter);
  twice.dispatches.push_back(twice.dispatches[0]);
  twice.dispatches[1].bindings[0].range = Data;
  EXPECT_EQ(guards_seen(twice, tensors, forms), "t=both x=none y=after") << "the least of all dispatches";
  EXPECT_EQ(guards_seen({}, tensors, forms), "");
}

constexpr Form plain{Storage::Buffer, Layout::WP};
constexpr Form quads{Storage::Buffer, Layout::P4W};

std::vector<HostTensor> two_inputs() {
  std::vector<HostTensor> inputs;
  inputs.push_back(tensor<std::int8_t>({1, 5}, {1, 2, 3, 4, 5}));
  inputs.push_back(tensor<std::int8_t>({1, 5}, {6, 7, 8, 9, 10}));
  return inputs;
}

TEST(PackedInputs, ArePoisonedWhereNoElementIs) {
  const std::vector<HostTensor> inputs = two_inputs();
  PackedInputs packed(inputs);
  const PackedInput input = packed.get(1, {quads, DType::I8, {1, 5}}, Poison::B);
  ASSERT_EQ(input.bytes.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(input.bytes[i], i < 5 ? static_cast<std::byte>(i + 6) : poison_byte(Poison::B, i)) << i;
  }
}

TEST(PackedInputs, ArePackedOnceForAllWhoHoldThem) {
  const std::vector<HostTensor> inputs = two_inputs();
  PackedInputs packed(inputs);
  const Physical physical(plain, DType::I8, {1, 5});
  const PackedInput first = packed.get(0, physical, Poison::A);
  const auto again = [&](std::size_t index, Form form, Poison poison) {
    return packed.get(index, {form, DType::I8, {1, 5}}, poison).owner == first.owner;
  };
  EXPECT_TRUE(again(0, plain, Poison::A));
  EXPECT_FALSE(again(1, plain, Poison::A));
  EXPECT_FALSE(again(0, quads, Poison::A));
  EXPECT_FALSE(again(0, plain, Poison::B));
}

TEST(PackedInputs, WithoutPaddingHaveNoPoison) {
  std::vector<HostTensor> inputs;
  inputs.push_back(tensor<std::int8_t>({1, 4, 1, 4}, std::vector<std::int8_t>(16, 7)));
  PackedInputs packed(inputs);
  const Physical by_channel({Storage::Buffer, Layout::P4C}, DType::I8, {1, 4, 1, 4});
  const PackedInput first = packed.get(0, by_channel, Poison::A);
  EXPECT_NE(first.owner, nullptr);
  EXPECT_EQ(packed.get(0, by_channel, Poison::B).owner, first.owner);
}

TEST(PackedInputs, ThatLieAsTheyAreAreTheTensorsOwnBytes) {
  std::vector<HostTensor> inputs;
  inputs.push_back(tensor<float>({3}, {1, 2, 3}));
  PackedInputs packed(inputs);
  EXPECT_EQ(packed.get(0, {plain, DType::F32, {3}}, Poison::A).bytes.data(), inputs[0].bytes().data());
  EXPECT_THROW(packed.get(0, {plain, DType::F32, {4}}, Poison::A), Error);
  EXPECT_THROW(packed.get(0, {plain, DType::I32, {3}}, Poison::A), Error);
}

TEST(PackedInputs, AreForgottenWithTheLastHolder) {
  const std::vector<HostTensor> inputs = two_inputs();
  PackedInputs packed(inputs);
  const Physical physical(plain, DType::I8, {1, 5});
  std::weak_ptr<const ByteBuffer> watched;
  {
    const PackedInput held = packed.get(0, physical, Poison::A);
    watched = held.owner;
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(packed.get(0, physical, Poison::A).bytes.size(), 8u);
}

}  // namespace

}  // namespace assay
