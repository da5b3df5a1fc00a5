#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::mutation {

/// A change of one line of a shader that somebody might make by mistake.
struct Fault {
  std::string id;    ///< hash of file, text of the line, operator, column and change; 12 hex digits
  std::string file;  ///< path below shaders/
  int line = 0;      ///< from 1
  int column = 0;    ///< in bytes, from 1
  std::string kind;  ///< the operator: "bound_off_by_one"
  std::string before;
  std::string after;
  std::string line_hash;   ///< of the line's text without blanks at its ends; 8 hex digits
  std::size_t offset = 0;  ///< of `before` in the source
};

/// The faults of a file, in the order of the text: the ones of each operator at each place that it fits.
/// `included` are the sources that it includes, whose structs it may use. Comments, preprocessor directives,
/// declarations with `layout` and structs are never changed. A fault may not compile, and may change nothing.
std::vector<Fault> faults_of(const std::string& file, std::string_view source,
                             const std::vector<std::string_view>& included = {});

/// The source with the fault in it.
std::string with_fault(const Fault& fault, std::string_view source);

/// The faults in an order that depends on their ids and the seed alone: the beginning is a fair draw, and a
/// change of one line moves no other line's faults.
std::vector<Fault> shuffled(std::vector<Fault> faults, std::uint64_t seed);

}  // namespace assay::mutation
