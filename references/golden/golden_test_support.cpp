#include "references/golden/golden_test_support.h"

#include "harness/base/error.h"
#include "harness/tensor/npy/npy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay::test {
namespace {

constexpr std::string_view manifest_suffix = "/manifest.json";

std::string member_of(const Golden& golden, std::string_view tensor) {
  return golden.name + "/" + std::string(tensor) + ".npy";
}

Golden golden_of(const std::shared_ptr<const NpzMembers>& archive, const std::vector<std::byte>& manifest) {
  const char* text = reinterpret_cast<const char*>(manifest.data());
  const nlohmann::json parsed = nlohmann::json::parse(text, text + manifest.size());
  return {parsed.at("name"), parsed.at("params"), archive};
}

}  // namespace

HostTensor Golden::tensor(std::string_view tensor_name) const {
  const std::string member = member_of(*this, tensor_name);
  const auto found = archive->find(member);
  if (found == archive->end()) throw Error("golden vector " + name + ": its archive has no " + member);
  return parse_npy(found->second, member);
}

bool Golden::has(std::string_view tensor_name) const {
  return archive->contains(member_of(*this, tensor_name));
}

std::vector<Golden> golden_vectors(std::string_view op) {
  const std::string file = std::string(ASSAY_SOURCE_DIR "/references/golden/").append(op) + ".npz";
  const auto archive = std::make_shared<const NpzMembers>(read_npz(file));
  std::vector<Golden> vectors;
  for (const auto& [member, content] : *archive) {
    if (member.ends_with(manifest_suffix)) vectors.push_back(golden_of(archive, content));
  }
  std::sort(vectors.begin(), vectors.end(), [](const Golden& a, const Golden& b) { return a.name < b.name; });
  return vectors;
}

namespace {

bool near_tie(double pre) {
  return std::fabs(pre - std::floor(pre) - 0.5) < 1e-5;
}

}  // namespace

void set_layer(Params& params, const Golden& golden) {
  const auto& of = golden.params;
  params.set("bias", golden.has("bias"));
  params.set("activation", of.value("activation", std::string("none")));
  for (const std::string name : {"x", "y"}) {
    if (!of.contains(name + "_scale")) continue;
    params.set(name, QParams{of.at(name + "_scale"), of.at(name + "_zero_point")});
  }
}

GoldenMatch compare(const HostTensor& got, const HostTensor& want, const HostTensor* pre) {
  EXPECT_EQ(got.dtype(), want.dtype());
  EXPECT_EQ(got.shape(), want.shape());
  GoldenMatch match;
  for (std::int64_t i = 0; i < want.numel(); ++i) {
    const double difference = std::fabs(got.at(i) - want.at(i));
    if (difference == 0) continue;
    const bool flip = pre != nullptr && difference == 1 && near_tie(pre->at(i));
    ++(flip ? match.flips : match.mismatches);
  }
  return match;
}

}  // namespace assay::test
