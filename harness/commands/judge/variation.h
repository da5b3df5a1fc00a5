#pragma once

#include "harness/cases/case.h"
#include "harness/commands/points/draw.h"
#include "harness/op/op.h"
#include "harness/op/params.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// Parameters with other sizes: some sizes of shapes, and of integers and lists that count something, are
/// drawn again, or one size is replaced by another everywhere, or one dim of each shape is multiplied by the
/// same factor. Everything else is kept. The op may not accept the result.
Params mutated(const Op& op, const Params& params, Draw& draw);

/// The fills that the cases of an op give each input: what its kernels must handle.
using FillPool = std::map<std::string, std::vector<FillSpec>>;
FillPool fill_pool(std::span<const Case* const> cases);

/// A case of the same op and impl that differs in anything: sizes, scales and zero points, other
/// numbers and integers, choices, forms, tunables, fills. Nothing if the op does not accept what was drawn.
std::optional<Case> varied(const Case& like, const FillPool& fills, Draw& draw);

/// `one` at larger sizes: with `least` to 4 * `least` elements in its largest tensor. Nothing if the op
/// accepts no such sizes.
std::optional<Case> enlarged(const Case& one, std::int64_t least, Draw& draw);

/// A timed case near `like`: sizes of 8 and more within a third of the old ones, and multiples of the same
/// powers of two up to 64 where that leaves a choice, since kernels rightly have faster paths for whole
/// vectors and tiles; other scales and zero points near the old ones; forms and tunables now and then those
/// of `others`, further timed cases of the op. Nothing if the op does not accept it.
std::optional<Case> nearby(const Case& like, std::span<const Case* const> others, Draw& draw);

}  // namespace assay::app
