#include "harness/op/setup_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

const Resource x = Resource::tensor(0), w = Resource::tensor(1), y = Resource::tensor(2);
const Resource packed = Resource::scratch(0), sums = Resource::scratch(1);

std::vector<TensorSpec> tensors() {
  return {{.name = "x"}, {.name = "w", .constant = true}, {.name = "y", .role = TensorSpec::Role::Output}};
}

Dispatch dispatch(std::string label, DispatchRole role, std::vector<Binding> bindings) {
  return {.label = std::move(label), .bindings = std::move(bindings), .role = role};
}

Dispatch setup(std::vector<Binding> bindings) {
  return dispatch("pack", DispatchRole::Setup, std::move(bindings));
}

Program program(std::vector<Dispatch> dispatches) {
  return {.scratch = {{.name = "packed"}, {.name = "sums"}}, .dispatches = std::move(dispatches)};
}

const Dispatch product = dispatch("product", DispatchRole::Op, {x, packed, sums, y});

TEST(SetupRules, WeightsMayBePackedIntoScratchAndThatReadAgain) {
  EXPECT_EQ(broken_setup_rule(program({setup({w, packed}), setup({packed, sums}), product}), tensors()),
            std::nullopt);
}

TEST(SetupRules, OtherRolesBindWhatTheyLike) {
  EXPECT_EQ(broken_setup_rule(program({product}), tensors()), std::nullopt);
}

TEST(SetupRules, ActivationsAreRefusedByName) {
  EXPECT_THAT(
      broken_setup_rule(program({setup({w, packed}), setup({x, packed}), product}), tensors()),
      Optional(HasSubstr("setup dispatch 'pack' binds the input 'x', which differs from run to run")));
}

TEST(SetupRules, OutputsAreRefusedByName) {
  EXPECT_THAT(broken_setup_rule(program({setup({w, y})}), tensors()),
              Optional(HasSubstr("setup dispatch 'pack' binds the output 'y'")));
}

TEST(SetupRules, AnOutputIsNoConstantWhateverItDeclares) {
  std::vector<TensorSpec> declared = tensors();
  declared[2].constant = true;
  EXPECT_NE(broken_setup_rule(program({setup({y})}), declared), std::nullopt);
}

TEST(SetupRules, ScratchThatAnotherRoleHadBeforeIsRefused) {
  EXPECT_THAT(
      broken_setup_rule(program({product, setup({w, sums})}), tensors()),
      Optional(HasSubstr("setup dispatch 'pack' binds the scratch 'sums', which 'product' of the role "
                         "'op' binds before it")));
}

TEST(SetupScratch, IsWhatSetupDispatchesBindEachOnce) {
  EXPECT_THAT(setup_scratch(program({setup({w, sums}), setup({sums, packed}), product})),
              ElementsAre(sums, packed));
  EXPECT_THAT(setup_scratch(program({product})), IsEmpty());
}

}  // namespace
}  // namespace assay
