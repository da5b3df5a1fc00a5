#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace assay {

/// Which sets of inputs the programs of a timed row run over. Hot rows use the same memory again and again;
/// with two data sets their programs alternate between both.
enum class InputSets : std::uint8_t {
  One,                 ///< hot, always the same data
  AlternateByProgram,  ///< hot, two data sets in a random order
  AlternateByBatch,    ///< hot, two data sets; all programs of a submission have the same data
  Cold                 ///< so many sets in rotation that none is in a cache when it comes again
};

/// The sets of tensors that the programs of a row use, or why the row cannot be timed.
struct SetPlan {
  InputSets kind = InputSets::One;
  int sets = 1;         ///< their number
  int emptying = 0;     ///< cold: further sets, over which untimed programs run to empty the caches
  std::string refusal;  ///< a sentence with numbers; empty: the row can be timed
};

/// Enough sets of `set_bytes` that twice the last-level cache (`cache_bytes`; 0: unknown, taken for 64 MiB)
/// is used before one comes again, and further ones that empty the caches, which they fill once. All of them
/// and one that nothing uses must fit in half of the device's memory.
SetPlan cold_sets(std::int64_t set_bytes, std::uint64_t cache_bytes, std::uint64_t device_memory_bytes);

/// The plan of a hot row with two data sets, which share the memory of their outputs. They alternate by
/// program if both fill at most half of the cache, since both stay in it then; by batch if they fill more;
/// there is one set if they fill more than half of the device's memory.
SetPlan hot_sets(std::int64_t set_bytes, std::uint64_t cache_bytes, std::uint64_t device_memory_bytes);

/// The order in which programs use the sets of a cold row: round after round over all of them. Each round has
/// a new order, in which no set moves so far that its data could still be in a cache when it comes again:
/// at least seven eighths of the sets come before.
class ColdOrder {
 public:
  /// `chance` must outlive this object. There must be a set.
  ColdOrder(std::size_t sets, std::mt19937_64& chance);

  std::size_t sets() const { return order_.size(); }
  /// The sets of the next programs, one each.
  std::vector<std::size_t> take(std::size_t programs);

 private:
  void draw_round();

  std::mt19937_64* chance_;
  std::vector<std::size_t> order_;
  std::size_t next_ = 0;
};

}  // namespace assay
