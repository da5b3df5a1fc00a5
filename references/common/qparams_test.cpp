#include "references/common/qparams.h"

#include "harness/base/error.h"
#include "references/affine/affine.h"
#include "references/affine/affine_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::references {
namespace {

using namespace test;
using testing::ElementsAre;

std::string refusal_of_axis(const Shape& shape, std::int64_t axis) {
  try {
    block_size_of(Granularity::PerChannel, shape, axis);
  } catch (const ParameterError& error) {
    return error.parameter() + ": " + error.what();
  }
  return "accepted";
}

TEST(Granularity, IsABlockSize) {
  const Shape shape{2, 3, 4, 5};
  EXPECT_THAT(block_size_of(Granularity::PerTensor, shape), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(block_size_of(Granularity::PerToken, shape), ElementsAre(1, 1, 1, 5));
  EXPECT_THAT(block_size_of(Granularity::PerToken, {7}), ElementsAre(7));
  EXPECT_THAT(block_size_of(Granularity::PerChannel, shape, 0), ElementsAre(1, 3, 4, 5));
  EXPECT_THAT(block_size_of(Granularity::PerChannel, shape, 3), ElementsAre(2, 3, 4, 1));
}

TEST(Granularity, CountsANegativeAxisFromTheEnd) {
  EXPECT_THAT(block_size_of(Granularity::PerChannel, {2, 3, 4}, -1), ElementsAre(2, 3, 1));
  EXPECT_THAT(block_size_of(Granularity::PerChannel, {2, 3, 4}, -3), ElementsAre(1, 3, 4));
}

TEST(Granularity, RefusesAnAxisThatTheShapeLacks) {
  const std::string takes = ", but shape 2x3x4 takes -3 to 2";
  EXPECT_EQ(refusal_of_axis({2, 3, 4}, 3), "axis: axis is 3" + takes);
  EXPECT_EQ(refusal_of_axis({2, 3, 4}, -4), "axis: axis is -4" + takes);
}

/// The block of an element, by the definition of the granularity.
std::int64_t plain_block_by_name(Granularity granularity, const Shape& shape, std::size_t axis,
                                 std::int64_t element) {
  if (granularity == Granularity::PerTensor) return 0;
  if (granularity == Granularity::PerToken) return element / shape.back();
  return coordinates(shape, element)[axis];
}

TEST(Granularity, GivesEveryElementTheBlockOfItsDefinition) {
  const Shape shape{3, 4, 2, 5};
  for (const Granularity granularity :
       {Granularity::PerTensor, Granularity::PerToken, Granularity::PerChannel}) {
    for (const std::size_t axis : {0u, 1u, 2u, 3u}) {
      Params named = affine_params(shape, {});
      named.set("axis", static_cast<std::int64_t>(axis));
      const Affine checked = affine(affine_params_of(granularity, named));
      EXPECT_EQ(checked.domain, ZeroPointDomain::Int);
      for (std::int64_t i = 0; i < numel(shape); ++i) {
        ASSERT_EQ(plain_block_of(checked, i), plain_block_by_name(granularity, shape, axis, i)) << i;
      }
    }
  }
}

/// `tensor`, which has 64-bit elements in the archive, in the dtype that the op takes.
template <class T>
HostTensor narrowed(const HostTensor& tensor, const Shape& shape) {
  HostTensor result(DTypeOf<T>::value, shape);
  EXPECT_EQ(result.numel(), tensor.numel());
  for (std::int64_t i = 0; i < result.numel(); ++i) result.as<T>()[i] = static_cast<T>(tensor.at(i));
  return result;
}

/// A golden vector of an op with a granularity in its name, in the form that quantize_affine takes.
struct NamedVector {
  Params params;
  std::vector<HostTensor> inputs;  ///< x, scale, zero_point
  HostTensor unrounded;            ///< x / scale in float64
};

NamedVector named_vector(Granularity granularity, const Golden& golden) {
  Params named = affine_params(golden.params.at("shape"), {});
  named.set("quant_min", golden.params.at("quant_min").get<std::int64_t>());
  named.set("quant_max", golden.params.at("quant_max").get<std::int64_t>());
  named.set("axis", golden.params.value("axis", std::int64_t{0}));
  NamedVector vector{affine_params_of(granularity, named), {golden.tensor("x")}, {}};
  const Affine checked = affine(vector.params);
  if (granularity == Granularity::PerTensor) {
    vector.inputs.emplace_back(DType::F32, checked.grid.counts);
    vector.inputs.back().as<float>()[0] = golden.params.at("scale").get<float>();
    vector.inputs.emplace_back(DType::I32, checked.grid.counts);
    vector.inputs.back().as<std::int32_t>()[0] = golden.params.at("zero_point").get<std::int32_t>();
  } else {
    vector.inputs.push_back(narrowed<float>(golden.tensor("scale"), checked.grid.counts));
    vector.inputs.push_back(narrowed<std::int32_t>(golden.tensor("zero_point"), checked.grid.counts));
  }
  vector.unrounded = HostTensor(DType::F64, checked.grid.shape);
  for (std::int64_t i = 0; i < vector.unrounded.numel(); ++i) {
    const std::int64_t block = plain_block_of(checked, i);
    vector.unrounded.as<double>()[i] = vector.inputs[0].at(i) / vector.inputs[1].at(block);
  }
  return vector;
}

/// The number of elements that differ over all vectors of an op; each of them must lie at a tie.
std::int64_t differences_at_ties(const std::string& op, Granularity granularity, std::size_t vectors) {
  const std::vector<Golden> golden_of_op = golden_vectors(op);
  EXPECT_EQ(golden_of_op.size(), vectors);
  std::int64_t flips = 0;
  for (const Golden& golden : golden_of_op) {
    const NamedVector vector = named_vector(granularity, golden);
    const std::vector<Expected> got = quantize_affine(vector.params, vector.inputs);
    const GoldenMatch match = compare(got[0].values, golden.tensor("q"), &vector.unrounded);
    EXPECT_EQ(match.mismatches, 0) << op << "/" << golden.name;
    flips += match.flips;
  }
  return flips;
}

TEST(QuantizePerTensor, GivesTheGoldenVectors) {
  EXPECT_EQ(differences_at_ties("quantize_per_tensor", Granularity::PerTensor, 5), 0);
}

// These vectors were computed in float64 and rounded after the zero point had been added. One element's
// quotient is 246.5 in float32 and 9e-6 more in float64.
TEST(QuantizePerToken, GivesTheGoldenVectorsButForOneTie) {
  EXPECT_EQ(differences_at_ties("quantize_per_token", Granularity::PerToken, 5), 1);
}

TEST(QuantizePerChannel, GivesTheGoldenVectors) {
  EXPECT_EQ(differences_at_ties("quantize_per_channel", Granularity::PerChannel, 16), 0);
}

}  // namespace

}  // namespace assay::references
