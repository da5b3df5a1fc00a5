#pragma once

#include "harness/cases/yaml/reporter.h"
#include "harness/cases/yaml/scalars.h"
#include "harness/external/manifest/manifest.h"

#include <map>
#include <string>
#include <vector>

namespace assay::external {

using cases::Node;
using cases::required;

/// The names that expressions in a part of a manifest may use.
struct Scope {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> choices;  ///< words of each choice parameter

  bool has(const std::string& name) const;
};

/// Throws Problem for what cannot be the name of an op, parameter, tensor, impl or scratch.
void check_name(const Node& key, const std::string& what);

/// An integer or an expression over the names of the scope. Throws Problem at the place inside the text.
PlacedExpression expression_of(const Node& value, const cases::Spot& spot, const Scope& scope);

/// The names and expressions of a map; none for a null entry.
std::vector<NamedExpression> expressions_in(const Node::Entry* entry, const Scope& scope);

std::string text_in(const Node& map, const std::string& key);  ///< "" if it is absent

/// The path below `folder` of a file that a manifest names. Throws Problem if it leads out of the folder,
/// also by a link, or is no file.
std::filesystem::path file_in(const std::filesystem::path& folder, const Node& value,
                              const cases::Spot& spot);

/// The same for a folder.
std::filesystem::path folder_in(const std::filesystem::path& folder, const Node& value,
                                const cases::Spot& spot);

/// A dtype, or the name of a choice parameter whose words are dtypes.
DTypeOrParam dtype_of(const Node::Entry& entry, const Scope& scope);

}  // namespace assay::external
