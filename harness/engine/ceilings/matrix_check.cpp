#include "harness/engine/ceilings/matrix_check.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/hash.h"
#include "harness/engine/ceilings/ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <numeric>
#include <optional>
#include <sstream>
#include <sys/file.h>
#include <utility>
#include <vector>

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr double timeout_s = 30;
constexpr std::uint32_t plain_lanes = 8;
constexpr std::uint32_t bytes_of_unit = 16;
constexpr std::uint32_t products = 2;  // times that the kernel adds each product
// Halves hold integers from -most_half to most_half: a sum of 2 * 64 products of them is exact.
constexpr std::int32_t most_half = 8;

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

/// The sums, by rows.
std::vector<std::int32_t> exact_sums(const CooperativeShape& shape, std::span<const std::int32_t> a,
                                     std::span<const std::int32_t> b) {
  std::vector<std::int32_t> sums;
  for (std::uint32_t i = 0; i < shape.rows; ++i) {
    for (std::uint32_t j = 0; j < shape.columns; ++j) {
      std::int32_t sum = 0;
      for (std::uint32_t k = 0; k < shape.depth; ++k) sum += a[i * shape.depth + k] * b[j * shape.depth + k];
      sums.push_back(sum * static_cast<std::int32_t>(products));
    }
  }
  return sums;
}

std::uint32_t bits_of_float(std::int32_t value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

/// What the kernel makes of a sum, by its place among the sums: it adds the product of the numbers that
/// shaders/harness/matrix_check.comp gives the row and the column, below 2^13. A sum is at most 2^21, so that
/// a float32 is exact.
std::int32_t with_numbers(std::int32_t sum, std::int32_t place, std::int32_t columns) {
  return sum + (place / columns + 1) * (2 * (place % columns) + 1);
}

/// The results as the kernel stores them: rows of int32, or of float32; then, where elements are checked, as
/// many rows of float32.
std::vector<std::byte> exact_results(const CooperativeShape& shape, std::span<const std::int32_t> sums,
                                     bool with_elements) {
  std::vector<std::uint32_t> bits;
  for (const std::int32_t sum : sums) {
    bits.push_back(is_real(shape) ? bits_of_float(sum) : static_cast<std::uint32_t>(sum));
  }
  if (with_elements) {
    std::int32_t place = 0;
    for (const std::int32_t sum : sums) {
      bits.push_back(bits_of_float(with_numbers(sum, place++, static_cast<std::int32_t>(shape.columns))));
    }
  }
  const auto bytes = std::as_bytes(std::span(bits));
  return {bytes.begin(), bytes.end()};
}

bool are_equal(std::uint32_t result, std::uint32_t exact, bool as_floats) {
  if (!as_floats) return result == exact;
  return std::bit_cast<float>(result) == std::bit_cast<float>(exact);  // 0 and -0 are
}

std::uint32_t word_of_bytes(std::span<const std::byte> bytes, std::size_t index) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + index * sizeof word, sizeof word);
  return word;
}

/// Whether the sums are checked as the elements of invocations, too.
bool are_elements_checked(const DeviceInfo& device, const CooperativeShape& shape, MatrixForm form) {
  return form == MatrixForm::Plain || checks_elements(device, shape);
}

Define define(const char* name, std::uint32_t value) {
  return {name, std::to_string(value)};
}

