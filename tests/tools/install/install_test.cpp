#include <doctest/doctest.h>

#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/cli/command.hpp"

namespace athanor {

namespace {

TEST_CASE("completions and the manual page know every command and its options") {
  const Ran bash = athanor_run({"completion", "bash"});
  const Ran zsh = athanor_run({"completion", "zsh"});
  const Ran manual = athanor_run({"manual"});
  for (const Command& command : commands()) {
    const std::string name(command.name);
    CHECK(bash.says("    " + name + ") words=\""));
    CHECK(zsh.says("'" + name + ":"));
    CHECK(manual.says(".SS \"athanor " + name));
  }
  CHECK(bash.says("--retry-failed"));
  CHECK(zsh.says("'*--retry-failed["));
  CHECK(zsh.says("'*--json=-["));
  CHECK(manual.says("\\fB\\-o, \\-\\-output\\fR \\fIFILE\\fR"));
  CHECK(manual.says("\n\\fB\\-\\-by\\fR \\fIWHAT\\fR"));
}

TEST_CASE("only known shells have completions") {
  const Ran ran = athanor_run({"completion", "fish"});
  CHECK(ran.code == 2);
  CHECK(ran.says("there are bash and zsh"));
}

}  // namespace

}  // namespace athanor
