#include "tests/faults/seeded/fault_list.h"

#include "harness/report/record/words.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <stdexcept>
#include <utility>

namespace assay::test {
namespace {

class Reader {
 public:
  explicit Reader(std::filesystem::path file) : file_(std::move(file)) {}

  std::vector<SeededFault> read() {
    const YAML::Node list = YAML::LoadFile(file_.string());
    if (!list.IsSequence()) throw wrong(list, "this is no list of faults");
    std::vector<SeededFault> faults;
    for (const YAML::Node& node : list) faults.push_back(fault(node));
    return faults;
  }

 private:
  std::runtime_error wrong(const YAML::Node& at, const std::string& what) const {
    return std::runtime_error(file_.string() + ":" + std::to_string(at.Mark().line + 1) + ": " + what);
  }

  SeededFault fault(const YAML::Node& node) {
    if (!node.IsMap())
      throw wrong(node, "this is no map: a fault has name, shader, was, is and filter, test or fuzz");
    check_keys(node);
    SeededFault fault;
    fault.name = text(node, "name");
    fault.shader = text(node, "shader");
    fault.was = text(node, "was");
    fault.is = text(node, "is");
    fault.all = node["all"] && node["all"].as<bool>();
    if (node["word"]) fault.word = word(node);
    fault.missed = node["missed"] && node["missed"].as<bool>();
    if (node["at_least"]) fault.at_least = node["at_least"].as<std::size_t>();
    read_who_sees_it(node, fault);
    if (fault.was.empty() || fault.was == fault.is) throw wrong(node, "'" + fault.name + "' changes nothing");
    if (!names_.insert(fault.name).second) throw wrong(node, "a second fault '" + fault.name + "'");
    return fault;
  }

  void read_who_sees_it(const YAML::Node& node, SeededFault& fault) const {
    const auto has = [&](const char* key) { return node[key] ? 1 : 0; };
    if (has("filter") + has("test") + has("fuzz") != 1) {
      throw wrong(node, "fault '" + fault.name +
                            "' needs one of filter: (rows), test: (tests of ops_test) and fuzz: (an op)");
    }
    if (node["test"]) {
      fault.tests = text(node, "test");
    } else if (node["fuzz"]) {
      fault.fuzzed_op = text(node, "fuzz");
      fault.why = text(node, "why");
      fault.in_ci = node["ci"] && node["ci"].as<bool>();
    } else {
      fault.rows = text(node, "filter");
      fault.tiers = tiers(node);
      if (node["cases"]) fault.cases = text(node, "cases");
    }
  }

  void check_keys(const YAML::Node& node) const {
    static const std::set<std::string> known{"name",   "shader", "was",   "is",   "all",
                                             "filter", "tier",   "cases", "test", "at_least",
                                             "word",   "missed", "fuzz",  "why",  "ci"};
    for (const auto& entry : node) {
      const auto key = entry.first.as<std::string>();
      if (!known.contains(key)) throw wrong(entry.first, "unknown key '" + key + "'");
    }
  }

  std::string text(const YAML::Node& node, const std::string& key) const {
    if (!node[key] || !node[key].IsScalar()) throw wrong(node, "a fault lacks the text '" + key + "'");
    return node[key].as<std::string>();
  }

  std::string word(const YAML::Node& node) const {
    std::string word = text(node, "word");
    const auto known = known_diagnoses();
    if (word != "silent" && std::ranges::find(known, word, &DiagnosisWords::word) == known.end())
      throw wrong(node["word"], "no diagnosis has the word '" + word + "'");
    if (!node["filter"]) throw wrong(node["word"], "a word is of rows: without filter: there are none");
    return word;
  }

  std::vector<std::string> tiers(const YAML::Node& node) const {
    const YAML::Node tier = node["tier"];
    if (!tier)
      throw wrong(node, "a fault that rows see lacks 'tier': smoke, ci or nightly, or a list of them");
    if (tier.IsScalar()) return {tier.as<std::string>()};
    return tier.as<std::vector<std::string>>();
  }

  std::filesystem::path file_;
  std::set<std::string> names_;
};

}  // namespace

void PrintTo(const SeededFault& fault, std::ostream* stream) {
  *stream << fault.shader;
}

std::vector<SeededFault> read_faults(const std::filesystem::path& file) {
  try {
    return Reader(file).read();
  } catch (const YAML::Exception& error) {
    throw std::runtime_error("reading the seeded faults in " + file.string() + ": " + error.what());
  }
}

std::string with_fault(const SeededFault& fault, std::string source) {
  const std::string story =
      "fault '" + fault.name + "' replaces \"" + fault.was + "\" in the shader " + fault.shader;
  std::size_t count = 0;
  for (std::size_t at = source.find(fault.was); at != std::string::npos;
       at = source.find(fault.was, at + fault.is.size())) {
    source.replace(at, fault.was.size(), fault.is);
    ++count;
  }
  if (count == 0) {
    throw std::runtime_error(story +
                             ", which does not say so any more: if the kernel still has that path, "
                             "seed the fault where it is now, else take it off the list");
  }
  if (count > 1 && !fault.all) {
    throw std::runtime_error(story + ", which says so " + std::to_string(count) +
                             " times: give more of the line, or `all: true`");
  }
  return source;
}

}  // namespace assay::test
