#pragma once

#include "harness/gpu/gpu.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// What a device made of a product of known numbers by one shape of its matrices.
struct MatrixCheck {
  CooperativeShape shape;
  std::uint32_t wrong = 0;  ///< elements of the sum, of rows * columns

  friend bool operator==(const MatrixCheck&, const MatrixCheck&) = default;
};

/// "16x16x16 i8 to i32 by VK_KHR_cooperative_matrix: 12 of 256 wrong"
std::string to_string(const MatrixCheck& check);

/// The device's matrices, or plain code of the same kernel (shaders/common/matrices.glslh), for tests on
/// devices without.
enum class MatrixForm : std::uint8_t { OfDevice, Plain };

/// Whether matrix_check() knows the exact sums of a shape: int8 to int32, or half floats to float32, which
/// are the shapes that kernels take.
bool can_check(const CooperativeShape& shape);

/// Multiplies integers of all of int8's range, or halves that hold small integers, so that every sum is
/// exact. Throws what running a program throws.
MatrixCheck matrix_check(gpu::Device& device, gpu::ShaderLibrary& shaders, const CooperativeShape& shape,
                         MatrixForm form = MatrixForm::OfDevice);

/// Results on disk, by device, driver and kernel: a driver is checked once. A file that is damaged counts as
/// absent, and a folder that cannot be written is no error.
class MatrixCheckStore {
 public:
  /// `key`: everything that results depend on. With an empty folder the store keeps nothing.
  MatrixCheckStore(const std::filesystem::path& folder, const std::string& key);

  /// The results for these shapes, in their order; empty unless all are known.
  std::vector<MatrixCheck> load(std::span<const CooperativeShape> shapes) const;
  void store(std::span<const MatrixCheck> checks) const;

 private:
  std::filesystem::path file_;
  std::string key_;
};

/// $XDG_CACHE_HOME/assay/matrices or ~/.cache/assay/matrices; empty without either.
std::filesystem::path default_matrix_check_directory();

/// Checks each shape that kernels may take at its first use on a device with this driver; from then on the
/// device counts as one without those that are wrong (Device::distrust_matrices).
void check_matrices(gpu::Device& device, gpu::ShaderLibrary& shaders, const std::filesystem::path& folder);

/// The same with other means to check a shape, for tests.
using CheckOfShape = std::function<MatrixCheck(const CooperativeShape&)>;
void check_matrices(gpu::Device& device, const MatrixCheckStore& store,
                    std::span<const CooperativeShape> shapes, const CheckOfShape& check);

}  // namespace assay
