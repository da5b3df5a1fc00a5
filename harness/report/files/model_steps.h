#pragma once

#include "harness/report/record/run_report.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// One layer in a step of a model.
struct StepLayer {
  std::string name;  ///< "mlp.down"
  /// The row that stands for the layer: of those that passed impl `auto`, else the fastest; where none
  /// passed, the one that says why. Null: the step has no row of this layer.
  const Record* row = nullptr;
  std::vector<const Record*> others;  ///< the step's further rows of this layer
  const Record* elsewhere = nullptr;  ///< where `row` is null: the first row of the report that has the layer
  std::string params;                 ///< of the row, those in which the step's rows differ: "K=2048 N=512"
  /// Median time x calls, in us. Absent: the layer is not in the sum, as it has no row, its row did not pass,
  /// or that does not tell its calls.
  std::optional<double> step_us;
};

/// One step of a model, as far as one op computes its layers: a token that is decoded, or a prompt.
struct ModelStep {
  std::string model;
  std::int64_t tokens = 0;  ///< that one step handles: 1 in decode
  std::string op;
  std::string dtype;                   ///< of the op's first tensor
  std::string cache;                   ///< "cold", else "hot"
  std::optional<std::string> shaders;  ///< as RowInfo::shaders
  std::string
      settings;  ///< parameters that tell this step from others of model, op and tokens: "group_size=32"
  std::string params;             ///< all that its rows share: "M=1 bias=false group_size=32"
  std::vector<StepLayer> layers;  ///< every layer that the report has of the model, in its order

  /// Of the layers that can be counted, in us; 0 where none can.
  double sum_us() const;
  /// Whether every layer is in the sum. Else the step takes longer than the sum.
  bool is_complete() const;
};

/// What the timed rows of a report tell of steps of models. Points into the report that it was made of.
struct ModelSteps {
  const RunReport* report = nullptr;
  std::vector<ModelStep> steps;  ///< by model, tokens, op and settings
  /// Timed rows of a model that are in no step: they do not tell which layer they are, or of how many tokens.
  std::vector<const Record*> unplaced;
};

/// Sums the timed rows of layers, step by step. A parameter that has several values for one layer and number
/// of tokens is a setting, and steps do not mix its values; one that changes with the layer alone (its shape,
/// the scale of its output) is the layer's own.
ModelSteps model_steps(const RunReport& report);

/// A column of the CSV, as Column (columns.h), of a layer in a step.
struct StepColumn {
  std::string name, unit, meaning;
  std::function<std::string(const RunInfo&, const ModelStep&, const StepLayer&)> value;  ///< empty: absent
};
std::vector<StepColumn> step_columns();

/// Every layer of every step as a line of CSV, those that are in no sum too. RFC 4180.
std::string steps_csv(std::span<const ModelSteps> reports);

/// The steps in Markdown: of each report a table of all steps, a table of layers for each, what each sum
/// lacks, and what no sum has.
std::string steps_markdown(std::span<const ModelSteps> reports);

}  // namespace assay
