#include "harness/commands/model/model.h"

#include "harness/base/error.h"
#include "harness/cases/expansion/load.h"
#include "harness/commands/model/mapping.h"
#include "ops/registry.h"
#include "tests/support/error_text.h"
#include "tests/support/model_files.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace assay::app {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const Registry& ops() {
  static const Registry registry = ops::registry();
  return registry;
}

class Models : public ::testing::Test {
 protected:
  /// Writes the cases of a model into the folder `out`, and returns what it printed.
  std::string write(const std::string& bytes, ModelCases cases = {},
                    const std::string& file = "my.model") const {
    std::ostringstream out;
    const Context context{.registry = ops(), .command_line = {}};
    if (cases.name.empty()) cases.name = "m";
    write_model({.file = folder.write(file, bytes), .out = folder / "out", .cases = cases}, context,
                {.out = out, .log = out, .errors = out});
    return out.str();
  }
  std::string error(const std::string& bytes, const ModelCases& cases = {}) const {
    return test::error_of([&] { write(bytes, cases); });
  }
  std::vector<Case> load(const fs::path& path) const {
    LoadResult loaded = load_cases(std::array{path}, ops());
    EXPECT_THAT(loaded.errors, IsEmpty());
    return std::move(loaded.cases);
  }
  std::vector<Case> load() const { return load(folder / "out"); }

  test::TemporaryFolder folder;
};

/// All that says which row it is, apart from its place.
std::string row(const Case& one) {
  return fmt::format("{} {} {} {} {} {} {} timeout={}", one.id, one.params->canonical(), one.model, one.layer,
                     one.calls, name_of(one.mode), name_of(one.caches), one.timeout_s);
}

std::vector<std::string> rows_of(const std::vector<Case>& cases) {
  std::vector<std::string> rows;
  for (const Case& one : cases) {
    if (one.layer != "head") rows.push_back(row(one));
  }
  std::ranges::sort(rows);
  return rows;
}

/// The layers of a step: op, layer, parameters and calls.
std::set<std::string> layers(const std::vector<Case>& cases, const std::string& step) {
  std::set<std::string> all;
  for (const Case& one : cases) {
    if (one.name.starts_with("m_" + step))
      all.insert(fmt::format("{} {} x{} of {}", one.op->name, one.layer, one.calls, one.tokens));
  }
  return all;
}

TEST_F(Models, LlamaHasTheRowsOfTheFileThatWasWrittenByHand) {
  write(test::llama_config, {.name = "llama_3_2_1b"});
  const auto by_hand = rows_of(load("cases/models/llama_3_2_1b/linear_q4gsw.yaml"));
  EXPECT_THAT(by_hand, SizeIs(4 * (2 + 2 + 1)));
  EXPECT_EQ(rows_of(load(folder / "out/linear_q4gsw.yaml")), by_hand);
}

TEST_F(Models, OtherOpsAndPromptsHaveTheShapesOfThoseFiles) {
  write(test::llama_config, {.name = "llama_3_2_1b",
                             .linear_ops = {"linear_dq8ca_q4gsw", "q8ta_linear"},
                             .prompts = {128, 512},
                             .dtype = "f32"});
  const auto shapes = [](const std::vector<Case>& cases) {
    std::set<std::string> all;
    for (const Case& one : cases) {
      if (one.layer != "head")
        all.insert(fmt::format("{} {} {}", one.params->canonical(), one.layer, one.calls));
    }
    return all;
  };
  const auto by_hand = shapes(load("cases/models/llama_3_2_1b/linear_dq8ca_q4gsw.yaml"));
  EXPECT_THAT(by_hand, SizeIs(Gt(10U)));
  EXPECT_EQ(shapes(load(folder / "out/linear_dq8ca_q4gsw.yaml")), by_hand);
  const auto decoded_by_hand = rows_of(load("cases/models/llama_3_2_1b/q8ta_linear.yaml"));
  const auto decoded = rows_of(load(folder / "out/q8ta_linear.yaml"));
  const auto is_decode = [](const std::string& text) { return text.find("1b_decode") != text.npos; };
  EXPECT_EQ(std::ranges::count_if(decoded, is_decode), 4);
  for (const std::string& text : decoded_by_hand) {
    if (!is_decode(text)) continue;
    EXPECT_THAT(decoded, ::testing::Contains(text));
  }
}

