#pragma once

#include "harness/report/record/run_info.h"

#include <compare>
#include <string>

namespace assay {

/// What makes the times of a run others than those of a plain run. Times of different kinds are neither
/// ranked nor compared with each other: each kind is a group with a heading, or is left out with a message.
/// Exact outputs are compared across kinds (compare_hashes()).
struct RunKind {
  bool robust_access = false;  ///< --robust-access: drivers add checks to every kernel
  bool validation = false;     ///< --validation: the layer takes time
  std::string as_if;           ///< --as-if: kernels are chosen for the limits of this profile; empty: none

  bool is_plain() const;
  // NOLINTNEXTLINE(modernize-use-nullptr): the check takes what the compiler generates for a null pointer
  friend auto operator<=>(const RunKind&, const RunKind&) = default;  // plain runs are first
};

RunKind kind_of_run(const RunInfo& run);

/// "plain", or "with robust access (--robust-access), with the limits of phone (--as-if)". A name from a
/// journal is made printable.
std::string kind_text(const RunKind& kind);

/// What is added to the name of a device or a table: a comma and kind_text(), or nothing for plain runs.
std::string kind_addition(const RunKind& kind);

/// Whether answers of runs of these kinds may be compared: the validation layer changes times alone.
bool have_comparable_answers(const RunKind& one, const RunKind& other);

}  // namespace assay
