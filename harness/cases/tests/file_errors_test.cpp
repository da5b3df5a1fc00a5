#include "harness/cases/tests/bad_input_test_support.h"

// Tests errors in a file as a whole.

namespace assay::cases {
namespace {

using namespace test;

class FileErrors : public BadInputTest {};

TEST_P(FileErrors, AreToldWithTheirPlace) {
  expect_message(GetParam());
}

const BadInput file_inputs[] = {
    {"EmptyFile", "", 0,
     "case.yaml:1:1: error: the file is empty: a case file has an 'op' and a list of 'cases'"},
    {"OnlyComments", R"(# nothing
# here
)",
     0, R"(case.yaml:1:1: error: the file is empty: a case file has an 'op' and a list of 'cases'
    # nothing
    ^)"},
    {"OnlyNull", "~\n", 0,
     R"(case.yaml:1:1: error: the file is empty: a case file has an 'op' and a list of 'cases'
    ~
    ^)"},
    {"AListInsteadOfAMap", R"(- a
- b
)",
     0,
     R"(case.yaml:1:1: error: a case file is a map with an 'op' and a list of 'cases', but this one is a list
    - a
    ^)"},
    {"AScalarInsteadOfAMap", "hello\n", 0,
     R"(case.yaml:1:1: error: a case file is a map with an 'op' and a list of 'cases', but this one is the text 'hello'
    hello
    ^)"},
    {"SyntaxErrorInAFlowList", R"(op: quantize_affine
cases: [{name: a
)",
     0, R"(case.yaml:2:17: error: YAML syntax: end of map flow not found for the map that begins at 2:9
    cases: [{name: a
                    ^)"},
    {"SyntaxErrorInAMap", with(quantize_file, "    shape: [8, 6]", "    shape: [8, 6]: 3"), 0,
     R"(case.yaml:4:18: error: YAML syntax: illegal map value
        shape: [8, 6]: 3
                     ^)"},
    {"UnclosedQuote", with(quantize_file, "name: one", R"(name: "one)"), 0,
     R"(case.yaml:3:11: error: YAML syntax: this quote is never closed
      - name: "one
              ^)"},
    {"TabsAsIndentation", R"(op: quantize_affine
cases:
	- name: one
)",
     0, R"(case.yaml:3:2: error: YAML syntax: illegal block entry; indent with blanks, not tabs
    	- name: one
    	^)"},
    {"SecondDocument", quantize_file + R"(---
op: quantize_affine
)",
     0,
     R"(case.yaml:6:1: error: a second YAML document begins here: a file holds one; put it in a file of its own
    ---
    ^)"},
    {"UnknownFileKey", "opp: quantize_affine\n" + quantize_file, 1, R"(case.yaml:1:1: error: unknown key 'opp'
    opp: quantize_affine
    ^
    did you mean 'op'?)"},
    {"UnknownFileKeyFarFromAll", "frobnicate: 1\n" + quantize_file, 1,
     R"(case.yaml:1:1: error: unknown key 'frobnicate'; known: op, include, sets, defaults, cases, chain, params, tensors, nodes, outputs
    frobnicate: 1
    ^)"},
    {"DuplicateFileKey", quantize_file + "op: q8ta_pixel_shuffle\n", 1,
     R"(case.yaml:6:1: error: duplicate key 'op', already given at 1:1
    op: q8ta_pixel_shuffle
    ^)"},
    {"UnknownOp", with(quantize_file, "quantize_affine", "quantize_afine"), 0,
     R"(case.yaml:1:1: error: unknown op 'quantize_afine'
    op: quantize_afine
    ^
    did you mean 'quantize_affine'?)"},
    {"OpOfWrongType", with(quantize_file, "op: quantize_affine", "op: [quantize_affine]"), 0,
     R"(case.yaml:1:1: error: 'op' must be text, got a list
    op: [quantize_affine]
    ^)"},
    {"OpWithoutValue", with(quantize_file, "op: quantize_affine", "op:"), 0,
     R"(case.yaml:1:1: error: 'op' has no value
    op:
    ^)"},
    {"CasesWithoutOp", with(quantize_file, "op: quantize_affine\n", ""), 0,
     R"(case.yaml:1:1: error: a file with 'cases' needs an 'op'
    cases:
    ^)"},
    {"OpWithoutCases", "op: quantize_affine\n", 0,
     R"(case.yaml:1:1: error: the file names the op 'quantize_affine' but has no 'cases'
    op: quantize_affine
    ^)"},
    {"CasesOfWrongType", R"(op: quantize_affine
cases: {name: one}
)",
     0, R"(case.yaml:2:1: error: 'cases' must be a list of cases, got a map
    cases: {name: one}
    ^)"},
    {"CasesEmpty", R"(op: quantize_affine
cases: []
)",
     0, R"(case.yaml:2:1: error: 'cases' is an empty list
    cases: []
    ^)"},
    {"CasesWithoutValue", R"(op: quantize_affine
cases:
)",
     0, R"(case.yaml:2:1: error: 'cases' has no value
    cases:
    ^)"},
    {"CaseEmpty", R"(op: quantize_affine
cases:
  -
)",
     0, R"(case.yaml:2:1: error: a case in this list is empty
    cases:
    ^)"},
    {"CaseOfWrongType", R"(op: quantize_affine
cases:
  - one
)",
     0, R"(case.yaml:3:5: error: a case must be a map with a 'name', got the text 'one'
      - one
        ^)"},
    {"ExplicitTag", with(quantize_file, "name: one", "name: !!str one"), 0,
     R"(case.yaml:3:11: error: YAML tags ('!...') are not part of the case language
      - name: !!str one
              ^)"},
    {"MergeKey", with(quantize_file, "    shape: [8, 6]", "    <<: {shape: [8, 6]}"), 0,
     R"(case.yaml:4:5: error: merge keys ('<<') are not part of the case language: share values by `sets:` or `defaults:`
        <<: {shape: [8, 6]}
        ^)"},
    {"KeyThatIsAList", with(quantize_file, "    shape: [8, 6]", R"(    ? [shape]
    : [8, 6])"),
     0, R"(case.yaml:4:7: error: a key must be a name, but this one is a list
        ? [shape]
          ^)"},
    {"AliasInsideItsAnchor", R"(op: quantize_affine
sets: {a: &a [*a]}
)",
     0, R"(case.yaml:2:15: error: this alias is inside its own anchor
    sets: {a: &a [*a]}
                  ^)"},
    {"UnknownAnchor", with(quantize_file, "[8, 6]", "*nothing"), 0,
     R"(case.yaml:4:12: error: YAML syntax: the referenced anchor is not defined
        shape: *nothing
               ^)"},
    {"ControlCharacter", R"(op: quantize_affine
cases: 
)",
     0, "case.yaml:2:1: error: not a text file: byte 0x04 at offset 27 is not UTF-8 text"},
    {"NotUtf8", "op: quantize_affine\ncases: \xff\n", 0,
     "case.yaml:2:1: error: not a text file: byte 0xff at offset 27 is not UTF-8 text"},
    {"MissingInclude", R"(include: [sets.yaml, nothing.yaml]
=== sets.yaml
sets: {a: 1}
)",
     0, R"(case.yaml:1:22: error: included file nothing.yaml does not exist
    include: [sets.yaml, nothing.yaml]
                         ^)"},
    {"IncludeOfItself", "include: [case.yaml]\n" + quantize_file, 1,
     R"(case.yaml:1:11: error: include cycle: case.yaml -> case.yaml
    include: [case.yaml]
              ^)"},
    {"IncludeCycle", "include: [b.yaml]\n" + quantize_file + R"(=== b.yaml
include: [deeper/c.yaml]
=== deeper/c.yaml
sets: {a: 1}
include: [../case.yaml]
)",
     1, R"(deeper/c.yaml:2:11: error: include cycle: case.yaml -> b.yaml -> deeper/c.yaml -> case.yaml
    include: [../case.yaml]
              ^)"},
    {"IncludeIsNoList", "include: sets.yaml\n", 0,
     R"(case.yaml:1:1: error: 'include' must be a list of files, got the text 'sets.yaml'
    include: sets.yaml
    ^)"},
    {"IncludeOfAMap", "include: [{file: sets.yaml}]\n", 0,
     R"(case.yaml:1:11: error: an include must be the name of a file
    include: [{file: sets.yaml}]
              ^)"},
    {"IncludedFileIsBad", "include: [b.yaml]\n" + quantize_file + R"(=== b.yaml
sets: [
)",
     1, R"(b.yaml:1:8: error: YAML syntax: end of sequence flow not found for the list that begins at 1:7
    sets: [
           ^)"},
    {"IncludedFileIsAShader", "include: [b.comp]\n" + quantize_file + R"(=== b.comp
sets: [
)",
     1,
     "b.comp: error: this is a kernel, and not a case file (those end in .yaml): to run one in place of "
     "assay's own "
     "of the same name, give its folder with --shaders; to run one of yours as an op, write a manifest "
     "beside it and "
     "give that folder with --ops: `assay new-op NAME --external` makes one that works (docs/own-ops.md)"},
    {"TwoIncludesDefineOneSet", R"(include: [a.yaml, b.yaml]
=== a.yaml
sets: {s: 1}
=== b.yaml
sets: {s: 2}
)",
     0, R"(case.yaml:1:19: error: the set 's' is defined at a.yaml:1 and at b.yaml:1
    include: [a.yaml, b.yaml]
                      ^)"},
    {"SetDefinedAgain", R"(include: [a.yaml]
sets: {s: 3}
=== a.yaml
sets: {s: 1}
)",
     0, R"(case.yaml:2:8: error: the set 's' is already defined at a.yaml:1
    sets: {s: 3}
           ^)"},
};

INSTANTIATE_TEST_SUITE_P(Load, FileErrors, testing::ValuesIn(file_inputs), name_of_bad_input);

}  // namespace
}  // namespace assay::cases
