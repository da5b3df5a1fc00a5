#include "harness/cases/expansion/file_keys.h"

#include "harness/cases/expansion/chain_file.h"

namespace assay::cases {

const std::vector<std::string>& case_file_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all{"op", "include", "sets", "defaults", "cases"};
    all.insert(all.end(), chain_keys().begin(), chain_keys().end());
    return all;
  }();
  return keys;
}

const std::vector<std::string>& manifest_keys() {
  static const std::vector<std::string> keys{"op",   "summary",   "version", "params",          "tensors",
                                             "work", "reference", "impls",   "include_folders", "include",
                                             "sets", "defaults",  "cases"};
  return keys;
}

}  // namespace assay::cases
