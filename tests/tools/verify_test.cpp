#include <doctest/doctest.h>

#include "tests/tools/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// kSmall at 1 KiB takes 6 x (1 us + 25.6 ns) = 6.1536 us.
constexpr double kExact = 6.1536;

std::string verified(const Folder& folder, double measured, const std::string& verify) {
  folder.write("m.json", measurement("all_reduce", 4, {{1024, measured}, {2048, 6.3}}));
  return folder.write("s.json",
                      small_with("\"name\"", R"("verify": {"measurement": "m.json")" + verify + R"(}, "name")"));
}

}  // namespace

TEST_CASE("an error at the threshold passes, and one above it ends with 5") {
  const Folder folder;
  const std::string file = verified(folder, kExact / 1.04, R"(, "max_error": 0.05, "to": "1KiB")");
  const Ran passed = athanor_run({"verify", file});
  CHECK(passed.code == 0);
  CHECK(passed.says("# passed"));
  CHECK(passed.says("+4.0"));
  const Ran failed = athanor_run({"verify", file, "--max-error", "3.9%"});
  CHECK(failed.code == 5);
  CHECK(failed.says("# FAILED"));
  CHECK(athanor_run({"verify", file, "--max-error", "0.041"}).code == 0);
}

TEST_CASE("too fast is as wrong as too slow") {
  const Folder folder;
  CHECK(athanor_run({"verify", verified(folder, kExact * 1.1, R"(, "max_error": 0.05)")}).code == 5);
}

TEST_CASE("only sizes from \"from\" to \"to\" count") {
  const Folder folder;
  CHECK(athanor_run({"verify", verified(folder, 100, R"(, "max_error": 0.05, "from": "2KiB")")}).code == 0);
  CHECK(athanor_run({"verify", verified(folder, 100, R"(, "max_error": 0.05, "from": "1KiB")")}).code == 5);
}

TEST_CASE("a verification that compares nothing does not pass") {
  const Folder folder;
  const Ran none = athanor_run({"verify", folder.write("s.json", kSmall)});
  CHECK(none.code == 3);
  CHECK(none.says("no case names a measurement"));
  const Ran outside = athanor_run({"verify", verified(folder, 5, R"(, "max_error": 0.05, "from": "1GiB")")});
  CHECK(outside.code == 3);
  CHECK(outside.says("no simulated size that counts was measured"));
}

TEST_CASE("errors are summed up by band, and sizes without a measurement are shown without an error") {
  const Folder folder;
  const Ran ran = athanor_run({"verify", verified(folder, kExact, "")});
  CHECK(ran.code == 0);
  CHECK(ran.says("# below 1 MiB:          2 points"));
  CHECK_FALSE(ran.says("64 MiB on"));
  CHECK(ran.says("        4096         -"));
}

TEST_CASE("cases without a measurement are left out with a warning") {
  const Folder folder;
  const std::string file = folder.path("s.json");
  verified(folder, kExact, "");
  folder.write("s.json", small_with("\"name\"", R"("cases": [{"name": "a", "verify": {"measurement": "m.json"}},
                                                            {"name": "b"}], "name")"));
  const Ran ran = athanor_run({"verify", file, "--json"});
  CHECK(ran.code == 0);
  CHECK(ran.json()["results"].size() == 3);
  CHECK(ran.says("'b' names no measurement"));
}
