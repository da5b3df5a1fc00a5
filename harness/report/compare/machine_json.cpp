#include "harness/report/compare/machine_json.h"

#include "harness/base/text.h"

#include <string>

namespace assay {

nlohmann::ordered_json machine_json(const MachineShift& shift) {
  nlohmann::ordered_json json = {{"device", valid_utf8(shift.device)},
                                 {"shift", std::string(name_of(shift.evidence))},
                                 {"unchanged_rows", shift.unchanged_rows},
                                 {"ratio", shift.ratio},
                                 {"low", shift.low},
                                 {"high", shift.high},
                                 {"finding", shift.is_finding()},
                                 {"ignored", shift.is_ignored},
                                 {"text", valid_utf8(shift_text(shift))}};
  nlohmann::ordered_json& moved = json["moved"] = nlohmann::ordered_json::array();
  for (const CeilingChange& change : shift.moved) {
    moved.push_back(
        {{"what", change.what}, {"before", change.before}, {"now", change.now}, {"percent", change.percent}});
  }
  return json;
}

nlohmann::ordered_json machines_json(const std::vector<MachineShift>& shifts) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const MachineShift& shift : shifts) list.push_back(machine_json(shift));
  return list;
}

void add_net_ratio(nlohmann::ordered_json& json, const RowVerdict& row) {
  if (!(row.net_ratio > 0)) return;
  json["machine_ratio"] = row.machine_ratio;
  json["net_ratio"] = row.net_ratio;
  json["net_low"] = row.net_low;
  json["net_high"] = row.net_high;
}

}  // namespace assay