Program check_program(const DeviceInfo& device, const CooperativeShape& shape, MatrixForm form) {
  const bool plain = form == MatrixForm::Plain;
  const std::uint32_t lanes = plain ? plain_lanes : device.subgroup_size;
  const bool with_elements = !plain && checks_elements(device, shape);
  const std::uint32_t elements = with_elements ? shape.rows * shape.columns / lanes : 0;
  Dispatch dispatch{.label = "matrix check", .shader = "matrix_check.comp"};
  dispatch.defines = {define("MATRICES", plain ? 0 : 1),   define("MATRICES_REAL", is_real(shape) ? 1 : 0),
                      define("FRAGMENT_M", shape.rows),    define("FRAGMENT_N", shape.columns),
                      define("FRAGMENT_K", shape.depth),   define("ELEMENTS", elements),
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

constexpr std::uint32_t lanes_with_places = 32;  // DeviceInfo::places_matrices()

Program places_program(const DeviceInfo& device, std::uint32_t columns, MatrixForm form) {
  const bool plain = form == MatrixForm::Plain;
  Dispatch dispatch{.label = "matrix places", .shader = "matrix_places.comp"};
  dispatch.defines = {define("MATRICES", plain ? 0 : 1), define("FRAGMENT_N", columns),
                      define("ELEMENTS", columns / 2), define("COLUMN_WORDS", columns / 4)};
  if (!plain) add_khr_matrices(dispatch.defines);
  dispatch.local_size = {lanes_with_places, 1, 1};
  if (!plain && device.can_demand(lanes_with_places, dispatch.local_size)) {
    dispatch.subgroup_size = lanes_with_places;
  }
  dispatch.bindings = {Resource::tensor(0)};
  Program program;
  program.dispatches.push_back(std::move(dispatch));
  return program;
}

Physical words(std::size_t bytes) {
  return {{Storage::Buffer, Layout::WP}, DType::I32, {static_cast<std::int64_t>(bytes / 4)}};
}

constexpr std::uintmax_t most_bytes = 1 << 20;  // of a file of results

/// A message as a part of a line of the file.
std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\t', ' ');
  return text;
}

/// "ended<tab>12<tab>16x16x32 i8 to i32 VK_KHR_cooperative_matrix<tab>problem"
std::string line_of(const std::string& shape, const MatrixCheckStore::Entry& entry) {
  const char* state = entry.state == MatrixCheckStore::State::Ended ? "ended" : "began";
  return fmt::format("{}\t{}\t{}\t{}", state, entry.wrong, shape, entry.problem);
}

std::vector<std::string> split(const std::string& text, char at) {
  std::istringstream stream(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

/// Adds the entry of a line; the file's checksum says that assay wrote it.
void add_line(MatrixCheckStore::Entries& entries, const std::string& line) {
  std::vector<std::string> parts = split(line, '\t');
  parts.resize(4);
  MatrixCheckStore::Entry entry;
  if (parts[0] == "ended") entry.state = MatrixCheckStore::State::Ended;
  std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), entry.wrong);
  entry.problem = parts[3];
  entries[parts[2]] = std::move(entry);
}

/// Held while shapes are checked. Without a file, or where it cannot be locked, no process waits.
class CheckLock {
 public:
  explicit CheckLock(const fs::path& file) {
    if (file.empty()) return;
    std::error_code ignored;
    fs::create_directories(file.parent_path(), ignored);
    file_.emplace(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
    if (file_->get() >= 0) ::flock(file_->get(), LOCK_EX);
  }

 private:
  std::optional<FileDescriptor> file_;
};

/// What a check finds wrong, or why it cannot be made; nothing if the device has no memory now.
std::optional<MatrixCheckStore::Entry> checked(const std::function<std::uint32_t()>& check) {
  MatrixCheckStore::Entry entry{.state = MatrixCheckStore::State::Ended};
  try {
    entry.wrong = check();
  } catch (const gpu::DeviceLost&) {
    throw;
  } catch (const gpu::Timeout&) {
    throw;
  } catch (const gpu::OutOfMemory&) {
    return std::nullopt;
  } catch (const Error& error) {
    entry.problem = one_line(error.what());
  }
  return entry;
}

/// The entry of this name: what an earlier process found, or this one finds now.
std::optional<MatrixCheckStore::Entry> known_entry(const MatrixCheckStore& store,
                                                   MatrixCheckStore::Entries& entries,
                                                   const std::string& name,
                                                   const std::function<std::uint32_t()>& check) {
  if (const auto known = entries.find(name); known != entries.end()) return known->second;
  entries[name] = {};
  store.store(entries);
  const std::optional<MatrixCheckStore::Entry> entry = checked(check);
  if (entry) entries[name] = *entry;
  if (!entry) entries.erase(name);
  store.store(entries);
  return entry;
}

MatrixCheck result_of(const CooperativeShape& shape, const MatrixCheckStore::Entry& entry) {
  const bool began = entry.state == MatrixCheckStore::State::Began;
  return {shape, entry.wrong, began ? "its check ended an earlier process" : entry.problem};
}

/// The shapes that kernels could use and that can be checked, on subgroups whose size is known.
std::vector<CooperativeShape> shapes_to_check(const DeviceInfo& info) {
  const bool knows_size = info.knows_subgroup_size({info.subgroup_size, 1, 1});
  std::vector<CooperativeShape> shapes;
  for (const CooperativeShape& shape : info.cooperative_shapes) {
    const bool is_whole = shape.rows * shape.columns % info.subgroup_size == 0;
    const bool computes = info.has(is_real(shape) ? Feature::Float16 : Feature::Int8);
    if (knows_size && can_check(shape) && is_whole && computes) shapes.push_back(shape);
  }
  return shapes;
}

/// Changes with the kernels, what they include, and what stands in them for the device's matrices. They are
/// compiled as for a device whose elements are checked.
std::string kernel_hash(const DeviceInfo& info, gpu::ShaderLibrary& shaders) {
  const CooperativeShape integers{16, 16, 32, DType::I8, DType::I32, MatrixExtension::Khr};
  const CooperativeShape halves = placed_shapes.back();
  DeviceInfo usual = info;
  usual.subgroup_size = 32;
  usual.cooperative_shapes = {integers, halves};
  std::string hash;
  for (const Program& program :
       {check_program(usual, integers, MatrixForm::OfDevice),
        check_program(usual, integers, MatrixForm::Plain), check_program(usual, halves, MatrixForm::OfDevice),
        places_program(usual, 8, MatrixForm::OfDevice), places_program(usual, 16, MatrixForm::OfDevice)}) {
    const Dispatch& dispatch = program.dispatches.front();
    hash += shaders.compile(dispatch.shader, dispatch.defines).hash;
  }
  return hash;
}

}  // namespace

std::string to_string(const MatrixCheck& check) {
  const std::string text = check.problem.empty() ? fmt::format("{} of {} wrong", check.wrong,
                                                               check.shape.rows * check.shape.columns)
                                                 : check.problem;
  return fmt::format("{} by {}: {}", to_string(check.shape), name_of(check.shape.extension), text);
}

bool can_check(const CooperativeShape& shape) {
  const bool integers = shape.factors == DType::I8 && shape.sums == DType::I32;
  const bool halves = shape.factors == DType::F16 && shape.sums == DType::F32;
  const std::uint32_t row_bytes = shape.depth * static_cast<std::uint32_t>(size_of(shape.factors));
  return (integers || halves) && !shape.saturates && row_bytes > 0 && row_bytes % bytes_of_unit == 0 &&
         shape.columns % 4 == 0 && shape.depth <= 64 && shape.rows <= 64 && shape.columns <= 64;
}

bool checks_elements(const DeviceInfo& device, const CooperativeShape& shape) {
  const std::uint32_t elements = shape.rows * shape.columns / device.subgroup_size;
  const bool has_floats = std::ranges::any_of(device.cooperative_shapes, [&](const CooperativeShape& one) {
    return one.sums == DType::F32 && one.rows == shape.rows && one.columns == shape.columns &&
           one.extension == shape.extension;
  });
  return has_floats && std::has_single_bit(elements) && elements >= 2 && elements <= 32;
}

std::uint32_t wrong_sums(const CooperativeShape& shape, std::span<const std::byte> sums,
                         std::span<const std::byte> exact) {
  const std::size_t count = std::size_t{shape.rows} * shape.columns;
  std::uint32_t wrong = 0;
  for (std::size_t sum = 0; sum < count; ++sum) {
    bool is_right = true;
    for (std::size_t at = sum; at < exact.size() / 4; at += count) {
      const bool are_floats = is_real(shape) || at >= count;
      is_right = is_right && are_equal(word_of_bytes(sums, at), word_of_bytes(exact, at), are_floats);
    }
    wrong += is_right ? 0 : 1;
  }
  return wrong;
}

MatrixCheck matrix_check(gpu::Device& device, gpu::ShaderLibrary& shaders, const CooperativeShape& shape,
                         MatrixForm form) {
  Numbers numbers;
  const std::vector<std::int32_t> a = factors(numbers, shape, shape.rows);
  const std::vector<std::int32_t> b = factors(numbers, shape, shape.columns);
  const std::vector<std::byte> a_bytes = packed(shape, a), b_bytes = packed(shape, b);
  const bool with_elements = are_elements_checked(device.info(), shape, form);
  const std::vector<std::byte> exact = exact_results(shape, exact_sums(shape, a, b), with_elements);

  const Program program = check_program(device.info(), shape, form);
  const std::vector<Physical> tensors{words(a_bytes.size()), words(b_bytes.size()), words(exact.size())};
  gpu::Workspace memory(device, program, tensors, /*guard=*/0);
  gpu::Executable executable(device, shaders, program, tensors, /*guard=*/0);
  memory.write(Resource::tensor(0), a_bytes);
  memory.write(Resource::tensor(1), b_bytes);
  memory.write(Resource::tensor(2), std::vector<std::byte>(exact.size(), std::byte{0xa5}));
  executable.run(memory, "checking matrices of " + to_string(shape), timeout_s);
  const std::vector<std::byte> sums = memory.read(Resource::tensor(2));

  return {.shape = shape, .wrong = wrong_sums(shape, sums, exact), .problem = ""};
}

std::uint32_t misplaced_elements(gpu::Device& device, gpu::ShaderLibrary& shaders, std::uint32_t columns,
                                 MatrixForm form) {
  const Program program = places_program(device.info(), columns, form);
  std::vector<std::uint32_t> found(lanes_with_places, lanes_with_places * columns);
  const std::vector<Physical> tensors{words(found.size() * sizeof found.front())};
  gpu::Workspace memory(device, program, tensors, /*guard=*/0);
  gpu::Executable executable(device, shaders, program, tensors, /*guard=*/0);
  const auto bytes = std::as_bytes(std::span(found));
  memory.write(Resource::tensor(0), {bytes.begin(), bytes.end()});
  executable.run(memory, fmt::format("looking for the places of 16x{} sums of halves", columns), timeout_s);
  const std::vector<std::byte> counts = memory.read(Resource::tensor(0));
  std::memcpy(found.data(), counts.data(), counts.size());
  return std::accumulate(found.begin(), found.end(), 0U);
}

MatrixCheckStore::MatrixCheckStore(const fs::path& folder, const std::string& key) : key_(source_hash(key)) {
  if (folder.empty()) return;
  file_ = folder / (key_ + ".txt");
  lock_ = folder / (key_ + ".lock");
}

std::string MatrixCheckStore::name_of(const CooperativeShape& shape) {
  return fmt::format("{} {}", to_string(shape), assay::name_of(shape.extension));
}

MatrixCheckStore::Entries MatrixCheckStore::load() const {
  if (file_.empty()) return {};
  const std::optional<std::string> content = whole_regular_file(file_, most_bytes);
  if (!content || content->size() <= source_hash_digits) return {};
  const std::string text = content->substr(source_hash_digits + 1);
  if (source_hash(text) != content->substr(0, source_hash_digits)) return {};
  const std::vector<std::string> lines = split(text, '\n');
  if (lines.empty() || lines.front() != key_) return {};
  Entries entries;
  for (std::size_t i = 1; i < lines.size(); ++i) add_line(entries, lines[i]);
  return entries;
}

void MatrixCheckStore::store(const Entries& entries) const {
  if (file_.empty()) return;
  std::string text = key_ + '\n';
  for (const auto& [shape, entry] : entries) text += line_of(shape, entry) + '\n';
  try {
    replace_file(file_, source_hash(text) + '\n' + text);
  } catch (const Error&) {  // it is checked again by the next process
  }
}

fs::path default_matrix_check_directory() {
  return cache_directory("matrices");
}

void check_matrices(gpu::Device& device, const MatrixCheckStore& store,
                    std::span<const CooperativeShape> shapes, const CheckOfShape& check) {
  const CheckLock lock(store.lock_file());
  MatrixCheckStore::Entries entries = store.load();
  for (const CooperativeShape& shape : shapes) {
    const std::optional<MatrixCheckStore::Entry> entry =
        known_entry(store, entries, MatrixCheckStore::name_of(shape), [&] { return check(shape).wrong; });
    if (!entry) continue;
    const MatrixCheck result = result_of(shape, *entry);
    if (!result.is_right()) device.distrust_matrices(shape, to_string(result));
  }
}

void check_matrix_places(gpu::Device& device, const MatrixCheckStore& store, const CheckOfPlaces& misplaced) {
  const CheckLock lock(store.lock_file());
  MatrixCheckStore::Entries entries = store.load();
  for (const CooperativeShape& shape : placed_shapes) {
    const std::optional<MatrixCheckStore::Entry> entry =
        known_entry(store, entries, "places of " + MatrixCheckStore::name_of(shape),
                    [&] { return misplaced(shape.columns); });
    if (!entry) continue;
    MatrixCheck result = result_of(shape, *entry);
    if (result.is_right()) continue;
    if (result.problem.empty()) {
      result.problem = fmt::format("{} of {} elements do not lie where kernels expect them", result.wrong,
                                   2 * shape.rows * shape.columns);
    }
    device.distrust_matrices(placed_shapes.front(), to_string(result));
  }
}

void check_matrices(gpu::Device& device, const fs::path& folder) {
  const DeviceInfo& info = device.info();
  const std::vector<CooperativeShape> shapes = shapes_to_check(info);
  if (shapes.empty()) return;
  gpu::ShaderLibrary shaders({.directories = {}, .cache_directory = gpu::default_cache_directory()});
  const std::string key =
      fmt::format("{}\n{}\n{}", info.uuid, ceilings_driver(info), kernel_hash(info, shaders));
  const MatrixCheckStore store(folder, key);
  check_matrices(device, store, shapes,
                 [&](const CooperativeShape& shape) { return matrix_check(device, shaders, shape); });
  if (!device.info().places_matrices()) return;
  check_matrix_places(device, store,
                      [&](std::uint32_t columns) { return misplaced_elements(device, shaders, columns); });
}

}  // namespace assay
