#include "harness/cases/conv2d_alias.h"
#include "harness/cases/describe/describe.h"
#include "harness/cases/expansion/setting.h"

#include <nlohmann/json.hpp>

#include <limits>
#include <string>
#include <vector>

namespace assay {
namespace {

// Keys keep their order, because people read schemas too.
using Json = nlohmann::ordered_json;

/// Returns the schema of a set's name, which may stand for any value of a parameter.
Json set_name() {
  return {{"type", "string"}, {"pattern", "^[A-Za-z_][A-Za-z0-9_]*$"}, {"description", "the name of a set"}};
}

Json enumeration(const std::vector<std::string>& names) {
  return {{"enum", names}};
}

Json either(std::vector<Json> choices) {
  return {{"anyOf", std::move(choices)}};
}

/// Returns the schema of `value` or `{each: [value, ...]}`.
Json each_of(const Json& value) {
  Json axis{{"type", "object"}, {"required", {"each"}}, {"additionalProperties", false}};
  axis["properties"]["each"] = {{"type", "array"}, {"minItems", 1}, {"items", value}};
  return either({value, axis});
}

Json named_or_each(const Json& value) {
  return each_of(either({value, set_name()}));
}

Json object(const Json& properties, const std::vector<std::string>& required = {}) {
  Json result{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  if (!required.empty()) result["required"] = required;
  return result;
}

Json map_of(const Json& value) {
  return {{"type", "object"}, {"additionalProperties", value}};
}

Json integer_schema(std::int64_t low, std::int64_t high) {
  return {{"type", "integer"}, {"minimum", low}, {"maximum", high}};
}

Json list_schema(const ParamSpec& param) {
  return {{"type", "array"},
          {"minItems", param.min_rank},
          {"maxItems", param.max_rank},
          {"items", named_or_each(integer_schema(param.min_integer, param.max_integer))}};
}

Json number_schema(const ParamSpec& param) {
  Json result{{"type", "number"}};
  if (param.positive) result["exclusiveMinimum"] = 0;
  if (param.min_number > -std::numeric_limits<double>::infinity()) result["minimum"] = param.min_number;
  if (param.max_number < std::numeric_limits<double>::infinity()) result["maximum"] = param.max_number;
  return result;
}

Json qparams_schema(const ParamSpec& param) {
  return object({{"scale", named_or_each({{"type", "number"}, {"exclusiveMinimum", 0}})},
                 {"zero_point", named_or_each(integer_schema(param.zero_point_min, param.zero_point_max))}},
                {"scale", "zero_point"});
}

Json value_schema(const ParamSpec& param) {
  switch (param.kind) {
    case ParamSpec::Kind::Shape:
    case ParamSpec::Kind::Ints:
      return list_schema(param);
    case ParamSpec::Kind::Integer:
      return integer_schema(param.min_integer, param.max_integer);
    case ParamSpec::Kind::Number:
      return number_schema(param);
    case ParamSpec::Kind::Boolean:
      return {{"type", "boolean"}};
    case ParamSpec::Kind::Choice:
      return enumeration(param.choices);
    case ParamSpec::Kind::QParams:
      return qparams_schema(param);
  }
  return {};
}

Json default_of(const Value& value) {
  if (const auto* qparams = std::get_if<QParams>(&value)) {
    return {{"scale", qparams->scale}, {"zero_point", qparams->zero_point}};
  }
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return std::get<std::vector<std::int64_t>>(value);
}

Json param_schema(const ParamSpec& param) {
  Json result = named_or_each(value_schema(param));
  if (!param.doc.empty()) result["description"] = param.doc;
  if (param.fallback) result["default"] = default_of(*param.fallback);
  return result;
}

/// Returns the schema of an array in a file.
Json array_schema() {
  const Json text{{"type", "string"}, {"minLength", 1}};
  return either(
      {object({{"npy", text}}, {"npy"}), object({{"npz", text}, {"member", text}}, {"npz", "member"})});
}

Json fill_schema() {
  std::vector<std::string> names = cases::fill_names();
  std::erase(names, std::string(name_of(FillKind::Npy)));
  const Json constant = object({{"constant", named_or_each({{"type", "number"}})}}, {"constant"});
  const Json one = either({enumeration(names), constant, array_schema()});
  return named_or_each(either({enumeration(names), map_of(named_or_each(one))}));
}

Json tune_schema(const Op& op) {
  Json properties = Json::object();
  for (const Impl& impl : op.impls) {
    for (const Tunable& tunable : impl.tunables) {
      Json one = named_or_each(tunable.allowed.empty() ? integer_schema(tunable.min, tunable.max)
                                                       : Json{{"enum", tunable.allowed}});
      one["description"] = tunable.doc;
      properties[tunable.name] = one;
    }
  }
  return named_or_each(object(properties));
}

Json impl_schema(const Op& op) {
  std::vector<std::string> names;
  for (const Impl& impl : op.impls) names.push_back(impl.name);
  names.emplace_back("all");
  Json one = each_of(enumeration(names));
  if (const Impl* impl = op.default_impl()) one["description"] = "by default " + impl->name;
  return one;
}

Json tolerance_schema() {
  const auto described = [](Json value, const char* what) {
    value["description"] = what;
    return value;
  };
  const Json number = each_of({{"type", "number"}, {"minimum", 0}});
  Json properties;
  properties["scale"] =
      described(number, "multiplies the bounds of bounded outputs and the bands of banded ones");
  properties["abs"] = described(number, "accepted absolute difference");
  properties["rel"] = described(number, "accepted difference, relative to the expected value");
  properties["ulp"] = described(number, "accepted difference, in units in the last place of a float output");
  properties["off_by"] =
      described(each_of({{"type", "integer"}, {"minimum", 1}}), "accepted difference of an integer output");
  properties["share"] = described(each_of({{"type", "number"}, {"exclusiveMinimum", 0}, {"maximum", 1}}),
                                  "largest share of the elements that may need abs, rel, ulp or off_by");
  properties["reason"] = described({{"type", "string"}}, "why the bound is loosened");
  return each_of(object(properties));
}

Json all_qparams_schema(const Op& op) {
  Json properties = Json::object();
  for (const ParamSpec& param : op.params) {
    if (param.kind == ParamSpec::Kind::QParams) properties[param.name] = param_schema(param);
  }
  return named_or_each(object(properties));
}

Json word_schema(const char* what) {
  Json result = each_of({{"type", "string"}, {"pattern", "^[A-Za-z0-9_.]+$"}});
  result["description"] = what;
  return result;
}

/// Returns the keys that are also allowed inside `with:`.
Json value_keys(const Op& op) {
  Json properties = Json::object();
  for (const ParamSpec& param : op.params) properties[param.name] = param_schema(param);
  properties["qparams"] = all_qparams_schema(op);
  properties["fill"] = fill_schema();
  properties["forms"] = named_or_each(map_of(named_or_each(enumeration(form_names(op)))));
  properties["expected"] = each_of(map_of(each_of(array_schema())));
  properties["tolerance"] = tolerance_schema();
  properties["tune"] = tune_schema(op);
  properties["seed"] = each_of({{"type", "integer"}, {"minimum", 0}});
  properties["impl"] = impl_schema(op);
  properties["model"] = word_schema("the model that the shape comes from");
  properties["layer"] = word_schema("which layer of the model");
  properties["calls"] = each_of({{"type", "integer"}, {"minimum", 1}});
  properties["calls"]["description"] = "how often one step of the model calls the layer";
  properties["step_tokens"] = each_of({{"type", "integer"}, {"minimum", 1}});
  properties["step_tokens"]["description"] = "tokens of that step, by default as many as the op says";
  return properties;
}

/// Returns the name under `$defs` where an op's key is defined once, for its cases, defaults and `with`.
std::string definition_name(const Op& op, const std::string& key) {
  return op.name + "." + key;
}

Json definition_of(const Op& op, const std::string& key) {
  return {{"$ref", "#/$defs/" + definition_name(op, key)}};
}

Json referring_to(const Op& op, const Json& values) {
  Json keys = Json::object();
  for (const auto& [key, value] : values.items()) keys[key] = definition_of(op, key);
  return keys;
}

void add_definitions(Json& definitions, const Op& op) {
  const Json values = value_keys(op);
  for (const auto& [key, value] : values.items()) definitions[definition_name(op, key)] = value;
  definitions[definition_name(op, "with")] = named_or_each(object(referring_to(op, values)));
}

Json case_keys(const Op& op) {
  Json properties = referring_to(op, value_keys(op));
  const Json with = definition_of(op, "with");
  properties["with"] = either({with, {{"type", "array"}, {"items", with}}});
  properties["mode"] = enumeration({"accu", "perf", "both"});
  properties["tier"] = enumeration({"smoke", "ci", "nightly"});
  properties["cache"] = enumeration({"hot", "cold", "both"});
  properties["timeout"] = {{"type", "number"}, {"exclusiveMinimum", 0}};
  return properties;
}

Json case_schema(const Op& op) {
  Json properties = case_keys(op);
  properties["name"] = {{"type", "string"}, {"pattern", "^[A-Za-z0-9_]+$"}};
  return object(properties, {"name"});
}

/// Returns the rules of a file with this `op`.
Json file_of(const Op& op) {
  Json then;
  then["properties"]["defaults"] = object(case_keys(op));
  then["properties"]["cases"] = {{"type", "array"}, {"minItems", 1}, {"items", case_schema(op)}};
  then["required"] = {"cases"};
  Json result;
  result["if"] = {{"properties", {{"op", {{"const", op.name}}}}}, {"required", {"op"}}};
  result["then"] = then;
  return result;
}

Json op_names(const Registry& registry) {
  Json choices = Json::array();
  for (const Op& op : registry.ops()) choices.push_back({{"const", op.name}, {"description", op.summary}});
  return choices;
}

/// The keys of a file that declares a chain, besides those of all files.
void add_chain_keys(Json& properties, const Registry& registry) {
  const Json name{{"type", "string"}, {"pattern", "^[A-Za-z0-9_]+$"}};
  const Json names{{"type", "object"}, {"minProperties", 1}, {"additionalProperties", name}};
  const Json parameter{{"type", "string"}, {"pattern", "^\\$[A-Za-z0-9_]+$"}};
  Json shape{{"type", "array"}, {"minItems", 1}, {"items", {{"type", "integer"}, {"minimum", 1}}}};
  Json qparams = object({{"scale", {{"type", "number"}}}, {"zero_point", {{"type", "integer"}}}},
                        {"scale", "zero_point"});
  properties["chain"] = name;
  properties["params"] = {{"type", "object"}, {"description", "defaults of the chain's own parameters"}};
  properties["tensors"] = map_of(object({{"dtype", enumeration({"f32", "f16", "i8", "u8", "i32"})},
                                         {"shape", {{"anyOf", {shape, parameter}}}},
                                         {"qparams", {{"anyOf", {qparams, parameter}}}}},
                                        {"dtype", "shape"}));
  const Json node = object({{"name", name},
                            {"op", {{"oneOf", op_names(registry)}}},
                            {"impl", {{"type", "string"}}},
                            {"with", {{"type", "object"}}},
                            {"inputs", names},
                            {"outputs", names}},
                           {"name", "op", "inputs", "outputs"});
  properties["nodes"] = {{"type", "array"}, {"minItems", 1}, {"items", node}};
  properties["outputs"] = {{"type", "array"}, {"minItems", 1}, {"items", name}};
}

/// Returns the rules of a file that declares a chain.
Json file_of_chain() {
  return {{"if", {{"required", {"chain"}}}},
          {"then", {{"required", {"tensors", "nodes", "cases"}}, {"properties", {{"op", false}}}}}};
}

}  // namespace

std::string schema_json(const Registry& registry) {
  Json schema;
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "assay case file";
  schema["type"] = "object";
  schema["properties"]["op"] = {{"oneOf", op_names(registry)}};
  schema["properties"]["include"] = {{"type", "array"}, {"items", {{"type", "string"}}}};
  schema["properties"]["sets"] = {{"type", "object"},
                                  {"propertyNames", {{"pattern", set_name()["pattern"]}}}};
  schema["properties"]["defaults"] = {{"type", "object"}};
  schema["properties"]["cases"] = {{"type", "array"}};
  add_chain_keys(schema["properties"], registry);
  schema["additionalProperties"] = false;
  schema["allOf"] = Json::array();
  for (const Op& op : registry.ops()) schema["allOf"].push_back(file_of(op));
  schema["allOf"].push_back(file_of_chain());
  schema["$defs"] = Json::object();
  for (const Op& op : registry.ops()) add_definitions(schema["$defs"], op);
  return schema.dump(2) + "\n";
}

}  // namespace assay
