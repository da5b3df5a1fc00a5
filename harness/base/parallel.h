#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace assay {

/// A grain for parallel_for() where each element costs a few operations: fewer are not worth a thread.
inline constexpr std::int64_t cheap_grain = 1 << 15;

/// Runs body(first, last) over [0, count) in contiguous chunks of at least `grain`, on all hardware threads.
/// Serial when there is one chunk. The first exception is rethrown here.
void parallel_for(std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body);

/// From now on parallel_for uses so many threads at most in this process; 0: as many as the hardware has.
void limit_parallel_threads(int most);

/// Copies `from` to the start of `to`, which has as many bytes, on all hardware threads when they are many,
/// as are the next two. Memory that nobody touched before is got by the threads, too: that takes longer than
/// the copy.
void copy_bytes(std::span<std::byte> to, std::span<const std::byte> from);
void zero_bytes(std::span<std::byte> to);
/// Whether both hold the same bytes; `b` has as many as `a`.
bool equal_bytes(std::span<const std::byte> a, std::span<const std::byte> b);

}  // namespace assay
