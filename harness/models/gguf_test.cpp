#include "harness/models/gguf.h"

#include "harness/base/error.h"
#include "tests/support/error_text.h"
#include "tests/support/model_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <variant>

namespace assay::models {
namespace {

using test::GgufBytes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string error(const std::string& bytes) {
  return test::error_of([&] { parse_gguf(bytes, "m.gguf"); });
}

std::string error_of_decoder(const GgufBytes& file) {
  return test::error_of([&] { decoder_of(parse_gguf(file.bytes(), "m.gguf"), "m.gguf"); });
}

TEST(Gguf, ReadsValuesOfAllTypes) {
  GgufBytes file(2);
  file.raw("u8", 0, "\x07").raw("i8", 1, "\xff").raw("i16", 3, GgufBytes::number(65535, 2));
  file.raw("bool", 7, "\x01").raw("u64", 10, GgufBytes::number(~std::uint64_t{0}, 8));
  file.raw("i64", 11, GgufBytes::number(std::uint64_t{1} << 63, 8)).string("text", "abc");
  file.u32s("array", {3, 4}).strings("texts", {"a", "bc"}).f32("real", 0.5F);
  file.raw("arrays", 9,
           GgufBytes::number(9, 4) + GgufBytes::number(1, 8) + GgufBytes::number(0, 4) +
               GgufBytes::number(2, 8) + "ab");
  file.tensor("w", {3, 5});
  const GgufHeader header = parse_gguf(file.bytes(), "m.gguf");
  const auto integer = [&](const char* key) { return std::get<std::int64_t>(header.metadata.at(key)); };
  EXPECT_EQ(integer("u8"), 7);
  EXPECT_EQ(integer("i8"), -1);
  EXPECT_EQ(integer("i16"), -1);
  EXPECT_EQ(integer("u64"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(integer("i64"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(std::get<bool>(header.metadata.at("bool")), true);
  EXPECT_EQ(std::get<std::string>(header.metadata.at("text")), "abc");
  EXPECT_EQ(std::get<double>(header.metadata.at("real")), 0.5);
  EXPECT_THAT(std::get<GgufArray>(header.metadata.at("array")).integers, ElementsAre(3, 4));
  EXPECT_EQ(std::get<GgufArray>(header.metadata.at("texts")).size, 2U);
  EXPECT_EQ(std::get<GgufArray>(header.metadata.at("arrays")).size, 1U);
  EXPECT_THAT(header.tensors.at("w"), ElementsAre(5, 3)) << "the outermost dim first";
}

TEST(Gguf, EveryCutIsAnErrorAndNothingElse) {
  const std::string whole = test::llama_gguf(1).bytes();
  EXPECT_THAT(error(whole), IsEmpty());
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THAT(error(whole.substr(0, size)), HasSubstr("reading the model m.gguf: at byte ")) << size;
}

TEST(Gguf, CountsAreNotBelieved) {
  const GgufBytes file = test::llama_gguf();
  const std::uint64_t huge = std::uint64_t{1} << 63;
  EXPECT_THAT(
      error(file.bytes(huge, 0)),
      HasSubstr("it has 9223372036854775808 tensors and 0 entries of metadata; at most 100000 of each"));
  EXPECT_THAT(error(file.bytes(0, huge)), HasSubstr("it has 9223372036854775808 entries of metadata"));
  EXPECT_THAT(error(GgufBytes().raw("a", 9, GgufBytes::number(8, 4) + GgufBytes::number(huge, 8)).bytes()),
              HasSubstr("9223372036854775808 elements of an array"));
  EXPECT_THAT(error(GgufBytes().raw("a", 8, GgufBytes::number(~std::uint64_t{0}, 8)).bytes()),
              HasSubstr("a text needs 18446744073709551615 bytes, and 0 are left"));
  EXPECT_THAT(error(GgufBytes().tensor("w", {huge, 2}).bytes()), HasSubstr("a dim of 9223372036854775808"));
  EXPECT_THAT(error(GgufBytes().tensor("w", {1 << 25, 1 << 25}).bytes()),
              HasSubstr("more than 2^48 elements"));
  EXPECT_THAT(error(GgufBytes().tensor("w", {1, 1, 1, 1, 1}).bytes()), HasSubstr("has 5 dims; at most 4"));
}

TEST(Gguf, MoreTensorsThanFollowAreRefused) {
  EXPECT_THAT(error(GgufBytes().tensor("w", {1}).bytes(3, 0)),
              HasSubstr("it has 3 tensors, for which the 33 bytes"));
}

TEST(Gguf, TheRestOfALongArrayIsPassedOver) {
  GgufBytes file;
  file.u32s("long", std::vector<std::uint32_t>(30'000, 7)).u32("after", 5);
  const GgufHeader header = parse_gguf(file.bytes(), "m.gguf");
  const auto& array = std::get<GgufArray>(header.metadata.at("long"));
  EXPECT_EQ(array.size, 30'000U);
  EXPECT_EQ(array.integers.size(), 10'000U);
  EXPECT_EQ(std::get<std::int64_t>(header.metadata.at("after")), 5);
}

TEST(Gguf, DeepArraysAreRefused) {
  std::string array;
  for (int level = 0; level < 100'000; ++level) array += GgufBytes::number(9, 4) + GgufBytes::number(1, 8);
  EXPECT_THAT(error(GgufBytes().raw("a", 9, array).bytes()), HasSubstr("arrays are nested more than 8 deep"));
}

TEST(Gguf, WhatIsNoGgufFileOrIsWrittenTwiceIsRefused) {
  EXPECT_THAT(error("GGML"), HasSubstr("it is no GGUF file"));
  EXPECT_THAT(error(GgufBytes(1).bytes()), HasSubstr("the version is 1; 2 and 3 are read"));
  EXPECT_THAT(error(GgufBytes(0x03000000).bytes()), HasSubstr("little-endian")) << "a big-endian file";
  EXPECT_THAT(error(GgufBytes().u32("a", 1).u32("a", 1).bytes()), HasSubstr("the key 'a' comes again"));
  EXPECT_THAT(error(GgufBytes().tensor("w", {1}).tensor("w", {1}).bytes()),
              HasSubstr("the tensor 'w' comes again"));
  EXPECT_THAT(error(GgufBytes().raw("a", 13, "x").bytes()), HasSubstr("13 is no type of a value"));
  EXPECT_THAT(error(GgufBytes().raw("a", 7, "\x02").bytes()), HasSubstr("a boolean is 2"));
}

TEST(GgufDecoder, WhatNoOpHasIsNamed) {
  EXPECT_THAT(error_of_decoder(GgufBytes().string("general.architecture", "gemma2")),
              HasSubstr("a soft cap"));
  EXPECT_THAT(error_of_decoder(test::llama_gguf().u32("llama.expert_count", 8)),
              HasSubstr("a mixture of experts"));
  EXPECT_THAT(error_of_decoder(test::llama_gguf().u32("llama.attention.sliding_window", 4096)),
              HasSubstr("a sliding window of 4096 tokens"));
  EXPECT_THAT(error_of_decoder(test::llama_gguf().u32("llama.attention.sliding_window", 131072)), IsEmpty());
  EXPECT_THAT(error_of_decoder(test::llama_gguf().f32("llama.final_logit_softcapping", 30)),
              HasSubstr("a soft cap"));
}

TEST(GgufDecoder, TensorsMustFitTheMetadata) {
  std::string narrow = test::llama_gguf(1).bytes();
  const std::string entry = GgufBytes::text("blk.0.attn_k.weight") + GgufBytes::number(2, 4);
  narrow.replace(narrow.find(entry) + entry.size() + 8, 8, GgufBytes::number(1024, 8));
  EXPECT_THAT(
      test::error_of([&] { decoder_of(parse_gguf(narrow, "m.gguf"), "m.gguf"); }),
      HasSubstr("'blk.0.attn_k.weight' has the shape [1024, 2048], by the metadata it is [512, 2048]"));
  EXPECT_THAT(error_of_decoder(test::llama_gguf().tensor("blk.16.attn_norm.weight", {2048})),
              HasSubstr("is of a block that the metadata do not count: there are 16"));
  EXPECT_THAT(error_of_decoder(test::llama_gguf().u32("llama.attention.value_length", 32)),
              HasSubstr("64 values for keys and 32 for values"));
}

TEST(GgufDecoder, TensorsThatHaveNoPlaceAreNamed) {
  const char* const strange[] = {"blk.0.ffn_gate_inp.weight", "blk.0.ssm_a", "blk.0.attn_norm.bias",
                                 "blk.x.attn_k.weight", "output_norm.bias"};
  for (const char* name : strange) {
    EXPECT_THAT(error_of_decoder(test::llama_gguf(1).tensor(name, {2048})),
                HasSubstr("the tensor '" + std::string(name) + "' has no place in a decoder that is known"));
  }
  const char* const usual[] = {"rope_freqs.weight", "output.weight",        "rope_factors_long.weight",
                               "blk.0.attn_q.bias", "blk.0.ffn_down.scale", "blk.0.attn_rot_embd.weight"};
  for (const char* name : usual)
    EXPECT_THAT(error_of_decoder(test::llama_gguf(1).tensor(name, {2048, 128256})), IsEmpty()) << name;
}

TEST(GgufDecoder, AWeightThatIsMissingIsNamed) {
  EXPECT_THAT(error_of_decoder(test::llama_gguf(2)), IsEmpty());
  std::string fewer = test::llama_gguf(2).bytes();
  const std::string count = GgufBytes::text("llama.block_count") + GgufBytes::number(4, 4);
  fewer.replace(fewer.find(count) + count.size(), 4, GgufBytes::number(3, 4));
  EXPECT_THAT(
      test::error_of([&] { decoder_of(parse_gguf(fewer, "m.gguf"), "m.gguf"); }),
      HasSubstr("the tensor 'blk.2.attn_norm.weight' is missing, and by the metadata there are 3 blocks"));
  const auto renamed = [](const std::string& name, const std::string& other) {
    std::string bytes = test::llama_gguf(2).bytes();
    const std::string was = GgufBytes::text(name);
    return bytes.replace(bytes.find(was), was.size(), GgufBytes::text(other));
  };
  EXPECT_THAT(test::error_of([&] {
                decoder_of(parse_gguf(renamed("blk.1.ffn_down.weight", "blk.1.ffn_down.bias"), "m"), "m");
              }),
              HasSubstr("the tensor 'blk.1.ffn_down.weight' is missing"));
}

TEST(GgufDecoder, APartOfASplitModelMayLackWeights) {
  GgufBytes file;
  file.string("general.architecture", "llama").u32("llama.block_count", 2).u32("llama.embedding_length", 48);
  file.u32("llama.feed_forward_length", 96).u32("llama.attention.head_count", 4).u32("llama.vocab_size", 320);
  file.tensor("blk.0.attn_norm.weight", {48});
  EXPECT_THAT(error_of_decoder(file), HasSubstr("'token_embd.weight' is missing"));
  EXPECT_THAT(error_of_decoder(file.u32("split.count", 2)), IsEmpty());
}

TEST(Gguf, AFileMayEndWithItsHeaderButNotWithinItsWeights) {
  const std::string header = GgufBytes().tensor("small", {256}).tensor("large", {256, 4}).bytes();
  const std::size_t begin = (header.size() + 31) / 32 * 32;
  const auto padded = [&](std::size_t bytes) {
    return header + std::string(begin - header.size() + bytes, 'x');
  };
  EXPECT_THAT(error(header), IsEmpty());
  EXPECT_THAT(error(padded(0)), IsEmpty());
  EXPECT_THAT(error(padded(4 * 144)), IsEmpty());
  EXPECT_THAT(
      error(padded(4 * 144 - 1)),
      HasSubstr("the file within the tensor 'large': 575 bytes of weights follow, and the header lists "
                "576. Give the whole file, or its header alone"));
  EXPECT_THAT(error(GgufBytes().u32("general.alignment", 0).bytes()), HasSubstr("'general.alignment' is no"));
}

/// Metadata of a small model of the architecture, without tensors.
GgufBytes metadata_of(const std::string& architecture) {
  GgufBytes file;
  const auto key = [&](const char* name) { return architecture + "." + name; };
  file.string("general.architecture", architecture)
      .u32(key("block_count"), 2)
      .u32(key("embedding_length"), 48);
  file.u32(key("attention.head_count"), 4).u32(key("attention.key_length"), 16);
  file.strings("tokenizer.ggml.tokens", {"a", "b", "c"});
  return file;
}

TEST(GgufDecoder, MetadataAloneAreEnough) {
  const GgufBytes file = metadata_of("qwen3").u32("qwen3.feed_forward_length", 96);
  const Decoder decoder = decoder_of(parse_gguf(file.bytes(), "m.gguf"), "m.gguf");
  EXPECT_EQ(decoder.vocab, 3);
  EXPECT_EQ(decoder.kv_heads, 4) << "as many as of queries";
  EXPECT_EQ(decoder.rotary_dim, 16);
  EXPECT_TRUE(decoder.qk_norm);
  EXPECT_FALSE(decoder.interleaved);
}

TEST(GgufDecoder, ValuesOfEachBlockMustBeEqual) {
  EXPECT_THAT(error_of_decoder(metadata_of("llama").u32s("llama.feed_forward_length", {96, 96})), IsEmpty());
  EXPECT_THAT(error_of_decoder(metadata_of("llama").u32s("llama.feed_forward_length", {96, 64})),
              HasSubstr("'llama.feed_forward_length' differs between blocks: 96 and 64"));
  EXPECT_THAT(error_of_decoder(metadata_of("llama").strings("llama.feed_forward_length", {"96"})),
              HasSubstr("'llama.feed_forward_length' is no integer"));
  EXPECT_THAT(error_of_decoder(metadata_of("llama")), HasSubstr("'llama.feed_forward_length' is missing"));
  EXPECT_THAT(error_of_decoder(GgufBytes().u32("a", 1)), HasSubstr("do not name an architecture"));
}

TEST(GgufDecoder, ABiasAndFusedLayersAreSeenInTensors) {
  GgufBytes file = metadata_of("phi3").u32("phi3.feed_forward_length", 96);
  file.tensor("token_embd.weight", {48, 3}).tensor("output_norm.weight", {48});
  for (const std::string block : {"blk.0.", "blk.1."}) {
    file.tensor(block + "attn_output.weight", {64, 48}).tensor(block + "attn_qkv.weight", {48, 192});
    file.tensor(block + "attn_qkv.bias", {192}).tensor(block + "ffn_up.weight", {48, 192});
    file.tensor(block + "attn_norm.weight", {48}).tensor(block + "ffn_norm.weight", {48});
    file.tensor(block + "ffn_down.weight", {96, 48});
  }
  const Decoder decoder = decoder_of(parse_gguf(file.bytes(), "m.gguf"), "m.gguf");
  EXPECT_TRUE(decoder.fused_qkv && decoder.fused_gate_up && decoder.qkv_bias && !decoder.o_bias);
}

}  // namespace
}  // namespace assay::models
