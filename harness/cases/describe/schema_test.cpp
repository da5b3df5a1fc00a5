#include "harness/cases/describe/describe.h"
#include "harness/cases/tests/case_file_test_support.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace assay {
namespace {

using namespace test;

using Json = nlohmann::json;
using testing::ElementsAre;

const Json& schema() {
  static const Json json = Json::parse(schema_json(fake_ops()));
  return json;
}

/// Returns the target of a reference, else the value itself.
const Json& resolved(const Json& value) {
  const auto reference = value.find("$ref");
  if (reference == value.end()) return value;
  return schema().at(Json::json_pointer(reference->get<std::string>().substr(1)));
}

/// Returns the keys of an op's cases, by the op's index.
const Json& keys_of(std::size_t op) {
  return schema().at("allOf").at(op).at("then").at("properties").at("cases").at("items").at("properties");
}

/// Returns the schema of one key.
const Json& key_of(std::size_t op, const std::string& key) {
  return resolved(keys_of(op).at(key));
}

/// Returns the first alternative of "a value, the name of a set, or each of them".
const Json& plain_value(const Json& value) {
  return value.at("anyOf").at(0).at("anyOf").at(0);
}

TEST(Schema, IsOneOfDraft2020) {
  EXPECT_EQ(schema().at("$schema"), "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(schema().at("additionalProperties"), false);
  EXPECT_EQ(schema().at("properties").size(), 10u);
}

TEST(Schema, NamesEveryOpWithItsSummary) {
  const Json& ops = schema().at("properties").at("op").at("oneOf");
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(ops.at(0).at("const"), "q8ta_pixel_shuffle");
  EXPECT_EQ(ops.at(1).at("description"), "real to integer values, one scale and zero point a block");
  EXPECT_EQ(schema().at("allOf").at(1).at("if").at("properties").at("op").at("const"), "quantize_affine");
}

TEST(Schema, KnowsTheKeysOfAChain) {
  const Json& node = schema().at("properties").at("nodes").at("items");
  EXPECT_EQ(node.at("required"), Json({"name", "op", "inputs", "outputs"}));
  EXPECT_EQ(node.at("additionalProperties"), false);
  EXPECT_EQ(node.at("properties").at("op").at("oneOf").size(), 3u);
  const Json& rule = schema().at("allOf").back();
  EXPECT_EQ(rule.at("if").at("required"), Json({"chain"}));
  EXPECT_EQ(rule.at("then").at("properties").at("op"), false);
}

TEST(Schema, SaysTypeRangeDefaultAndMeaningOfParameters) {
  const Json& shape = plain_value(key_of(0, "shape"));
  EXPECT_EQ(shape.at("type"), "array");
  EXPECT_EQ(shape.at("minItems"), 4);
  EXPECT_EQ(shape.at("maxItems"), 4);
  EXPECT_EQ(key_of(0, "shape").at("description"), "of x");
  EXPECT_EQ(plain_value(key_of(0, "upscale_factor")),
            Json({{"type", "integer"}, {"minimum", 1}, {"maximum", 64}}));
  EXPECT_THAT(plain_value(key_of(0, "x")).at("required"), ElementsAre("scale", "zero_point"));
  EXPECT_EQ(plain_value(key_of(1, "dtype")), Json({{"enum", {"f32", "f16"}}}));
  EXPECT_EQ(key_of(1, "dtype").at("default"), "f32");
  EXPECT_EQ(key_of(1, "quant_min").at("default"), -128);
  EXPECT_EQ(plain_value(key_of(1, "symmetric")).at("type"), "boolean");
}

TEST(Schema, AllowsEachForEveryValueButThoseOfTheWholeCase) {
  for (const auto& [key, value] : keys_of(1).items()) {
    const Json& meaning = key == "with" ? resolved(value.at("anyOf").at(0)) : resolved(value);
    const bool takes_each = meaning.dump().find("\"each\"") != std::string::npos;
    const bool is_of_the_case =
        key == "name" || key == "mode" || key == "tier" || key == "cache" || key == "timeout";
    EXPECT_EQ(takes_each, !is_of_the_case) << key;
  }
}

TEST(Schema, KnowsTheLayerOfAModelInWithToo) {
  EXPECT_EQ(key_of(0, "layer").at("anyOf").at(0),
            Json({{"type", "string"}, {"pattern", "^[A-Za-z0-9_.]+$"}}));
  EXPECT_EQ(key_of(0, "calls").at("anyOf").at(0), Json({{"type", "integer"}, {"minimum", 1}}));
  const Json& with = plain_value(resolved(key_of(0, "with").at("anyOf").at(0))).at("properties");
  for (const char* key : {"model", "layer", "calls", "step_tokens"}) EXPECT_TRUE(with.contains(key)) << key;
}

TEST(Schema, KnowsImplsTunablesFillsAndForms) {
  EXPECT_EQ(key_of(0, "impl").at("anyOf").at(0), Json({{"enum", {"fused", "unfused", "all"}}}));
  EXPECT_TRUE(plain_value(key_of(0, "tune")).at("properties").contains("local_size"));
  EXPECT_NE(key_of(0, "fill").dump().find("\"outlier\""), std::string::npos);
  EXPECT_NE(key_of(0, "forms").dump().find("\"buffer/4W4C\""), std::string::npos);
}

TEST(Schema, KnowsTolerancesAndArraysOfFiles) {
  const Json& tolerance = key_of(2, "tolerance").at("anyOf").at(0).at("properties");
  for (const char* key : {"scale", "abs", "rel", "ulp", "off_by", "share", "reason"})
    EXPECT_TRUE(tolerance.contains(key)) << key;
  const std::string expected = key_of(2, "expected").dump();
  EXPECT_NE(expected.find("\"required\":[\"npy\"]"), std::string::npos);
  EXPECT_NE(expected.find("\"required\":[\"npz\",\"member\"]"), std::string::npos);
}

TEST(Schema, TellsOfRequiredKeys) {
  const Json& then = schema().at("allOf").at(0).at("then");
  EXPECT_THAT(then.at("required"), ElementsAre("cases"));
  EXPECT_THAT(then.at("properties").at("cases").at("items").at("required"), ElementsAre("name"));
  EXPECT_FALSE(then.at("properties").at("defaults").contains("required"));
}

}  // namespace
}  // namespace assay