TEST_F(Models, QwenHasTheRowsOfTheFileThatWasWrittenByHand) {
  write(R"({"model_type": "qwen3", "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28,
            "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936})",
        {.name = "qwen3_0_6b"});
  EXPECT_EQ(rows_of(load(folder / "out/linear_q4gsw.yaml")),
            rows_of(load("cases/models/qwen3_0_6b/linear_q4gsw.yaml")));
}

TEST_F(Models, LlamaOf8BHasTheRowsOfTheFileThatWasWrittenByHand) {
  write(R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
            "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256})",
        {.name = "llama_3_1_8b"});
  EXPECT_EQ(rows_of(load(folder / "out/linear_q4gsw.yaml")),
            rows_of(load("cases/models/llama_3_1_8b/linear_q4gsw.yaml")));
}

TEST_F(Models, AStepHasAllItsPartsWithTheirCalls) {
  write(test::llama_config);
  const std::vector<Case> cases = load();
  EXPECT_THAT(layers(cases, "decode"),
              ElementsAre("embedding_q4gsw embedding x1 of 1", "linear_q4gsw attn.k_v x32 of 1",
                          "linear_q4gsw attn.q_o x32 of 1", "linear_q4gsw head x1 of 1",
                          "linear_q4gsw mlp.down x16 of 1", "linear_q4gsw mlp.gate_up x32 of 1",
                          "rms_norm norm.first x1 of 1", "rms_norm norm.residual x32 of 1",
                          "rotary_embedding attn.rotary_k x16 of 1",
                          "rotary_embedding attn.rotary_q x16 of 1", "sdpa attn.sdpa x16 of 1",
                          "silu_mul mlp.gate x16 of 1", "update_cache attn.update_cache x32 of 1"));
  EXPECT_THAT(layers(cases, "prefill"),
              AllOf(SizeIs(13), ::testing::Contains("linear_q4gsw head x1 of 512")));
}

/// The canonical parameters of the case of an op's layer in a step.
std::string parameters(const std::vector<Case>& cases, const std::string& op, const std::string& layer,
                       const std::string& step) {
  for (const Case& one : cases) {
    if (one.op->name == op && one.layer == layer && one.name == "m_" + step) return one.params->canonical();
  }
  return "none";
}

TEST_F(Models, PartsHaveTheShapesOfTheirStep) {
  write(test::llama_config);
  const std::vector<Case> cases = load();
  EXPECT_THAT(parameters(cases, "rms_norm", "norm.residual", "prefill"),
              AllOf(HasSubstr("shape=512x2048"), HasSubstr("residual=true"), HasSubstr("eps=1e-05")));
  EXPECT_THAT(parameters(cases, "rms_norm", "norm.first", "decode"), HasSubstr("residual=false"));
  EXPECT_THAT(parameters(cases, "rotary_embedding", "attn.rotary_k", "decode"),
              AllOf(HasSubstr("shape=1x1x8x64"), HasSubstr("start_pos=1023"), HasSubstr("pairs=half_split")));
  EXPECT_THAT(parameters(cases, "rotary_embedding", "attn.rotary_q", "prefill"),
              AllOf(HasSubstr("shape=1x512x32x64"), HasSubstr("start_pos=0")));
  EXPECT_THAT(parameters(cases, "silu_mul", "mlp.gate", "prefill"), HasSubstr("shape=512x8192"));
  EXPECT_THAT(parameters(cases, "sdpa", "attn.sdpa", "decode"),
              HasSubstr("B=1 C=1024 D=64 H=32 Hkv=8 S=1 cache_dtype=float causal=true dtype=f16"));
  EXPECT_THAT(parameters(cases, "update_cache", "attn.update_cache", "prefill"),
              HasSubstr("B=1 C=512 D=64 Hkv=8 S=512"));
  EXPECT_THAT(parameters(cases, "embedding_q4gsw", "embedding", "prefill"),
              AllOf(HasSubstr("vocab=128256"), HasSubstr("dim=2048"), HasSubstr("indices=512")));
  EXPECT_THAT(parameters(cases, "linear_q4gsw", "head", "prefill_head"),
              AllOf(HasSubstr("M=1 "), HasSubstr("N=128256")));
}

