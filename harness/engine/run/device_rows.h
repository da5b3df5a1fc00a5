#pragma once

#include "harness/chain/layout_plan.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/experiment.h"
#include "harness/engine/accuracy/experiment_memory.h"
#include "harness/engine/run/device_context.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/row_plan.h"
#include "harness/engine/run/row_preparation.h"
#include "harness/report/record/record.h"
#include "harness/report/record/run_listener.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// Rows that share one data set. It is kept until the last of them is recorded.
struct RowGroup {
  PlannedGroup planned;
  RowIndex first = 0;               ///< index of its first row in the whole plan
  std::vector<Baseline> baselines;  ///< one per row
  RowPreparation* ahead = nullptr;  ///< may have made its data ahead of time; null: nothing is made ahead
  std::size_t order = 0;            ///< index of the group in the plan
  std::optional<DataSet> data;
  std::optional<PackedInputs> packed;  ///< of data

  /// Data from a seed that no shader can know.
  struct SecretData {
    std::optional<DataSet> data;
    std::optional<PackedInputs> packed;
  };
  std::array<SecretData, 2> secret;

  /// The group's first or second data set of the secret seed, made when the first row needs it.
  SecretData& secret_for(const Case& test_case, std::uint64_t seed, std::size_t which) {
    SecretData& found = secret.at(which);
    if (!found.data) {
      if (ahead != nullptr && which == 0) found.data = ahead->take_secret_data(order);
      if (!found.data) found.data = make_secret_data_set(test_case, seed, which);
      found.packed.emplace(found.data->inputs);
    }
    return found;
  }
  /// Frees the expected outputs: rows may still be timed on the inputs, but no answer is checked any more.
  void forget_secret_answers() {
    for (SecretData& one : secret) {
      if (one.data) one.data->expected.clear();
    }
  }

  /// The group's inputs and expected outputs, made when the first row needs them.
  const DataSet& data_for(const Case& test_case, const AnswerCache* answers) {
    if (!data) {
      if (ahead != nullptr) data = ahead->take_data(order);
      if (!data) data = make_data_set(test_case, answers);
      packed.emplace(data->inputs);
    }
    return *data;
  }
};

/// An experiment whose answer was accepted, to be timed.
struct JudgedRun {
  std::unique_ptr<Experiment> experiment;  ///< null: there is none
  Answer outputs;
};

/// One row on its way from plan to record.
struct DeviceRow {
  std::shared_ptr<RowGroup> group;
  std::size_t index = 0;                 ///< in the group
  const Impl* impl = nullptr;            ///< the case's, or the one that impl auto chooses
  Ceiling ceiling = Ceiling::Bandwidth;  ///< the one that limits the impl here
  Record record;
  double judging_ms = 0;  ///< planning, checking and preparing for timing
  double timing_ms = 0;
  std::optional<Program> program;
  std::optional<UnitError> unit_error;  ///< of the impl, if it states one
  /// Mode perf: the checked experiments, over one or two data sets, on which the row is timed.
  std::vector<JudgedRun> timed;
  bool has_known_data = true;  ///< the first of them has the row's own data
  LayerMessages messages;      ///< of the validation layer, while this row ran

  RowIndex number() const { return group->first + index; }  ///< its number in events
  const PlannedRow& plan() const { return group->planned[index]; }
  const Case& test_case() const { return *plan().test_case; }
  const Baseline& baseline() const { return group->baselines[index]; }
};

/// Host memory in bytes that the rows of a group hold while they wait to be timed: inputs, packed inputs,
/// expected outputs, and each row's outputs.
std::size_t waiting_bytes(const RowGroup& group, std::span<const std::unique_ptr<DeviceRow>> rows);

/// A chain's plan as reports show it.
ChainPlan chain_plan_of(const chain::PlannedChain& planned);

/// Plans a row: gives it its program, or returns why it is not run: INVALID, SKIPPED, UNSUPPORTED, or what
/// went wrong while its program was built.
std::optional<Outcome> plan_row(DeviceRow& row, const DeviceContext& context);

/// Checks the answer of a row that has its program, on its group's data. A row of mode perf that passes is
/// then ready to be timed. Throws the exceptions that outcome_of() handles.
Outcome judge_row(DeviceRow& row, const DataSet& data, DeviceContext& context);

/// Completes the record of a row with its outcome and the validation layer's messages.
void end_row(DeviceRow& row, Outcome outcome, DeviceContext& context);

}  // namespace assay
