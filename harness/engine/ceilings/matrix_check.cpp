#include "harness/engine/ceilings/matrix_check.h"

#include "harness/base/file.h"
#include "harness/base/hash.h"
#include "harness/engine/ceilings/ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <unistd.h>
#include <utility>

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr double timeout_s = 30;
constexpr std::uint32_t plain_lanes = 8;
constexpr std::uint32_t bytes_of_unit = 16;
constexpr std::uint32_t products = 2;  // the kernel adds each product so many times
constexpr std::int32_t most_half =
    8;  // halves hold integers from -most_half to this: 2 * 64 * 8 * 8 is exact

/// Numbers that look random, the same on every host: a step of a linear congruential generator (Knuth's
/// MMIX).
class Numbers {
 public:
  /// From `least` to `most`, both included.
  std::int32_t next(std::int32_t least, std::int32_t most) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return least + static_cast<std::int32_t>((state_ >> 33) % static_cast<std::uint64_t>(most - least + 1));
  }

 private:
  std::uint64_t state_ = 1;
};

bool is_real(const CooperativeShape& shape) {
  return shape.factors == DType::F16;
}

std::uint32_t units_of_row(const CooperativeShape& shape) {
  return shape.depth * static_cast<std::uint32_t>(size_of(shape.factors)) / bytes_of_unit;
}

/// `lines` rows of a, or columns of b, of `depth` integers each.
std::vector<std::int32_t> factors(Numbers& numbers, const CooperativeShape& shape, std::uint32_t lines) {
  std::vector<std::int32_t> values(std::size_t{lines} * shape.depth);
  for (std::int32_t& value : values) {
    value = is_real(shape) ? numbers.next(-most_half, most_half) : numbers.next(-128, 127);
  }
  return values;
}

std::vector<std::byte> packed(const CooperativeShape& shape, std::span<const std::int32_t> values) {
  std::vector<std::byte> bytes(values.size() * size_of(shape.factors));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_real(shape)) {
      const std::uint16_t bits = to_half(static_cast<float>(values[i])).bits;
      std::memcpy(bytes.data() + i * sizeof bits, &bits, sizeof bits);
    } else {
      bytes[i] = static_cast<std::byte>(static_cast<std::int8_t>(values[i]));
    }
  }
  return bytes;
}

/// The sums as the kernel stores them: rows of int32, or of float32.
std::vector<std::byte> exact_sums(const CooperativeShape& shape, std::span<const std::int32_t> a,
                                  std::span<const std::int32_t> b) {
  std::vector<std::byte> bytes(std::size_t{4} * shape.rows * shape.columns);
  for (std::uint32_t i = 0; i < shape.rows; ++i) {
    for (std::uint32_t j = 0; j < shape.columns; ++j) {
      std::int32_t sum = 0;
      for (std::uint32_t k = 0; k < shape.depth; ++k) sum += a[i * shape.depth + k] * b[j * shape.depth + k];
      sum *= static_cast<std::int32_t>(products);
      const std::uint32_t bits = is_real(shape) ? std::bit_cast<std::uint32_t>(static_cast<float>(sum))
                                                : static_cast<std::uint32_t>(sum);
      std::memcpy(bytes.data() + (i * shape.columns + j) * sizeof bits, &bits, sizeof bits);
    }
  }
  return bytes;
}

Define define(const char* name, std::uint32_t value) {
  return {name, std::to_string(value)};
}

Program check_program(const DeviceInfo& device, const CooperativeShape& shape, MatrixForm form) {
  const bool plain = form == MatrixForm::Plain;
  const std::uint32_t lanes = plain ? plain_lanes : device.subgroup_size;
  Dispatch dispatch{.label = "matrix check", .shader = "matrix_check.comp"};
  dispatch.defines = {
      define("MATRICES", plain ? 0 : 1),   define("MATRICES_REAL", is_real(shape) ? 1 : 0),
      define("FRAGMENT_M", shape.rows),    define("FRAGMENT_N", shape.columns),
      define("FRAGMENT_K", shape.depth),   define("ELEMENTS", plain ? 0 : shape.rows * shape.columns / lanes),
      define("UNITS", units_of_row(shape))};
  if (!plain && shape.extension == MatrixExtension::Khr) add_khr_matrices(dispatch.defines);
  dispatch.local_size = {lanes, 1, 1};
  dispatch.constants = {{"subgroup_lanes", lanes}};
  if (!plain && device.can_demand(lanes, dispatch.local_size)) dispatch.subgroup_size = lanes;
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(1), Resource::tensor(2)};
  Program program;
  program.dispatches.push_back(std::move(dispatch));
  return program;
}

Physical words(std::size_t bytes) {
  return {{Storage::Buffer, Layout::WP}, DType::I32, {static_cast<std::int64_t>(bytes / 4)}};
}

std::string line_of(const MatrixCheck& check) {
  return fmt::format("{} wrong: {} {}", check.wrong, to_string(check.shape), name_of(check.shape.extension));
}

std::string text_of(const std::string& key, std::span<const MatrixCheck> checks) {
  std::string text = key + '\n';
  for (const MatrixCheck& check : checks) text += line_of(check) + '\n';
  return text;
}

/// The results that a file holds, as lines; empty if it is another key's or damaged.
std::vector<std::string> lines_in(const fs::path& file, const std::string& key) {
  std::ifstream stream(file, std::ios::binary);
  std::string hash;
  if (!std::getline(stream, hash)) return {};
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (source_hash(text) != hash) return {};
  std::istringstream parts(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(parts, line);) lines.push_back(line);
  if (lines.empty() || lines.front() != key) return {};
  lines.erase(lines.begin());
  return lines;
}

