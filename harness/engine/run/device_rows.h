#pragma once

#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/experiment.h"
#include "harness/engine/accuracy/packed_inputs.h"
#include "harness/engine/run/layer_messages.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/row_preparation.h"
#include "harness/report/record/events.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// Rows whose data all come from one set. What they share stays until the last of them is recorded.
struct RowGroup {
  PlannedGroup planned;
  RowIndex first = 0;               ///< of its rows, among all that are planned
  std::vector<Baseline> baselines;  ///< of each row
  RowPreparation* ahead = nullptr;  ///< where its data may have been made; null: nowhere
  std::size_t order = 0;            ///< of the group among all that are planned
  std::optional<DataSet> data;
  std::optional<PackedInputs> packed;  ///< of data

  std::optional<DataSet> secret;  ///< of a seed that no shader can know
  std::optional<PackedInputs> packed_secret;

  /// The group's data of the secret seed, made when the first row needs them.
  const DataSet& secret_for(const Case& test_case, std::uint64_t seed) {
    if (!secret) {
      if (ahead != nullptr) secret = ahead->take_secret_data(order);
      if (!secret) secret = make_secret_data_set(test_case, seed);
      packed_secret.emplace(secret->inputs);
    }
    return *secret;
  }
  /// Rows may still be timed on the inputs, but none is judged any more.
  void forget_secret_answers() {
    if (secret) secret->expected.clear();
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
  std::size_t index = 0;                 ///< in it
  const Impl* impl = nullptr;            ///< the case's, or the one that it chooses
  Ceiling ceiling = Ceiling::Bandwidth;  ///< of the impl, here
  Record record;
  double judging_ms = 0;  ///< planning, judging and preparing to be timed
  double timing_ms = 0;
  std::optional<Program> program;
  std::optional<double> unit_error;  ///< of the impl, where it states one
  JudgedRun own;                     ///< mode perf: what was judged, and is timed
  JudgedRun secret;                  ///< the same on data of the secret seed, where there are such
  LayerMessages messages;            ///< of the validation layer while it ran, as far as it has

  RowIndex number() const { return group->first + index; }  ///< what events call it
  const PlannedRow& plan() const { return group->planned[index]; }
  const Case& test_case() const { return *plan().test_case; }
  const Baseline& baseline() const { return group->baselines[index]; }
};

/// Host memory that the rows of a group hold while they wait to be timed: inputs as they are and packed, the
/// expected outputs, and each row's own.
std::size_t waiting_bytes(const RowGroup& group, std::span<const std::unique_ptr<DeviceRow>> rows);

}  // namespace assay
