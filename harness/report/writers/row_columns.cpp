#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/record/record.h"
#include "harness/report/writers/column_parts.h"

#include <utility>

namespace assay {
namespace {

Column text(std::string name, std::string meaning, std::string RowInfo::*member) {
  return {std::move(name), "text", std::move(meaning),
          [member](const RunInfo&, const Record& record) { return record.info.*member; }};
}

// A column that is empty if the number is not given.
Column count(std::string name, std::string meaning, std::int64_t RowInfo::*member) {
  return {std::move(name), "number", std::move(meaning), [member](const RunInfo&, const Record& record) {
            return record.info.*member > 0 ? std::to_string(record.info.*member) : "";
          }};
}

/// "0.1.0+b1a8850ccc06" names the commit after the plus.
std::string commit_of(const std::string& version) {
  const std::size_t plus = version.find('+');
  return plus == std::string::npos ? "" : version.substr(plus + 1);
}

// A column that is empty for ops that are no chains.
template <class Get>
Column of_chain(std::string name, std::string unit, std::string meaning, Get get) {
  return {std::move(name), std::move(unit), std::move(meaning), [get](const RunInfo&, const Record& record) {
            return record.chain ? get(*record.chain) : std::string();
          }};
}

}  // namespace

Columns run_columns() {
  return {
      {"schema", "number", "version of these columns; raised when one changes its name or meaning",
       [](const RunInfo&, const Record&) { return std::to_string(csv_schema); }},
      {"run_id", "text", "id of the run that the row belongs to",
       [](const RunInfo& run, const Record&) { return run.run_id; }},
      {"device", "text", "name of the device",
       [](const RunInfo& run, const Record&) { return run.device.name; }},
      {"driver", "text", "name and version of the driver",
       [](const RunInfo& run, const Record&) { return driver_of(run.device); }},
      {"commit", "text", "commit that assay was built from; with -dirty if files had been changed",
       [](const RunInfo& run, const Record&) { return commit_of(run.version); }},
      {"date", "text", "when the run began, UTC",
       [](const RunInfo& run, const Record&) { return run.started_utc; }},
  };
}

Columns case_columns() {
  return {
      text("case", "id of the case", &RowInfo::id),
      text("op", "the op", &RowInfo::op),
      text("impl", "the impl that ran", &RowInfo::impl),
      text("group",
           "rows of one group share inputs and expected outputs: hash of op, parameters, fills and seed",
           &RowInfo::group),
      text("dtype", "type of the op's first tensor", &RowInfo::dtype),
      text("shape", "shape of the op's first tensor, slowest dim first", &RowInfo::shape),
      text("shapes", "shape of every tensor, name=shape; of a chain without the constants of single nodes",
           &RowInfo::shapes),
      text("forms", "physical form of every tensor; after CONV2D, in (), the layout that it stood for",
           &RowInfo::forms),
      text("params", "parameters of the op, name=value", &RowInfo::params),
      text("tune", "specialization constants that the case sets", &RowInfo::tune),
      text("tuned",
           "defaults that the tuning file sets instead of the built-in ones, and the line of its entry; "
           "absent: none",
           &RowInfo::tuned),
      text("fill", "fill of every input; of a chain, constants=fill if the constants of its nodes have one",
           &RowInfo::fill),
      {"seed", "number", "seed of the input data",
       [](const RunInfo&, const Record& record) { return std::to_string(record.info.seed); }},
      text("tier", "smoke, ci or nightly", &RowInfo::tier),
      text("model", "the model that the shape is from", &RowInfo::model),
      text("layer", "the layer of that model", &RowInfo::layer),
      count("calls", "calls of that layer in one step of the model", &RowInfo::calls),
      count("tokens",
            "tokens of one step of the model: what the case says, else the rows of the activation, for ops "
            "that "
            "have tokens",
            &RowInfo::tokens),
      {"shaders", "text", "folder of shaders searched before the embedded ones (--shaders)",
       [](const RunInfo&, const Record& record) { return record.info.shaders.value_or(""); }},
  };
}

Columns chain_columns() {
  using Chain = const ChainPlan&;
  return {
      of_chain("transitions", "number", "chains: copies of a tensor to another form between nodes",
               [](Chain c) { return std::to_string(c.transitions); }),
      of_chain("transition_bytes", "bytes", "chains: bytes that these copies read and write",
               [](Chain c) { return std::to_string(c.transition_bytes); }),
      of_chain("folded", "number", "chains: nodes for which nothing runs, as they change nothing",
               [](Chain c) { return std::to_string(c.folded.size()); }),
      of_chain("peak_bytes", "bytes", "chains: device memory of the tensors between nodes",
               [](Chain c) { return std::to_string(c.peak_bytes); }),
      of_chain("plan_hash", "hash", "chains: hash of the planned steps and forms; equal hashes: equal plans",
               [](Chain c) { return c.hash; }),
      of_chain("planned_with_run", "text",
               "chains, impl fastest: id of the run whose times it was planned with",
               [](Chain c) { return c.times_run; }),
  };
}

Columns cache_columns() {
  return {text("cache",
               "hot (the same memory again and again) or cold (rotating sets, so that none is in a cache)",
               &RowInfo::cache)};
}

Columns verdict_columns() {
  return {
      {"status", "text", "how the case ended: PASS, FAIL or another status",
       [](const RunInfo&, const Record& record) { return std::string(name_of(record.status)); }},
      {"reason", "text", "why, with numbers; absent for PASS",
       [](const RunInfo&, const Record& record) { return record.reason; }},
      {"retry", "text", "result of a failed row's second try: REPRODUCED or ORDER_DEPENDENT",
       [](const RunInfo&, const Record& record) { return record.retry; }},
      {"driver_retry", "text",
       "what the driver failed to do at first and did when asked again, for a pipeline that other rows may "
       "share; absent: nothing",
       [](const RunInfo&, const Record& record) { return record.driver_retry; }},
  };
}

Columns place_columns() {
  return {
      {"validation_messages", "number", "messages from the Vulkan validation layer during the case",
       [](const RunInfo&, const Record& record) { return std::to_string(record.validation_messages); }},
      {"total_ms", "ms", "wall time of the whole case, without making its group's data and reference",
       [](const RunInfo&, const Record& record) { return fixed(record.total_ms, 3); }},
      {"matrix_extension", "text",
       "extension of the cooperative matrices that the kernels multiply: KHR or NV; absent if they multiply "
       "none",
       [](const RunInfo&, const Record& record) {
         return record.accuracy ? record.accuracy->matrix_extension : "";
       }},
      {"file", "text", "case file",
       [](const RunInfo&, const Record& record) { return record.info.where.file; }},
      {"line", "number", "line of the case in that file",
       [](const RunInfo&, const Record& record) { return std::to_string(record.info.where.line); }},
      {"repro", "text", "command that runs this case again",
       [](const RunInfo&, const Record& record) { return record.repro; }},
  };
}

}  // namespace assay