TEST_F(Models, SeveralContextsShareWhatHasNoPosition) {
  write(test::llama_config, {.contexts = {4096, 128, 4096}});
  const std::vector<Case> cases = load();
  for (const char* layer : {"attn.rotary_q", "attn.rotary_k"}) {
    EXPECT_THAT(parameters(cases, "rotary_embedding", layer, "decode_128"), HasSubstr("start_pos=127"));
    EXPECT_THAT(parameters(cases, "rotary_embedding", layer, "decode_4096"), HasSubstr("start_pos=4095"));
  }
  EXPECT_THAT(parameters(cases, "update_cache", "attn.update_cache", "decode_4096"), HasSubstr("C=4096"));
  EXPECT_THAT(parameters(cases, "sdpa", "attn.sdpa", "decode_128"), HasSubstr("C=128"));
  EXPECT_THAT(parameters(cases, "sdpa", "attn.sdpa", "prefill"), HasSubstr("C=512"));
  EXPECT_THAT(parameters(cases, "silu_mul", "mlp.gate", "decode"), HasSubstr("shape=1x8192"));
  const auto timed_once = std::ranges::count_if(cases, [](const Case& one) {
    return one.layer == "mlp.down" && one.mode == Mode::Perf && one.tokens == 1;
  });
  EXPECT_EQ(timed_once, 2) << "for each group size";
  const auto cold = std::ranges::count_if(
      cases, [](const Case& one) { return one.layer == "attn.sdpa" && one.caches == Caches::Cold; });
  EXPECT_EQ(cold, 2);
}

TEST_F(Models, OfEachArchitectureLoad) {
  const char* const configs[] = {
      R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
          "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32768, "sliding_window": null})",
      R"({"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24,
          "num_attention_heads": 14, "num_key_value_heads": 2, "vocab_size": 151936, "rms_norm_eps": 1e-06,
          "sliding_window": 32768, "use_sliding_window": false})",
      R"({"model_type": "phi3", "hidden_size": 5120, "intermediate_size": 17920, "num_hidden_layers": 40,
          "num_attention_heads": 40, "num_key_value_heads": 10, "vocab_size": 100352, "sliding_window": null})",
      R"({"model_type": "phi3", "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 32,
          "num_attention_heads": 24, "num_key_value_heads": 8, "vocab_size": 200064,
          "max_position_embeddings": 131072, "sliding_window": 262144, "partial_rotary_factor": 0.75})"};
  for (const char* config : configs) {
    write(config);
    EXPECT_THAT(layers(load(), "decode"), SizeIs(::testing::AnyOf(13, 14))) << config;
    fs::remove_all(folder / "out");
  }
  write(configs[1]);
  EXPECT_THAT(parameters(load(), "linear_q4gsw", "attn.q", "decode"), HasSubstr("bias=true"));
  fs::remove_all(folder / "out");
  write(configs[3]);
  const std::vector<Case> phi = load();
  EXPECT_THAT(parameters(phi, "rotary_embedding", "attn.rotary_q", "decode"), HasSubstr("rotary_dim=96"));
  EXPECT_THAT(parameters(phi, "linear_q4gsw", "attn.qkv", "decode"), HasSubstr("N=5120"));
  EXPECT_THAT(parameters(phi, "linear_q4gsw", "mlp.gate_up", "decode"), HasSubstr("N=16384"));
}

