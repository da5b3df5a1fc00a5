#include "harness/commands/judge/shader_use.h"

#include <gtest/gtest.h>

namespace assay::app {
namespace {

TEST(WithoutComments, IsTheCode) {
  EXPECT_EQ(without_comments("a = b;  // why\n\n/* one\n   two */ c = d; /**/ e();\n"),
            "a = b;\n c = d;   e();\n");
  EXPECT_EQ(without_comments("// all of it"), "");
  EXPECT_EQ(without_comments("a / b; a * b; a /b/ c;\n"), "a / b; a * b; a /b/ c;\n");
}

TEST(WithoutComments, KeepsWhatMayDependOnThem) {
  for (const char* source :
       {"#include \"a//b\"\n", "int n = __LINE__;  // here\n", "// one \\\n still one\n"})
    EXPECT_EQ(without_comments(source), source);
}

}  // namespace
}  // namespace assay::app
