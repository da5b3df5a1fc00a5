#include "harness/engine/run/secret_check.h"

#include "harness/engine/accuracy/accuracy.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/experiment.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>

namespace assay {

std::optional<Outcome> wrong_on_secret_data(const DeviceRow& row, DeviceContext& context) {
  const std::optional<std::uint64_t> seed = context.options.secret_seed;
  const Case& test_case = row.test_case();
  if (!seed || !has_secret_data(test_case)) return std::nullopt;
  context.device.tell_phase(Phase::Reference);
  const DataSet& data = row.group->secret_for(test_case, *seed);
  context.device.tell_phase(Phase::Host);
  Experiment experiment(context.device, context.shaders_of(row.plan()), test_case, *row.program,
                        *row.group->packed_secret);
  const AccuracyOutcome assessment =
      assess(experiment, test_case, data, acceptances(test_case, data, row.unit_error));
  if (assessment.status != Status::Fail) return std::nullopt;
  const std::string kind = diagnosis_text(assessment.result);
  return Outcome{Status::Fail,
                 fmt::format("right on the case's own data, wrong on data of a seed that it could not know "
                             "(--secret-seed {}): {}{}{}",
                             *seed, assessment.reason, kind.empty() ? "" : "; ", kind)};
}

}  // namespace assay
