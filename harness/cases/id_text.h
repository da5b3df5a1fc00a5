#pragma once

#include "harness/cases/style.h"
#include "harness/cases/yaml_tree.h"

#include <span>
#include <string>
#include <string_view>

namespace assay::cases {

/// A value as a segment of an id: the set's name when one was written, else lists joined by 'x', maps by '.',
/// qparams as scale_zp, fills by name, .npy files by stem, numbers in their shortest form with 'm' for minus,
/// a map of case keys by its `layer` alone where it has one; [A-Za-z0-9_.] only.
std::string segment_of(const Node& value, const Style& style);

/// The `layer` of a map of case keys, which names the map; null where there is none.
const Node* layer_of(const Node& value, const Style& style);

/// Any character but [A-Za-z0-9_.] becomes '_'.
std::string id_text(std::string_view text);

/// "a.b.c"
std::string joined(std::span<const std::string> parts, char separator);

}  // namespace assay::cases
