#include "harness/tensor/fill/fill.h"

#include "harness/base/parallel.h"
#include "harness/tensor/fill/fill_rules.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

// What the fills mean. Data:
//
//            float                        integer in [lo, hi]
//   normal   N(0, 1)                      bell over the range
//   uniform  [-1, 1)                      uniform
//   ties     odd multiples of 2^-3..2^-5  uniform
//   saturate half of them hi/4 to 2*hi    half of them lo or hi
//   wide     2^-20 to 2^20, both signs    uniform
//   constant the value, or 1              the value, or middle + 1
//   zero     0                            0, clamped
//   outlier  N(0, 0.05), 1 in 64 +-20     -4 to 4, 1 in 64 lo or hi
//   special  normal, 1 in 8 special       as saturate
//   mixed    see below                    bell over the range
//   nan      normal, 1 in 4 NaN           uniform
//   ends     see below                    uniform
//
// `mixed` differs from run to run of the elements. A run is a row (along the last dim) if there are at least
// eight rows, else an eighth of all elements. Run i is, by i % 8: normal; zeros; all 0.3; normal times 2^-30
// (f16: 2^-12); small with one outlier of +-20; normal with 1 in 4 NaN or infinite; negative; only NaN and
// infinities.
//
// `ends` is N(0, 0.05), except that the first and the last value of each row have magnitudes of 10 to 20, one
// negative and one positive, and every other row has a NaN or an infinity before its last value. A kernel
// that reads too few of a row's columns finds another range. The NaNs of `nan` have both signs and, besides
// the quiet bit, random bits among those that float16 has too.
//
// float16 data are the float values rounded; there `wide` stays within 2^-14..2^14 and `saturate` below
// infinity. Where the domain of float data has a largest magnitude, values beyond it, infinities included,
// become that.
//
// Where the domain says so, NaN and infinities become -infinity, and rows that do not exist yet are NaN.
//
// Scales are log-uniform in [lo, hi], except: 2^-4, 2^-3 or 2^-2 under `ties`; [lo, 4*lo] under `saturate`;
// 2^-12 to 2^4 under `wide` if the op declares no range; and the value or 2^-4 under `constant` and `zero`.
// Zero points and indices are uniform in [lo, hi], except: 0, clamped, under `zero`; and the value (or 3 for
// a zero point, middle + 1 for an index) under `constant`.

namespace assay {
namespace {

constexpr std::int64_t batch = 1024;            // elements whose bits and values are on the stack
constexpr std::int64_t batches_per_chunk = 64;  // fewer are not worth a thread

void store(float value, float& out) {
  out = value;
}
void store(float value, Half& out) {
  out = to_half(value);
}
template <class T>
void store(std::int64_t value, T& out) {
  out = static_cast<T>(value);
}

template <class T, class V>
void generate(HostTensor& tensor, const RandomBits& random, const Rule<V>& rule) {
  const std::span<T> all = tensor.as<T>();
  parallel_for(div_up(tensor.numel(), batch), batches_per_chunk, [&](std::int64_t begin, std::int64_t end) {
    std::array<Bits, batch> bits;
    std::array<V, batch> values;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i * batch;
      const auto count = static_cast<std::size_t>(std::min(batch, tensor.numel() - first));
      random.read(first, std::span(bits).first(count));
      rule(std::span(bits).first(count), first, std::span(values).first(count));
      for (std::size_t j = 0; j < count; ++j) store(values[j], all[static_cast<std::size_t>(first) + j]);
    }
  });
}

[[noreturn]] void impossible(const FillRequest& request, std::string_view role) {
  throw std::logic_error("a " + std::string(role) + " of dtype " + std::string(name_of(request.dtype)) +
                         " cannot be filled");
}

Rule<float> float_rule(const FillRequest& request) {
  switch (request.domain.role) {
    case FillRole::Data:
      return float_data_rule(request);
    case FillRole::Scale:
      return scale_rule(request);
    case FillRole::ZeroPoint:
      return float_zero_point_rule(request);
    case FillRole::Index:
      break;
  }
  impossible(request, "tensor of indices");
}

Rule<std::int64_t> integer_rule(const FillRequest& request) {
  switch (request.domain.role) {
    case FillRole::Data:
      return integer_data_rule(request);
    case FillRole::ZeroPoint:
      return zero_point_rule(request);
    case FillRole::Index:
      return index_rule(request);
    case FillRole::Scale:
      break;
  }
  impossible(request, "tensor of scales");
}

template <class T>
void set_nan_from(HostTensor& tensor, std::size_t axis, std::int64_t valid) {
  const Shape& shape = tensor.shape();
  std::int64_t row = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) row *= shape[i];
  const std::int64_t rows = shape[axis];
  const std::span<T> all = tensor.as<T>();
  T nan{};
  store(std::numeric_limits<float>::quiet_NaN(), nan);
  for (std::int64_t first = 0; first < tensor.numel(); first += rows * row) {
    for (std::int64_t i = first + valid * row; i < first + rows * row; ++i) {
      all[static_cast<std::size_t>(i)] = nan;
    }
  }
}

void hide_invalid(HostTensor& tensor, const FillDomain& domain) {
  if (!domain.valid) return;
  if (tensor.dtype() == DType::F32) set_nan_from<float>(tensor, domain.valid_axis, *domain.valid);
  if (tensor.dtype() == DType::F16) set_nan_from<Half>(tensor, domain.valid_axis, *domain.valid);
}

}  // namespace

std::int64_t row_of(const Shape& shape) {
  return shape.empty() ? 1 : shape.back();
}

std::int64_t mixed_run(const Shape& shape) {
  constexpr std::int64_t kinds = 8;
  const std::int64_t elements = numel(shape);
  const std::int64_t row = row_of(shape);
  return elements / row >= kinds ? row : div_up(elements, kinds);
}

HostTensor make_filled(DType dtype, const Shape& shape, const FillSpec& fill, const FillDomain& domain,
                       const DataKey& key) {
  if (fill.kind == FillKind::Npy) {
    throw std::logic_error("make_filled: .npy files are read by the case loader");
  }
  HostTensor tensor(dtype, shape);
  const RandomBits random(key);
  const FillRequest request{dtype,
                            fill.kind,
                            fill.value,
                            domain,
                            tensor.numel(),
                            random.pick(tensor.numel()),
                            mixed_run(shape),
                            row_of(shape)};
  switch (dtype) {
    case DType::F32:
      generate<float>(tensor, random, float_rule(request));
      break;
    case DType::F16:
      generate<Half>(tensor, random, float_rule(request));
      break;
    case DType::I32:
      generate<std::int32_t>(tensor, random, integer_rule(request));
      break;
    case DType::I16:
      generate<std::int16_t>(tensor, random, integer_rule(request));
      break;
    case DType::I8:
      generate<std::int8_t>(tensor, random, integer_rule(request));
      break;
    case DType::U8:
      generate<std::uint8_t>(tensor, random, integer_rule(request));
      break;
    case DType::F64:
    case DType::I64:
      impossible(request, "tensor");
  }
  hide_invalid(tensor, domain);
  return tensor;
}

}  // namespace assay
