#pragma once

#include "harness/report/record/events.h"
#include "harness/report/record/record.h"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <string_view>

namespace assay {

// Events as lines of the journal and back. Numbers keep their value (NaN and infinities are the strings
// "nan", "inf" and "-inf"), text becomes valid UTF-8.

std::string encode_run(const RunInfo& info);
std::string encode_plan(std::span<const RowInfo> cases);
std::string encode_begin(const RowInfo& info);
std::string encode_record(const Record& record);
std::string encode_end();

/// A device's ceilings alone, as one line without its end, and back; the latter throws Error as Decoder does.
std::string encode_ceilings(const Ceilings& ceilings);
Ceilings decode_ceilings(std::string_view text);

/// Reads the lines of one journal, in order: the first says which schema the others have.
class Decoder {
 public:
  /// Tells `listener` the event of one line. Throws Error that names the field and what is wrong with it.
  void line(std::string_view line, RunListener& listener);

 private:
  int schema_ = report_schema;
};

nlohmann::ordered_json json_of(const RunInfo& info);

}  // namespace assay
