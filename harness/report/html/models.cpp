#include "harness/report/html/models.h"

#include "harness/report/devices/model_steps.h"

#include <optional>

namespace assay {
namespace {

/// Null stands for an unknown one.
Json known_number(const std::optional<double>& number) {
  return number ? json_number(*number) : Json();
}

Json json_of_op(const OpShare& share) {
  return {{"op", json_text(share.op)},
          {"layers", share.layers},
          {"us", json_number(share.us)},
          {"gain_us", known_number(share.gain_us)}};
}

Json json_of_step(const ModelStep& step) {
  Json ops = Json::array(), lacking = Json::array();
  for (const OpShare& share : step.by_op()) ops.push_back(json_of_op(share));
  for (const StepLayer& layer : step.layers) {
    if (!layer.step_us) lacking.push_back(json_text(layer.name));
  }
  return {{"model", json_text(step.model)},
          {"tokens", step.tokens},
          {"context", step.context ? Json(*step.context) : Json()},
          {"setting", json_text(step.op + ", " + step.setting())},
          {"us", json_number(step.sum_us())},
          {"at_ceilings_us", known_number(step.at_ceilings_us())},
          {"layers", step.layers.size()},
          {"lacking", std::move(lacking)},
          {"ops", std::move(ops)}};
}

}  // namespace

Json json_of_models(const RunReport& report) {
  Json models = Json::array();
  for (const ModelStep& step : model_steps(report).steps) models.push_back(json_of_step(step));
  return models;
}

}  // namespace assay
