#pragma once

#include "harness/device/device_info.h"
#include "harness/gpu/gpu.h"
#include "harness/op/program.h"

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

// The programs that load one part of a device as much as it can be loaded; their shaders are in
// shaders/ceilings. All run on workspaces of three buffers: two of one length (`first`, `second`), and
// `sink`, for results that are not used.

namespace assay::ceiling {

inline constexpr std::uint32_t first = 0, second = 1, sink = 2;
/// Lavapipe leaves a loop after 65535 iterations, whatever it should do.
inline constexpr std::uint32_t max_rounds = 16384;

std::vector<Physical> buffers(std::uint64_t bytes_each);

struct Kernel {
  Program program;
  double work = 0;  ///< bytes moved or operations done by one run
};

/// Enough workgroups to fill a device for several waves, of a size that every device supports.
struct Grid {
  std::uint32_t workgroups = 0;
  std::uint32_t local_size = 0;
};
Grid grid_for(const DeviceInfo& device);
/// As many invocations as grid_for() in small workgroups, so that all multiprocessors get equal shares of
/// arithmetic.
Grid arithmetic_grid_for(const DeviceInfo& device);

/// Which results are stored: those with (result & mask) == value.
struct Keep {
  std::uint32_t mask = ~0U;
  std::uint32_t value = 0x5eed1e55;

  static Keep all() { return {.mask = 0, .value = 0}; }
};

enum class Access : std::uint8_t { Copy, Read, Write };

/// How a bandwidth kernel goes through memory: see shaders/ceilings/bandwidth.comp.
struct Walk {
  std::uint32_t vectors = 4;  ///< 16-byte vectors of a buffer that an invocation has in flight
  bool rounds = true;         ///< false: every invocation goes through its part of the footprint once
};

/// Bytes of both buffers that a workgroup processes at a time; footprints are multiples of it.
std::uint64_t chunk_bytes(Walk walk, const Grid& grid);

/// Goes over the first footprint_bytes / 2 of both buffers. With walk.rounds each workgroup processes
/// `rounds` chunks, wherever that ends; else the footprint is visited once.
Kernel bandwidth_kernel(Access access, Walk walk, const Grid& grid, std::uint64_t footprint_bytes,
                        std::uint32_t rounds, Keep keep = {});

/// Writes incompressible words to both buffers.
Program fill_program(const Grid& grid, std::uint64_t bytes_each);

/// One workgroup that does nothing.
Program empty_program();

/// Multiply-adds of one kind.
struct Arithmetic {
  std::string shader;
  std::vector<Define> defines;
  double operations = 0;  ///< per invocation and round
  std::uint32_t factor = 0;
  std::uint32_t addend = 0;         ///< factor and addend as bits
  std::uint32_t subgroup_size = 0;  ///< to be demanded (Dispatch::subgroup_size)
};

enum class Real : std::uint8_t { Single, Half };
enum class Addition : std::uint8_t { Plain, Saturating };

/// Per invocation 16 chains of x = x * factor + addend (pairs of x for Half), 16 steps per round, from x = 1
/// + chain + local invocation % 8.
Arithmetic fma(Real real, float factor = 0.5F, float addend = 1.25F);
/// Per invocation 16 chains of x = dot(x, factor) + addend, 16 steps per round, from x = (chain + 1) *
/// 0x01030507 + local invocation.
Arithmetic dot4x8(Addition addition, std::uint32_t factor = 0x0103ff02, std::uint32_t addend = 0x01234567);
/// Per subgroup 8 sums of matrix products, 4 steps per round; every element of the factors is 1.
Arithmetic cooperative(const CooperativeShape& shape, std::uint32_t subgroup_size);

/// A kernel in which every invocation of the grid does `rounds` rounds.
Kernel arithmetic_kernel(const Arithmetic& arithmetic, const Grid& grid, std::uint32_t rounds,
                         Keep keep = {});

/// Each kind of kernel once, for the hash of the kernels.
std::vector<Program> all_programs();

}  // namespace assay::ceiling