std::optional<MatrixCheck> found(const std::vector<std::string>& lines, const CooperativeShape& shape) {
  for (std::uint32_t wrong = 0; wrong <= shape.rows * shape.columns; ++wrong) {
    const MatrixCheck check{shape, wrong};
    if (std::ranges::find(lines, line_of(check)) != lines.end()) return check;
  }
  return std::nullopt;
}

}  // namespace

std::string to_string(const MatrixCheck& check) {
  return fmt::format("{} by {}: {} of {} wrong", to_string(check.shape), name_of(check.shape.extension),
                     check.wrong, check.shape.rows * check.shape.columns);
}

bool can_check(const CooperativeShape& shape) {
  const bool integers = shape.factors == DType::I8 && shape.sums == DType::I32;
  const bool halves = shape.factors == DType::F16 && shape.sums == DType::F32;
  const std::uint32_t row_bytes = shape.depth * static_cast<std::uint32_t>(size_of(shape.factors));
  return (integers || halves) && !shape.saturates && row_bytes % bytes_of_unit == 0 &&
         shape.columns % 4 == 0 && shape.depth <= 64 && shape.rows <= 64 && shape.columns <= 64;
}

MatrixCheck matrix_check(gpu::Device& device, gpu::ShaderLibrary& shaders, const CooperativeShape& shape,
                         MatrixForm form) {
  Numbers numbers;
  const std::vector<std::int32_t> a = factors(numbers, shape, shape.rows);
  const std::vector<std::int32_t> b = factors(numbers, shape, shape.columns);
  const std::vector<std::byte> a_bytes = packed(shape, a), b_bytes = packed(shape, b);
  const std::vector<std::byte> exact = exact_sums(shape, a, b);

  const Program program = check_program(device.info(), shape, form);
  const std::vector<Physical> tensors{words(a_bytes.size()), words(b_bytes.size()), words(exact.size())};
  gpu::Workspace memory(device, program, tensors, /*guard=*/0);
  gpu::Executable executable(device, shaders, program, tensors, /*guard=*/0);
  memory.write(Resource::tensor(0), a_bytes);
  memory.write(Resource::tensor(1), b_bytes);
  memory.write(Resource::tensor(2), std::vector<std::byte>(exact.size(), std::byte{0xa5}));
  executable.run(memory, "checking matrices of " + to_string(shape), timeout_s);
  const std::vector<std::byte> sums = memory.read(Resource::tensor(2));

  MatrixCheck check{shape};
  for (std::size_t at = 0; at < exact.size(); at += 4) {
    if (std::memcmp(sums.data() + at, exact.data() + at, 4) != 0) ++check.wrong;
  }
  return check;
}

MatrixCheckStore::MatrixCheckStore(const fs::path& folder, const std::string& key)
    : file_(folder.empty() ? fs::path() : folder / (source_hash(key) + ".txt")), key_(source_hash(key)) {}

std::vector<MatrixCheck> MatrixCheckStore::load(std::span<const CooperativeShape> shapes) const {
  if (file_.empty()) return {};
  const std::vector<std::string> lines = lines_in(file_, key_);
  std::vector<MatrixCheck> checks;
  for (const CooperativeShape& shape : shapes) {
    const std::optional<MatrixCheck> check = found(lines, shape);
    if (!check) return {};
    checks.push_back(*check);
  }
  return checks;
}

void MatrixCheckStore::store(std::span<const MatrixCheck> checks) const {
  if (file_.empty()) return;
  const std::string text = text_of(key_, checks);
  const fs::path temporary = file_.string() + ".tmp" + std::to_string(::getpid());
  std::error_code error;
  fs::create_directories(file_.parent_path(), error);
  std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
  stream << source_hash(text) << '\n' << text;
  stream.close();
  if (stream) fs::rename(temporary, file_, error);
  if (!stream || error) fs::remove(temporary, error);
}

fs::path default_matrix_check_directory() {
  const fs::path shaders = gpu::default_cache_directory();
  return shaders.empty() ? fs::path() : shaders.parent_path() / "matrices";
}

void check_matrices(gpu::Device& device, const MatrixCheckStore& store,
                    std::span<const CooperativeShape> shapes, const CheckOfShape& check) {
  std::vector<MatrixCheck> checks = store.load(shapes);
  if (checks.empty()) {
    for (const CooperativeShape& shape : shapes) checks.push_back(check(shape));
    store.store(checks);
  }
  for (const MatrixCheck& one : checks) {
    if (one.wrong > 0) device.distrust_matrices(one.shape, to_string(one));
  }
}

void check_matrices(gpu::Device& device, gpu::ShaderLibrary& shaders, const fs::path& folder) {
  const DeviceInfo& info = device.info();
  std::vector<CooperativeShape> shapes;
  for (const CooperativeShape& shape : info.cooperative_shapes) {
    const bool is_whole = shape.rows * shape.columns % info.subgroup_size == 0;
    const bool computes = info.has(is_real(shape) ? Feature::Float16 : Feature::Int8);
    if (can_check(shape) && is_whole && computes) shapes.push_back(shape);
  }
  if (shapes.empty()) return;
  std::string key = info.uuid + '\n' + ceilings_driver(info);
  for (const CooperativeShape& shape : shapes) {
    for (const Dispatch& dispatch : check_program(info, shape, MatrixForm::OfDevice).dispatches) {
      key += '\n' + shaders.compile(dispatch.shader, dispatch.defines).hash;
    }
  }
  check_matrices(device, MatrixCheckStore(folder, key), shapes,
                 [&](const CooperativeShape& shape) { return matrix_check(device, shaders, shape); });
}

}  // namespace assay
