#include "harness/engine/run/secret_check.h"

#include "harness/engine/accuracy/accuracy.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/experiment.h"
#include "harness/engine/run/row_originals.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>

#include <utility>

namespace assay {

SecretRun run_on_secret_data(const DeviceRow& row, std::size_t which, DeviceContext& context) {
  const std::optional<std::uint64_t> seed = context.options.secret_seed;
  const Case& test_case = row.test_case();
  if (!seed || !has_secret_data(test_case)) return {};
  context.device.tell_phase(Phase::Reference);
  RowGroup::SecretData& secret = row.group->secret_for(test_case, *seed, which);
  const DataSet& data = *secret.data;
  context.device.tell_phase(Phase::Host);
  PackedInputs& inputs = *secret.packed;
  auto experiment = std::make_unique<Experiment>(context.device, context.shaders_of(row.plan()), test_case,
                                                 *row.program, inputs, originals_for(row, inputs, context));
  const AccuracyOutcome assessment =
      assess(*experiment, test_case, data, acceptances(test_case, data, row.unit_error));
  experiment->release();
  if (assessment.status != Status::Fail) return {{}, {std::move(experiment), assessment.outputs}};
  const std::string kind = diagnosis_text(assessment.result);
  return {
      .wrong = Outcome{Status::Fail,
                       fmt::format("right on the case's own data, wrong on data of a seed that it could not "
                                   "know (--secret-seed {}): {}{}{}",
                                   *seed, assessment.reason, kind.empty() ? "" : "; ", kind)},
      .timed = {}};
}

}  // namespace assay