TEST_F(Models, GgufSharesTheMappingExceptForPairs) {
  write(test::llama_gguf().bytes());
  EXPECT_THAT(parameters(load(), "rotary_embedding", "attn.rotary_q", "decode"),
              HasSubstr("pairs=interleaved"));
}

TEST_F(Models, NormsOfHeadsAndBiasesAreMapped) {
  write(test::safetensors_of(test::small_qwen3_json()));
  const std::vector<Case> cases = load();
  EXPECT_THAT(parameters(cases, "rms_norm", "attn.q_norm", "prefill"), HasSubstr("shape=512x4x16"));
  EXPECT_THAT(parameters(cases, "rms_norm", "attn.k_norm", "decode"), HasSubstr("shape=1x2x16"));
  EXPECT_THAT(parameters(cases, "linear_q4gsw", "attn.o", "decode"),
              AllOf(HasSubstr("K=64"), HasSubstr("N=48")));
  EXPECT_THAT(parameters(cases, "linear_q4gsw", "attn.o", "decode"), HasSubstr("group_size=16"))
      << "neither 32 nor 128 divides 48";
}

models::Decoder small_decoder(const std::string& architecture) {
  return {.architecture = architecture,
          .hidden = 64,
          .intermediate = 96,
          .blocks = 3,
          .heads = 4,
          .kv_heads = 2,
          .head_dim = 16,
          .rotary_dim = 16,
          .vocab = 320};
}

/// "attn.q 64x64 with bias x3": its layer, K, N and calls.
std::vector<std::string> layers_of(const models::Decoder& decoder) {
  std::vector<std::string> found;
  for (const LinearLayer& layer : linear_layers(decoder)) {
    found.push_back(fmt::format("{} {}x{}{} x{}", layer.layer, layer.k, layer.n,
                                layer.bias ? " with bias" : "", layer.calls));
  }
  return found;
}

TEST(Mapping, QwenTwoHasABiasThatKeepsQAndOApart) {
  models::Decoder decoder = small_decoder("qwen2");
  decoder.qkv_bias = true;
  EXPECT_THAT(layers_of(decoder),
              ElementsAre("attn.q 64x64 with bias x3", "attn.k_v 64x32 with bias x6", "attn.o 64x64 x3",
                          "mlp.gate_up 64x96 x6", "mlp.down 96x64 x3"));
}

TEST(Mapping, FusedLayersAreOneMatrix) {
  models::Decoder decoder = small_decoder("phi3");
  decoder.fused_qkv = decoder.fused_gate_up = true;
  EXPECT_THAT(layers_of(decoder), ElementsAre("attn.qkv 64x128 x3", "attn.o 64x64 x3",
                                              "mlp.gate_up 64x192 x3", "mlp.down 96x64 x3"));
}

TEST_F(Models, AllOpsForLinearLayersLoad) {
  ModelCases cases;
  cases.linear_ops.clear();
  for (const LinearOp& op : linear_ops()) cases.linear_ops.emplace_back(op.name);
  EXPECT_THAT(write(test::llama_config, cases),
              HasSubstr(fmt::format("cases of {} ops", linear_ops().size() + 6)));
  EXPECT_THAT(error(test::llama_config, {.linear_ops = {"linear_q5"}}),
              HasSubstr("'linear_q5' is no op for its linear layers; known are linear_q4gsw, "));
}

TEST_F(Models, GroupsMustDivideEveryK) {
  EXPECT_THAT(
      error(test::llama_config, {.group_sizes = {64, 96}}),
      HasSubstr(
          "groups of 96 weights do not divide all K of its linear layers, whose greatest common divisor "
          "is 2048"));
  EXPECT_FALSE(fs::exists(folder / "out")) << "nothing is left behind";
  write(test::llama_config, {.group_sizes = {64}});
  EXPECT_THAT(parameters(load(), "linear_q4gsw", "mlp.down", "decode"), HasSubstr("group_size=64"));
}

