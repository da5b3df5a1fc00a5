#pragma once

#include "harness/gpu/gpu.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>

namespace assay {

/// What a device made of a product of known numbers by one shape of its matrices.
struct MatrixCheck {
  CooperativeShape shape;
  std::uint32_t wrong = 0;  ///< elements of the sum, of rows * columns
  std::string problem;      ///< why there is no sum; empty: there is one

  bool is_right() const { return wrong == 0 && problem.empty(); }
  friend bool operator==(const MatrixCheck&, const MatrixCheck&) = default;
};

/// "16x16x16 i8 to i32 by VK_KHR_cooperative_matrix: 12 of 256 wrong"
std::string to_string(const MatrixCheck& check);

/// The device's matrices, or plain code of the same kernel (shaders/common/matrices.glslh), for tests on
/// devices without.
enum class MatrixForm : std::uint8_t { OfDevice, Plain };

/// Whether matrix_check() knows the exact sums of a shape: int8 to int32, or half floats to float32, up to 64
/// in each direction.
bool can_check(const CooperativeShape& shape);

/// Whether matrix_check() also looks at the elements that an invocation holds, as kernels do that scale sums:
/// that there are rows * columns / subgroup size of them, and that loads with a stride of 0 give each one the
/// number of its row or column. Kernels need matrices of floats for that, so the device must list them in
/// this size, and 2, 4, 8, 16 or 32 elements.
bool checks_elements(const DeviceInfo& device, const CooperativeShape& shape);

/// How many of the sums of a shape, 4 bytes each, are not the exact ones: 0 and -0 are equal. Where elements
/// are checked, a float32 follows for each sum, which the kernel made from it and which must be exact, too.
std::uint32_t wrong_sums(const CooperativeShape& shape, std::span<const std::byte> sums,
                         std::span<const std::byte> exact);

/// Multiplies integers of all of int8's range, or halves that hold small integers, so that every sum is
/// exact. In plain code elements are always checked. Throws what running a program throws.
MatrixCheck matrix_check(gpu::Device& device, gpu::ShaderLibrary& shaders, const CooperativeShape& shape,
                         MatrixForm form = MatrixForm::OfDevice);

/// How many elements of matrices of halves with `columns` columns of sums, 8 or 16, do not lie where
/// shaders/common/placed_matrices.glslh says, of the sums of two products. VK_KHR_cooperative_matrix, or
/// plain code. Throws what running a program throws.
std::uint32_t misplaced_elements(gpu::Device& device, gpu::ShaderLibrary& shaders, std::uint32_t columns,
                                 MatrixForm form = MatrixForm::OfDevice);

/// Results on disk, by device, driver and kernel: a driver is checked once. A shape is noted before it is
/// checked, so that one whose check ends the process is known afterwards. A file that is damaged counts as
/// absent, and a folder that cannot be written is no error.
class MatrixCheckStore {
 public:
  enum class State : std::uint8_t { Began, Ended };
  struct Entry {
    State state = State::Began;
    std::uint32_t wrong = 0;
    std::string problem;  ///< one line without tabs
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  using Entries = std::map<std::string, Entry>;  ///< by name_of() a shape

  /// `key`: everything that results depend on. With an empty folder the store keeps nothing.
  MatrixCheckStore(const std::filesystem::path& folder, const std::string& key);

  static std::string name_of(const CooperativeShape& shape);
  Entries load() const;
  void store(const Entries& entries) const;
  /// The file that a process locks while it checks shapes, so that others wait for its results; empty: none.
  const std::filesystem::path& lock_file() const { return lock_; }

 private:
  std::filesystem::path file_, lock_;
  std::string key_;
};

/// $XDG_CACHE_HOME/assay/matrices or ~/.cache/assay/matrices; empty without either.
std::filesystem::path default_matrix_check_directory();

/// Checks each shape that can_check() at its first use on a device with this driver, with assay's own kernel;
/// from then on the device counts as one without those that are wrong, whose pipeline cannot be created, or
/// whose check ended a process (Device::distrust_matrices). Where kernels would expect places of elements
/// (DeviceInfo::places_matrices) it checks these as well; if they are others, the device counts as one
/// without the smaller shape. Throws DeviceLost and Timeout: the next process then knows the shape.
void check_matrices(gpu::Device& device,
                    const std::filesystem::path& folder = default_matrix_check_directory());

/// The same with other means to check a shape, for tests.
using CheckOfShape = std::function<MatrixCheck(const CooperativeShape&)>;
void check_matrices(gpu::Device& device, const MatrixCheckStore& store,
                    std::span<const CooperativeShape> shapes, const CheckOfShape& check);
/// `misplaced`: misplaced_elements() for a number of columns.
using CheckOfPlaces = std::function<std::uint32_t(std::uint32_t columns)>;
void check_matrix_places(gpu::Device& device, const MatrixCheckStore& store, const CheckOfPlaces& misplaced);

}  // namespace assay
