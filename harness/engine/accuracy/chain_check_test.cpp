#include "harness/engine/accuracy/chain_check.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Scratch scratch(std::optional<std::uint32_t> in_memory_of) {
  return {.name = "s", .shape = {4}, .in_memory_of = in_memory_of};
}

Dispatch dispatch(std::vector<Binding> bindings) {
  return {.label = "work", .bindings = std::move(bindings)};
}

TEST(DeadMemory, IsWhereATensorThatSharesMemoryIsFirstBound) {
  Program program;
  // 0 and 1 are memory that others share, 2 is scratch of its own.
  program.scratch = {scratch({}), scratch({}), scratch({}), scratch(0U),
                     scratch(1U), scratch(0U), scratch(1U)};
  program.dispatches = {dispatch({Resource::tensor(0), Resource::scratch(3), Resource::scratch(2)}),
                        dispatch({Resource::scratch(3), Resource::scratch(2), Resource::scratch(4)}),
                        dispatch({Resource::scratch(4), Resource::scratch(5)}),
                        dispatch({Resource::scratch(5), Resource::tensor(1)})};
  EXPECT_THAT(memory_takings(program),
              ElementsAre(MemoryTaking{.before = 0, .scratch = 3, .memory = Resource::scratch(0)},
                          MemoryTaking{.before = 1, .scratch = 4, .memory = Resource::scratch(1)},
                          MemoryTaking{.before = 2, .scratch = 5, .memory = Resource::scratch(0)}))
      << "scratch 6 is never bound";
}

TEST(DeadMemory, IsNoneWhereNoScratchSharesMemory) {
  Program program;
  program.scratch = {scratch({})};
  program.dispatches = {dispatch({Resource::tensor(0), Resource::scratch(0)}),
                        dispatch({Resource::scratch(0), Resource::tensor(1)})};
  EXPECT_THAT(memory_takings(program), IsEmpty());
}

}  // namespace

}  // namespace assay
