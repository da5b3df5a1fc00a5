#include "harness/models/model_file.h"

#include "harness/base/error.h"
#include "tests/support/error_text.h"
#include "tests/support/model_files.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <tuple>

namespace assay::models {
namespace {

using test::GgufBytes;
using ::testing::AllOf;
using ::testing::HasSubstr;

class ModelFiles : public ::testing::Test {
 protected:
  Decoder read(const std::string& bytes) const { return read_model(folder.write("model", bytes)); }
  /// The message of the error; empty if there is none.
  std::string error(const std::string& bytes) const {
    const std::filesystem::path file = folder.write("model", bytes);
    return test::error_of([&] { read_model(file); });
  }
  /// Llama's config.json with a part replaced.
  static std::string config(const std::string& was, const std::string& is) {
    std::string text = test::llama_config;
    return text.replace(text.find(was), was.size(), is);
  }
  std::string error_of_config(const std::string& was, const std::string& is) const {
    return error(config(was, is));
  }

  test::TemporaryFolder folder;
};

auto shape_of(const Decoder& d) {
  return std::tuple(d.hidden, d.intermediate, d.blocks, d.heads, d.kv_heads, d.head_dim, d.rotary_dim,
                    d.vocab);
}
constexpr auto llama_shape = std::tuple(2048, 8192, 16, 32, 8, 64, 64, 128256);

TEST_F(ModelFiles, AConfigSaysTheShape) {
  const Decoder decoder = read(test::llama_config);
  EXPECT_EQ(shape_of(decoder), llama_shape);
  EXPECT_EQ(decoder.eps, 1e-5);
  EXPECT_FALSE(decoder.interleaved);
  EXPECT_FALSE(decoder.qkv_bias || decoder.qk_norm || decoder.fused_qkv || decoder.fused_gate_up);
}

TEST_F(ModelFiles, AGgufFileOfTheSameModelSaysTheSame) {
  const Decoder decoder = read(test::llama_gguf().bytes());
  EXPECT_EQ(shape_of(decoder), llama_shape);
  EXPECT_TRUE(decoder.interleaved) << "its weights are permuted";
  EXPECT_FALSE(decoder.qkv_bias);
}

TEST_F(ModelFiles, WeightsAfterTheHeaderDoNotMatterButMustBeWhole) {
  const std::filesystem::path file = folder.write("model", test::llama_gguf().bytes());
  std::filesystem::resize_file(file, 200'000'000);  // a hole, for the 148 MB of the embedding
  EXPECT_EQ(shape_of(read_model(file)), llama_shape);
  std::filesystem::resize_file(file, 140'000'000);  // more than is read
  EXPECT_THAT(test::error_of([&] { read_model(file); }),
              HasSubstr("the file within the tensor 'token_embd.weight': 139"));
}

TEST_F(ModelFiles, WeightsOfSafetensorsMustBeWholeOrMissing) {
  const std::string header = test::safetensors_of(test::small_qwen3_json());
  EXPECT_EQ(error(header), "");
  EXPECT_EQ(error(header + std::string(30720, 'x')), "");
  EXPECT_THAT(
      error(header + std::string(30719, 'x')),
      HasSubstr("the file ends within the tensor 'model.embed_tokens.weight' or before it: 30719 bytes "
                "of weights follow the header, and the tensor's end with byte 30720"));
}

TEST_F(ModelFiles, AMistralMustSayThatItHasNoWindow) {
  EXPECT_THAT(error_of_config(R"("llama")", R"("mistral")"),
              HasSubstr("'sliding_window' is missing, for which mistral has a window of 4096 tokens; write "
                        "\"sliding_window\": null if its attention has none"));
  std::string brief = config(R"("llama")", R"("mistral")");
  brief.replace(brief.find("131072"), 6, "4096");
  EXPECT_EQ(shape_of(read(brief)), llama_shape) << "the window hides nothing";
}

TEST_F(ModelFiles, WithoutAHeadSizeHeadsShareAToken) {
  EXPECT_EQ(read(config(R"("head_dim": 64,)", "")).head_dim, 64);
  std::string odd = config(R"("head_dim": 64,)", "");
  odd.replace(odd.find("32,"), 3, "30,");
  EXPECT_THAT(error(odd), HasSubstr("30 heads cannot share 2048 values equally"));
}

TEST_F(ModelFiles, ArchitecturesDifferInBiasNormsAndFusion) {
  const Decoder qwen2 = read(config(R"("llama")", R"("qwen2")"));
  EXPECT_TRUE(qwen2.qkv_bias && !qwen2.o_bias && !qwen2.qk_norm);
  const Decoder qwen3 = read(config(R"("llama")", R"("qwen3")"));
  EXPECT_TRUE(qwen3.qk_norm && !qwen3.qkv_bias);
  const Decoder phi = read(config(R"("llama")", R"("phi3", "partial_rotary_factor": 0.75)"));
  EXPECT_TRUE(phi.fused_qkv && phi.fused_gate_up);
  EXPECT_EQ(phi.rotary_dim, 48);
  const Decoder mistral = read(config(R"("llama")", R"("mistral", "sliding_window": null)"));
  EXPECT_EQ(shape_of(mistral), llama_shape);
  const Decoder newer =
      read(config(R"("rope_theta": 500000.0)", R"("rope_parameters": {"partial_rotary_factor": 0.5})"));
  EXPECT_EQ(newer.rotary_dim, 32);
}

TEST_F(ModelFiles, WhatNoOpHasIsNamed) {
  EXPECT_THAT(
      error_of_config(R"("silu")", R"("gelu_pytorch_tanh")"),
      HasSubstr("its architecture, llama, needs the activation 'gelu_pytorch_tanh', which no op has"));
  EXPECT_THAT(error_of_config(R"("llama")", R"("mistral", "sliding_window": 4096)"),
              HasSubstr("mistral, needs attention in a sliding window of 4096 tokens"));
  EXPECT_THAT(error_of_config(R"("llama")", R"("gemma2")"),
              HasSubstr("needs the activation 'gelu', a soft cap and"));
  EXPECT_THAT(error_of_config(R"("llama")", R"("llama", "attn_logit_softcapping": 50.0)"),
              HasSubstr("a soft cap ('attn_logit_softcapping')"));
  EXPECT_THAT(
      error_of_config(R"("llama")", R"("qwen3", "layer_types": ["full_attention", "sliding_attention"])"),
      HasSubstr("qwen3, needs blocks with 'sliding_attention', which no op has"));
  EXPECT_THAT(error_of_config(R"("llama")", R"("mixtral")"), HasSubstr("a mixture of experts"));
  EXPECT_THAT(error_of_config(R"("llama")", R"("llama", "num_local_experts": 8)"),
              HasSubstr("a mixture of experts"));
  EXPECT_THAT(error_of_config(R"("llama")", R"("never_seen")"),
              HasSubstr("'never_seen' is unknown; known are llama, mistral, qwen2, qwen3, phi3"));
}

TEST_F(ModelFiles, AWindowThatHidesNothingIsNone) {
  EXPECT_EQ(shape_of(read(config(R"("llama")", R"("phi3", "sliding_window": 262144)"))), llama_shape);
  EXPECT_EQ(
      shape_of(read(config(R"("llama")", R"("qwen2", "sliding_window": 4096, "use_sliding_window": false)"))),
      llama_shape);
  EXPECT_EQ(shape_of(read(config(R"("llama")", R"("qwen2", "sliding_window": 4096)"))), llama_shape)
      << "it is not used by default";
  EXPECT_THAT(error_of_config(R"("llama")", R"("qwen2", "sliding_window": 4096, "use_sliding_window": true)"),
              HasSubstr("a sliding window of 4096"));
}

TEST_F(ModelFiles, WrongMembersOfAConfigAreNamed) {
  EXPECT_THAT(error_of_config(R"("hidden_size": 2048,)", ""), HasSubstr("'hidden_size' is missing"));
  EXPECT_THAT(error_of_config(R"("hidden_size": 2048)", R"("hidden_size": "2048")"),
              HasSubstr(R"('hidden_size' must be an integer of 64 bits, it is "2048")"));
  EXPECT_THAT(error_of_config(R"("hidden_size": 2048)", R"("hidden_size": 18446744073709551615)"),
              HasSubstr("'hidden_size' must be an integer of 64 bits"));
  EXPECT_THAT(error_of_config(R"("num_hidden_layers": 16)", R"("num_hidden_layers": 9223372036854775807)"),
              HasSubstr("the number of blocks is 9223372036854775807; it must be 1 to 10000"));
  EXPECT_THAT(error_of_config(R"("num_key_value_heads": 8)", R"("num_key_value_heads": 7)"),
              HasSubstr("32 heads of queries cannot share 7 heads"));
  EXPECT_THAT(error_of_config(R"("rms_norm_eps": 1e-05)", R"("rms_norm_eps": 0)"),
              HasSubstr("eps of the norms is 0"));
  EXPECT_THAT(error_of_config(R"("vocab_size": 128256)", R"("vocab_size": -1)"),
              HasSubstr("the size of the vocabulary is -1"));
  EXPECT_THAT(error_of_config(R"("model_type": "llama",)", ""), HasSubstr("'model_type' is missing"));
  EXPECT_THAT(error_of_config(R"("mlp_bias": false)", R"("mlp_bias": false, "mlp_bias": false)"),
              HasSubstr("'mlp_bias' is written twice"));
}

TEST_F(ModelFiles, DeepAndBrokenJsonIsRefused) {
  EXPECT_THAT(error(R"({"a":)" + std::string(100'000, '[')), HasSubstr("nested more than 32 deep"));
  EXPECT_THAT(error(R"({"a": 1)"), HasSubstr("it is no valid JSON"));
  EXPECT_THAT(error(std::string("{\"model_type\": \"\x1b[31m\"}")), HasSubstr("it is no valid JSON"));
  EXPECT_THAT(error(R"({"model_type": "\u001b[31m"})"), HasSubstr(R"('\x1b[31m' is unknown)"));
}

TEST_F(ModelFiles, AnIndexNamesNoFileThatIsOpened) {
  EXPECT_THAT(error(R"({"metadata": {}, "weight_map": {"a": "/etc/passwd"}})"),
              HasSubstr("it is an index of .safetensors files, which has no shapes; give the config.json"));
}

TEST_F(ModelFiles, ShapesOfQwen3SayHowManyHeadsItHas) {
  const Decoder decoder = read(test::safetensors_of(test::small_qwen3_json()));
  EXPECT_EQ(shape_of(decoder), std::tuple(48, 96, 2, 4, 2, 16, 16, 320));
  EXPECT_TRUE(decoder.qk_norm);
}

/// The small Qwen 3 with all places of a text replaced.
std::string qwen3(const std::string& was, const std::string& is) {
  std::string json = test::small_qwen3_json();
  for (auto at = json.find(was); at != json.npos; at = json.find(was, at + is.size()))
    json.replace(at, was.size(), is);
  return test::safetensors_of(json);
}

TEST_F(ModelFiles, ShapesThatDoNotSayItAllAskForTheConfig) {
  const std::string asks = "give the config.json that is beside it";
  EXPECT_THAT(error(qwen3("self_attn.q_norm.weight", "self_attn.q_proj.bias")),
              AllOf(HasSubstr("shapes alone do not say how many heads it has"), HasSubstr(asks)));
  EXPECT_THAT(error(qwen3("mlp.up_proj.weight", "mlp.up_proj.qweight")),
              AllOf(HasSubstr("'model.layers.0.mlp.up_proj.qweight' has no place"), HasSubstr(asks)));
  EXPECT_THAT(error(qwen3("model.norm.weight", "lm_head.weight")),
              AllOf(HasSubstr("'model.norm.weight' is missing: is it a part of a model?"), HasSubstr(asks)));
  EXPECT_THAT(error(qwen3("model.layers.1.", "model.layers.2.")),
              HasSubstr("2 of its 3 blocks have the tensor 'input_layernorm.weight'"));
  EXPECT_THAT(
      error(qwen3(R"(layers.1.mlp.up_proj.weight":{"dtype":"BF16","shape":[96,48])",
                  R"(layers.1.mlp.up_proj.weight":{"dtype":"BF16","shape":[48,96])")),
      HasSubstr("'model.layers.1.mlp.up_proj.weight' has the shape [48, 96], in another block [96, 48]"));
}

TEST_F(ModelFiles, ABrokenHeaderOfSafetensorsIsRefused) {
  EXPECT_THAT(error(GgufBytes::number(1000, 8) + "{}"),
              HasSubstr("its header has 1000 bytes by its length, and the file has 2 after that"));
  EXPECT_THAT(error(GgufBytes::number(std::uint64_t{1} << 63, 8) + "{}"),
              HasSubstr("9223372036854775808 bytes"));
  EXPECT_THAT(error(qwen3("[0,30720]", "[0,30719]")), HasSubstr("its offsets are 0 and 30719"));
  EXPECT_THAT(error(qwen3("[320,48]", "[9223372036854775808,48]")),
              HasSubstr("a dim of 9223372036854775808"));
  EXPECT_THAT(error(qwen3("[320,48]", "[-1,48]")), HasSubstr("are no lists of whole numbers"));
}

TEST_F(ModelFiles, AnUnknownBeginningIsRefused) {
  EXPECT_THAT(error("op: view\n"), HasSubstr("it begins neither as GGUF, nor as .safetensors, nor as JSON"));
  EXPECT_THAT(error(""), HasSubstr("it begins neither"));
}

TEST_F(ModelFiles, OnlyARegularFileIsRead) {
  EXPECT_THAT(test::error_of([&] { read_model(folder.path()); }), HasSubstr("it is no regular file"));
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(test::error_of([&] { read_model(folder / "pipe"); }), HasSubstr("it is no regular file"));
  EXPECT_THAT(test::error_of([&] { read_model(folder / "none"); }), HasSubstr("No such file"));
}

}  // namespace
}  // namespace assay::models
