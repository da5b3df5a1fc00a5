#include "harness/commands/run/quiet_run.h"

#include "harness/base/error.h"
#include "harness/commands/run/run_once.h"

#include <fmt/format.h>

#include <sstream>

namespace assay::app {
namespace {

/// A terminal that discards the output that a run prints for people.
class Silence {
 public:
  explicit Silence(const Terminal& terminal, bool verbose)
      : terminal_{nowhere_, verbose ? terminal.log : nowhere_, terminal.errors} {}
  const Terminal& terminal() const { return terminal_; }

 private:
  std::ostringstream nowhere_;
  Terminal terminal_;
};

}  // namespace

RunReport quiet_run(const QuietRun& how, const std::vector<std::string>& words, Context context,
                    const Terminal& terminal, const std::function<bool()>& must_stop) {
  context.command_line = words;
  if (how.memory_limit_gib > 0) context.worker.push_back(fmt::format("{}", how.memory_limit_gib));
  RunOptions options = context.parse_run(words);
  options.attempt.may_leave_shaders_unused = how.may_leave_shaders_unused;
  const Silence silence(terminal, how.verbose);
  Session session(options);
  const RunOutcome outcome = run_once(options, context, session, silence.terminal(), must_stop);
  if (outcome.reports.size() != 1) throw Error(how.purpose + ": --device must choose one device");
  return outcome.reports.front();
}

}  // namespace assay::app
