#include "harness/commands/mutate/equivalent_faults.h"

#include "harness/base/error.h"
#include "harness/base/text.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace assay::app {
namespace {

constexpr std::array<const char*, 5> keys{"fault", "file", "operator", "line", "reason"};

class EquivalentList {
 public:
  explicit EquivalentList(std::filesystem::path file) : file_(std::move(file)) {}

  std::vector<EquivalentFault> read() {
    const YAML::Node list = parsed();
    std::vector<EquivalentFault> faults;
    if (list.IsNull()) return faults;  // nothing but comments
    if (!list.IsSequence()) throw wrong(list, "this is no list");
    for (const YAML::Node& node : list) faults.push_back(entry(node));
    return faults;
  }

 private:
  YAML::Node parsed() const try {
    return YAML::LoadFile(file_.string());
  } catch (const YAML::Exception& error) {
    throw Error(
        fmt::format("reading equivalent faults: {}:{}: {}", file_.string(), error.mark.line + 1, error.msg));
  }

  Error wrong(const YAML::Node& at, const std::string& what) const {
    return Error(
        fmt::format("reading equivalent faults: {}:{}: {}", file_.string(), at.Mark().line + 1, what));
  }

  EquivalentFault entry(const YAML::Node& node) {
    if (!node.IsMap()) throw wrong(node, "an entry has fault, file, operator, line and reason");
    for (const auto& pair : node) {
      const std::string key = pair.first.Scalar();
      if (std::ranges::find(keys, key) == keys.end())
        throw wrong(pair.first, fmt::format("unknown key '{}'", shortened(printable_line(key), 60)));
    }
    EquivalentFault fault{.id = text(node, "fault"),
                          .file = text(node, "file"),
                          .kind = text(node, "operator"),
                          .line_hash = text(node, "line"),
                          .reason = text(node, "reason"),
                          .where = node.Mark().line + 1};
    if (!seen_.insert(fault.id).second) throw wrong(node, fmt::format("fault {} is listed twice", fault.id));
    return fault;
  }

  std::string text(const YAML::Node& node, const char* key) const {
    const YAML::Node value = node[key];
    if (!value.IsDefined() || !value.IsScalar() || value.Scalar().empty())
      throw wrong(node, fmt::format("'{}' is missing", key));
    return value.Scalar();
  }

  std::filesystem::path file_;
  std::set<std::string> seen_;
};

std::string entry_text(const EquivalentFault& entry) {
  return fmt::format("equivalent fault {} ({}, {}; line {} of the list)", entry.id, entry.file, entry.kind,
                     entry.where);
}

}  // namespace

std::vector<EquivalentFault> read_equivalent_faults(const std::filesystem::path& file) {
  return EquivalentList(file).read();
}

void mark_equivalent(std::span<const EquivalentFault> listed, std::vector<FaultRecord>& records) {
  std::map<std::string, std::string> reasons;
  for (const EquivalentFault& one : listed) reasons[one.id] = one.reason;
  for (FaultRecord& record : records) {
    const auto found = reasons.find(record.fault.id);
    if (found == reasons.end() || record.result.end != FaultEnd::Survived) continue;
    record.result.end = FaultEnd::Equivalent;
    record.result.why = found->second;
  }
}

std::vector<std::string> wrong_entries(std::span<const EquivalentFault> listed,
                                       std::span<const mutation::Fault> all,
                                       std::span<const FaultRecord> records,
                                       const std::set<std::string>& sources) {
  std::map<std::string, std::string> line_hashes;
  std::set<std::string> files;
  for (const mutation::Fault& fault : all) {
    line_hashes[fault.id] = fault.line_hash;
    files.insert(fault.file);
  }
  std::map<std::string, const FaultResult*> results;
  for (const FaultRecord& record : records) results[record.fault.id] = &record.result;
  std::vector<std::string> wrong;
  for (const EquivalentFault& entry : listed) {
    if (!sources.contains(entry.file)) {
      wrong.push_back(entry_text(entry) + ": there is no such file any more; remove it");
      continue;
    }
    if (!files.contains(entry.file)) continue;  // not among the shaders that were asked for
    const auto hash = line_hashes.find(entry.id);
    if (hash == line_hashes.end() || hash->second != entry.line_hash) {
      wrong.push_back(entry_text(entry) +
                      ": the line has changed or is gone; look at the fault again, or remove it");
      continue;
    }
    const auto result = results.find(entry.id);
    if (result != results.end() && result->second->end == FaultEnd::Killed) {
      wrong.push_back(fmt::format("{}: row '{}' kills it; remove it from the list", entry_text(entry),
                                  result->second->kills.front().row));
    }
  }
  return wrong;
}

}  // namespace assay::app
