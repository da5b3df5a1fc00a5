#include "harness/cases/tests/bad_input_test_support.h"

// Tests errors in each, sets and with.

namespace assay::cases {
namespace {

using namespace test;

class AxisErrors : public BadInputTest {};

TEST_P(AxisErrors, AreToldWithTheirPlace) {
  expect_message(GetParam());
}

const BadInput inputs[] = {
    {"EachWithAnotherKey", with(quantize_file, "[8, 6]", "{each: [[8, 6]], also: 1}"), 0,
     R"(case.yaml:4:13: error: 'each' must be the only key of its map: put values that go together into its items
        shape: {each: [[8, 6]], also: 1}
                ^)"},
    {"EachOfAScalar", with(quantize_file, "[8, 6]", "{each: 8}"), 0,
     R"(case.yaml:4:13: error: 'each' needs a list of at least one value
        shape: {each: 8}
                ^)"},
    {"EachOfNothing", with(quantize_file, "[8, 6]", "{each: []}"), 0,
     R"(case.yaml:4:13: error: 'each' needs a list of at least one value
        shape: {each: []}
                ^)"},
    {"EachWithANullItem", with(quantize_file, "[8, 6]", "{each: [[8, 6], ~]}"), 0,
     R"(case.yaml:4:13: error: an item of 'each' has no value
        shape: {each: [[8, 6], ~]}
                ^)"},
    {"MisspelledEach", with(quantize_file, "[8, 6]", "{eahc: [[8, 6]]}"), 0,
     R"(case.yaml:4:5: error: 'shape' must be a list of 1 to 4 integers such as [1, 16, 4, 4], got a map
        shape: {eahc: [[8, 6]]}
        ^
    did you mean 'each'?)"},
    {"OneBadItemOfAnAxis", with(quantize_file, "[8, 6]", "{each: [[8, 6], [8, six], [4, 6]]}"), 2,
     R"(case.yaml:4:28: error: 'shape[1]' must be a 64-bit decimal integer, got the text 'six'
        shape: {each: [[8, 6], [8, six], [4, 6]]}
                               ^)"},
    {"MisspelledSet", "sets: {small: [8, 6]}\n" + with(quantize_file, "[8, 6]", "smal"), 0,
     R"(case.yaml:5:5: error: 'shape' must be a list of 1 to 4 integers such as [1, 16, 4, 4], got the text 'smal'
        shape: smal
        ^
    did you mean 'small'?)"},
    {"SetThatRefersToItself", "sets: {a: b, b: {each: [a]}}\n" + with(quantize_file, "[8, 6]", "a"), 0,
     R"(case.yaml:1:25: error: set 'a' refers to itself: a -> b -> a
    sets: {a: b, b: {each: [a]}}
                            ^)"},
    {"SetNamedAsAFill", "sets: {ties: [8, 6]}\n" + quantize_file, 1,
     R"(case.yaml:1:8: error: the set's name 'ties' is also a fill: rename it
    sets: {ties: [8, 6]}
           ^)"},
    {"SetNamedAsAChoice", "sets: {f16: [8, 6]}\n" + quantize_file, 1,
     R"(case.yaml:1:8: error: the set's name 'f16' is also a choice of the parameter 'dtype' of quantize_affine: rename it
    sets: {f16: [8, 6]}
           ^)"},
    {"SetNamedAsAnImpl", "sets: {elementwise: [8, 6]}\n" + quantize_file, 1,
     R"(case.yaml:1:8: error: the set's name 'elementwise' is also an impl of quantize_affine: rename it
    sets: {elementwise: [8, 6]}
           ^)"},
    {"SetNamedAsAWordOfTheLanguage", "sets: {all: [8, 6]}\n" + quantize_file, 1,
     R"(case.yaml:1:8: error: the set's name 'all' is also a word of the case language: rename it
    sets: {all: [8, 6]}
           ^)"},
    {"SetNamedAsANumber", "sets: {2x: [8, 6]}\n" + quantize_file, 1,
     R"(case.yaml:1:8: error: a set's name may have only letters, digits and '_' and must not begin with a digit, got '2x'
    sets: {2x: [8, 6]}
           ^)"},
    {"SetWithoutValue", R"(sets:
  s:
)" + quantize_file,
     1, R"(case.yaml:2:3: error: the set 's' has no value
      s:
      ^)"},
    {"SetDefinedTwice", "sets: {s: 1, s: 2}\n" + quantize_file, 1,
     R"(case.yaml:1:14: error: duplicate key 's', already given at 1:8
    sets: {s: 1, s: 2}
                 ^)"},
    {"SetsOfWrongType", "sets: [8, 6]\n" + quantize_file, 0,
     R"(case.yaml:1:1: error: 'sets' must be a map of named values, got a list
    sets: [8, 6]
    ^)"},
    {"BadValueInsideASet", R"(op: q8ta_pixel_shuffle
sets:
  good: {x: {scale: 1, zero_point: 0}, y: {scale: 1, zero_point: 0}}
  bad: {x: {scale: 1, zero_point: 0}, y: {scale: 0, zero_point: 0}}
cases:
  - name: one
    shape: [1, 4, 2, 2]
    upscale_factor: 2
    qparams: {each: [good, bad]}
)",
     1, R"(case.yaml:4:43: error: y.scale must be finite and greater than 0 as a 32-bit float, got 0
      bad: {x: {scale: 1, zero_point: 0}, y: {scale: 0, zero_point: 0}}
                                              ^)"},
    {"WithOfAScalar", quantize_file + "    with: 3\n", 0,
     R"(case.yaml:6:5: error: 'with' must be a map of values that go together, got the text '3'
        with: 3
        ^)"},
    {"WithAnUnknownKey", with(quantize_file, "    shape: [8, 6]\n", "    with: {shpae: [8, 6]}\n"), 0,
     R"(case.yaml:4:12: error: unknown key 'shpae'
        with: {shpae: [8, 6]}
               ^
    did you mean 'shape'?)"},
    {"WithAHeadKey", quantize_file + "    with: {tier: smoke}\n", 0,
     R"(case.yaml:6:12: error: 'tier' is not allowed inside 'with'
        with: {tier: smoke}
               ^)"},
    {"WithInsideWith", quantize_file + "    with: {with: {seed: 1}}\n", 0,
     R"(case.yaml:6:12: error: 'with' is not allowed inside 'with'
        with: {with: {seed: 1}}
               ^)"},
};

INSTANTIATE_TEST_SUITE_P(Load, AxisErrors, testing::ValuesIn(inputs), name_of_bad_input);

}  // namespace
}  // namespace assay::cases
