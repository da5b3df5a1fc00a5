#include "references/embedding/embedding_q4gsw.h"

#include "harness/base/error.h"
#include "harness/base/parallel.h"
#include "references/common/real_output.h"

#include <algorithm>
#include <string>

namespace assay::references {
namespace {

constexpr std::int64_t values_in_a_word = 8;

template <class Y>
void write_row(const EmbeddingQ4gsw& table, const std::uint8_t* bytes, const float* scales, Y* y) {
  for (std::int64_t d = 0; d < table.dim; ++d) {
    const std::uint8_t byte = bytes[d / 2];
    const std::int32_t nibble = d % 2 == 0 ? byte >> 4 : byte & 15;
    store(y[d], scales[d / table.group_size] * static_cast<float>(nibble - 8));
  }
}

template <class Y>
void look_up(const EmbeddingQ4gsw& table, std::span<const HostTensor> inputs, std::span<Y> y) {
  const std::uint8_t* w = inputs[0].as<std::uint8_t>().data();
  const float* scale = inputs[1].as<float>().data();
  const std::span<const std::int32_t> indices = inputs[2].as<std::int32_t>();
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / table.dim);
  parallel_for(numel(table.indices), grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t row = indices[static_cast<std::size_t>(i)];
      write_row(table, w + row * (table.dim / 2), scale + row * (table.dim / table.group_size),
                y.data() + i * table.dim);
    }
  });
}

}  // namespace

Shape EmbeddingQ4gsw::y_shape() const {
  Shape shape = indices;
  shape.push_back(dim);
  return shape;
}

EmbeddingQ4gsw embedding_q4gsw_params(const Params& params) {
  const EmbeddingQ4gsw table{params.ints("indices"), params.integer("vocab"), params.integer("dim"),
                             params.integer("group_size"), parse_dtype(params.choice("dtype")).value()};
  if (table.group_size % values_in_a_word != 0) {
    throw ParameterError("group_size", "group_size is " + std::to_string(table.group_size) +
                                           ", but must be a multiple of 8, the number of values in a word");
  }
  if (table.dim % table.group_size != 0) {
    throw ParameterError("dim", "dim is " + std::to_string(table.dim) +
                                    ", but must be a multiple of group_size, which is " +
                                    std::to_string(table.group_size));
  }
  return table;
}

std::vector<Expected> embedding_q4gsw(const Params& params, std::span<const HostTensor> inputs) {
  const EmbeddingQ4gsw table = embedding_q4gsw_params(params);
  return real_output(table.dtype, table.y_shape(), [&](auto y) { look_up(table, inputs, y); });
}

}  // namespace assay::references