TEST_F(Models, AWrongCaseLeavesNothingBehind) {
  std::string odd = test::llama_config;
  odd.replace(odd.find("\"hidden_size\": 2048"), 19, "\"hidden_size\": 2044");
  EXPECT_THAT(error(odd), HasSubstr("no group of at least 8 weights divides all K"));
  EXPECT_THAT(error(odd, {.linear_ops = {"linear_q8csw"}}),
              HasSubstr("no op can compute it as its file says"));  // of the embedding, which has groups, too
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST_F(Models, AHeadThatNoImplTakesIsAnError) {
  std::string odd = test::llama_config;
  odd.replace(odd.find("\"head_dim\": 64"), 14, "\"head_dim\": 66");
  EXPECT_THAT(error(odd),
              HasSubstr("no op can compute it as its file says; sdpa for attn.sdpa: D is 66, but must "
                        "be a multiple of 4"));
  odd.replace(odd.find("\"head_dim\": 66"), 14, "\"head_dim\": 512");
  EXPECT_THAT(error(odd), HasSubstr("no op can compute it as its file says"));
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST_F(Models, AnExistingFolderIsRefused) {
  folder.write("out/precious.yaml", "precious");
  EXPECT_THAT(error(test::llama_config), HasSubstr("exists and is not changed; choose another --out"));
  EXPECT_EQ(folder.read("out/precious.yaml"), "precious");
  fs::remove_all(folder / "out");
  fs::create_symlink("nowhere", folder / "out");
  EXPECT_THAT(error(test::llama_config), HasSubstr("out"));
  EXPECT_FALSE(fs::exists(folder / "nowhere"));
}

TEST_F(Models, TheFoldersNameMayEndWithASlash) {
  std::ostringstream out;
  const Context context{.registry = ops(), .command_line = {}};
  write_model(
      {.file = folder.write("my.model", test::llama_config), .out = folder / "out/", .cases = {.name = "m"}},
      context, {.out = out, .log = out, .errors = out});
  EXPECT_THAT(load(), Not(IsEmpty()));
}

TEST_F(Models, NamesHaveFewCharacters) {
  EXPECT_EQ(model_name_of("models/Llama-3.2-1B.Q4_K_M.gguf"), "llama_3_2_1b_q4_k_m");
  EXPECT_EQ(model_name_of("models/Llama-3.2-1B/config.json"), "llama_3_2_1b");
  EXPECT_EQ(model_name_of("models/Qwen3 0.6B/./model.safetensors"), "qwen3_0_6b");
  EXPECT_EQ(model_name_of("a/../Phi/model.safetensors.index.json"), "phi");
  EXPECT_EQ(model_name_of("config.json"), model_name_of(fs::current_path() / "config.json"));
  EXPECT_EQ(model_name_of("/config.json"), "config") << "its folder has no name";
  EXPECT_THAT(test::error_of([] { model_name_of("--.json"); }), HasSubstr("give --name"));
  for (const char* name : {"../x", "a b", "Llama", "a/b", "\x1b[31m", "null"}) {
    EXPECT_THAT(error(test::llama_config, {.name = name}),
                AllOf(HasSubstr("naming a model"), Not(HasSubstr("\x1b"))));
  }
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST_F(Models, NothingInAFileNamesAPath) {
  write(test::llama_gguf().bytes());
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder / "out")) {
    names.push_back(entry.path().filename());
    EXPECT_THAT(test::read_file(entry.path()), Not(HasSubstr("passwd")));
  }
  std::ranges::sort(names);
  EXPECT_THAT(names, ElementsAre("embedding_q4gsw.yaml", "linear_q4gsw.yaml", "rms_norm.yaml",
                                 "rotary_embedding.yaml", "sdpa.yaml", "shapes.yaml", "silu_mul.yaml",
                                 "update_cache.yaml"));
}

}  // namespace
}  // namespace assay::app
