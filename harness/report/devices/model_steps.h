#pragma once

#include "harness/report/record/record.h"

#include <cstddef>
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
  /// The row that stands for the layer: among the rows that passed, that of impl `auto`, else the fastest; if
  /// none passed, one that says why. Null: the step has no row of this layer.
  const Record* row = nullptr;
  std::vector<const Record*> others;  ///< the step's further rows of this layer
  const Record* elsewhere = nullptr;  ///< if `row` is null: the first row of the report that has the layer
  std::string params;  ///< the row's parameters in which the step's rows differ: "K=2048 N=512"
  /// Median time x calls, in us. Absent: the layer is not in the sum, as it has no row, its row did not pass,
  /// or the row does not give its calls.
  std::optional<double> step_us;
};

/// What the layers of one op add to a step.
struct OpShare {
  std::string op;
  std::size_t layers = 0;  ///< that are in the sum
  double us = 0;           ///< the sum over them
  /// What they would gain at their ceilings: us_to_gain (words.h). Absent: no layer's ceiling is known.
  std::optional<double> gain_us;
};

/// One step of a model: a decoded token, a prompt, or one run of a net without tokens. Ops whose rows name
/// the same layers are alternatives, and each makes a step; ops that compute other layers are parts of one
/// step. A layer without cold rows is part of cold steps with its hot row: the activations that a decoded
/// token reads were written just before. Rows with a position are parts of the step of their context alone.
struct ModelStep {
  std::string model;
  std::int64_t tokens = 0;  ///< tokens that one step handles: 1 in decode; 0: the model's ops have none
  /// Tokens up to and with the step's last one: `start_pos` of its rows, which caches and attention have, and
  /// the step's tokens. Absent: no layer of the step has a position.
  std::optional<std::int64_t> context;
  std::string op;                      ///< several ops are joined by " + "
  std::string dtype;                   ///< dtype of the first tensor of each op, likewise, equal ones once
  std::string cache;                   ///< "cold" if some layer has cold rows, else "hot"
  std::optional<std::string> shaders;  ///< as RowInfo::shaders
  /// Parameters that distinguish steps of the same model, op, tokens and context: "group_size=32".
  std::string settings;
  std::string params;  ///< parameters that all rows of the op share: "M=1 bias=false group_size=32"; of
                       ///< several ops "conv: bias=true; linear: M=1"
  std::vector<StepLayer> layers;  ///< every layer of the model in the report, in the report's order

  /// The sum over the layers that have a time, in us; 0 if none has.
  double sum_us() const;
  /// What that sum would be if every layer reached the ceiling that it is nearer to, in us; a layer whose
  /// ceiling is unknown stays as it is. Absent: no ceiling is known.
  std::optional<double> at_ceilings_us() const;
  /// Whether every layer is in the sum. If not, the step takes longer than the sum.
  bool is_complete() const;
  /// How many layers are in the sum.
  std::ptrdiff_t timed_layers() const;
  /// Tokens per second, of a model without tokens steps per second; 0 if no layer has a time.
  double per_second() const;
  /// What distinguishes it from other steps of its model, op, tokens and context: "i8, cold, group_size=32".
  std::string setting() const;
  /// The ops of the layers in the sum, the largest share first.
  std::vector<OpShare> by_op() const;
};

/// The steps of models that a report's timed rows make up. Points into the report.
struct ModelSteps {
  const RunReport* report = nullptr;
  std::vector<ModelStep> steps;  ///< by model, tokens, context, op and settings
  /// Timed rows of a model that are in no step, as they name no layer.
  std::vector<const Record*> unplaced;
  /// Timed rows of chains that name a model and no layer: what they run is also in the rows of layers, so
  /// they are in no step. A step has as many of them as the row has calls.
  std::vector<const Record*> chains;
};

/// Sums the timed rows of layers for each step. A parameter with several values for one layer, number of
/// tokens and context is a setting: each of its values makes a step. A parameter that changes only with the
/// layer (its shape, the scale of its output) belongs to the layer. Where ops compute different layers of a
/// model, the alternatives for the most layers make a step each, and of those for the other layers the one
/// with the most times, then the fastest, is a part of each step. Each context that a row has makes a step:
/// of the rows of that context, and of those without a position, which belong to all.
ModelSteps model_steps(const RunReport& report);

/// Why the layer has no time in the step, for one that has a row elsewhere alone: "no timed row at context
/// 4096"; without the context if the layer has no position.
std::string why_no_row(const ModelStep& step, const StepLayer& layer);

/// What the layer would gain in a step at its ceiling, in us; nothing if it has no time there or its ceiling
/// is unknown.
std::optional<double> gain_us_of(const StepLayer& layer);

/// The sum of the times of a row's dispatches, each measured by itself (DispatchShare), in us.
double dispatches_us(const Record& row);

/// A column of the CSV of layers in steps, like Column (columns.h).
struct StepColumn {
  std::string name, unit, meaning;
  std::function<std::string(const RunInfo&, const ModelStep&, const StepLayer&)> value;  ///< empty: absent
};
std::vector<StepColumn> step_columns();

/// Every layer of every step as a line of CSV, including layers that are in no sum. RFC 4180.
std::string steps_csv(std::span<const ModelSteps> reports);

/// The steps in Markdown: for each report a table of all steps, a table of layers for each step, the layers
/// missing from each sum, and the parts of a model that no sum covers.
std::string steps_markdown(std::span<const ModelSteps> reports);

}  // namespace assay
