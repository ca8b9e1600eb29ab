#include <doctest/doctest.h>

#include "sim/file.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/cli/command.hpp"

using namespace athanor;

TEST_CASE("help names every command, and every command explains itself in two ways") {
  const Ran general = athanor_run({"--help"});
  CHECK(general.code == 0);
  CHECK(general.err.empty());
  CHECK(general.out == athanor_run({"help"}).out);
  for (const Command& command : commands()) {
    const std::string name(command.name);
    CAPTURE(name);
    CHECK(general.says("  " + name));
    const Ran help = athanor_run({"help", name});
    CHECK(help.code == 0);
    CHECK(help.says(std::string(command.example)));
    CHECK(help.says("--json"));
    CHECK(athanor_run({name, "--help"}).out == help.out);
  }
}

TEST_CASE("without a command the help text goes to stderr and the exit code is 2") {
  const Ran ran = athanor_run({});
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  CHECK(ran.err == athanor_run({"help"}).out);
}

TEST_CASE("the version names release, commit and compiler") {
  const Ran ran = athanor_run({"--version"});
  CHECK(ran.code == 0);
  CHECK(ran.out.starts_with("athanor 0."));
  for (const char* fact : {"\nbuild: ", "MPI", "CUDA", "protobuf", "SQLite ", "\ndata: "}) {
    CAPTURE(fact);
    CHECK(ran.says(fact));
  }
}

TEST_CASE("nothing is written over what is read") {
  const Folder folder;
  const std::string file = folder.write("small.json", kSmall);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"run", file, "--json=" + file},
                                                {"run", file, "--csv=" + file},
                                                {"run", file, "--trace", file},
                                                {"report", file, "-o", folder.path("./small.json")},
                                                {"compare", file, "--json=" + file},
                                                {"describe", file, "--dot", file}}) {
    const Ran ran = athanor_run(words);
    CHECK(ran.code == 2);
    CHECK(ran.says("would replace a file that the command reads"));
    CHECK(read_text_file(file) == kSmall);
  }
}

TEST_CASE("a wrong command line ends with 2 and names what is nearest") {
  const Folder folder;
  const std::string file = folder.write("small.json", kSmall);
  const std::vector<std::pair<std::vector<std::string>, std::string>> slips = {
      {{"rnu", "x.json"}, "did you mean 'run'?"},
      {{"help", "verfy"}, "did you mean 'verify'?"},
      {{"--vresion"}, "unknown option '--vresion'"},
      {{"run", file, "--jsn"}, "did you mean '--json'?"},
      {{"run", file, "--size", "1MiB"}, "did you mean '--sizes'?"},
      {{"run"}, "SCENARIO... is missing"},
      {{"describe", file, file}, "one argument too many"},
      {{"list", "algorithm"}, "did you mean 'algorithms'?"},
      {{"run", file, "--set"}, "--set"},
      {{"run", file, "--set", "collective=4"}, "expected /json/pointer=value"},
      {{"run", file, "--set", "/colective/channels=4"}, "collective"},
      {{"run", file, "--seed", "-1"}, "is not a whole number"},
      {{"run", file, "--sizes", "64"}, "--sizes '64'"},
      {{"run", file, "--sizes", "1KiB,3B"}, "--sizes: 3 B is no whole number of float32 elements"},
      {{"run", file, "--trace", folder.path("t.json")}, "--case NAME"},
      {{"verify", file, "--max-error", "five"}, "0.05 or 5%"},
      {{"describe", "DGX-H10"}, "did you mean 'DGX-H100'?"}};
  for (const auto& [words, expected] : slips) {
    const Ran ran = athanor_run(words);
    CAPTURE(words[0]);
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(ran.says(expected));
  }
}

TEST_CASE("a value that may be left out stands behind '=' alone: the next word is an argument, and stays as it is") {
  const Folder folder;
  const std::string file = folder.write("small.json", kSmall);
  const std::string text = read_text_file(file);
  for (const std::string option : {"--json", "--csv"}) {
    const Ran ran = athanor_run({"run", option, file, "--sizes", "1KiB", "--quiet"});
    CHECK(ran.code == 0);
    CHECK(!ran.out.empty());
    CHECK(athanor_run({"run", option, file, file, "--sizes", "1KiB"}).code == 0);
  }
  CHECK(athanor_run({"validate", "--resolved", file}).json()["cluster"]["nodes"].is_number());
  CHECK(read_text_file(file) == text);
}

TEST_CASE("two outputs do not share a file") {
  const Folder folder;
  const std::string file = folder.write("small.json", kSmall);
  const std::string out = folder.path("out");
  const Ran ran = athanor_run({"run", file, "--csv=" + out, "--json=" + folder.path("./out")});
  CHECK(ran.code == 2);
  CHECK(ran.says("--csv and --json would both write"));
  CHECK(athanor_run({"run", file, "--sizes", "1KiB", "--csv=/dev/null", "--json=/dev/null"}).code == 0);
}

TEST_CASE("what a scenario names and is read is not replaced by results") {
  const Folder folder;
  const std::string matrix = folder.write("sizes.csv", "0,1024\n1024,0\n");
  const std::string file =
      folder.write("exchange.json", R"({"cluster": {"nodes": 2, "fabric": {"kind": "star", "switch": "QM8700"}},
                          "collective": {"kind": "all_to_all_v", "exchange": "sizes.csv"}})");
  REQUIRE(athanor_run({"validate", file}).code == 0);
  for (const std::string option : {"--json=", "--csv="}) {
    const Ran ran = athanor_run({"run", file, option + matrix});
    CHECK(ran.code == 2);
    CHECK(ran.says("would replace a file that the command reads"));
  }
  CHECK(read_text_file(matrix) == "0,1024\n1024,0\n");
}

TEST_CASE("a seed is what a scenario can hold") {
  const Folder folder;
  const std::string file = folder.write("small.json", kSmall);
  const Ran ran = athanor_run({"run", file, "--seed", "9223372036854775808"});
  CHECK(ran.code == 2);
  CHECK(ran.says("from 0 to 9223372036854775807"));
  CHECK(athanor_run({"run", file, "--sizes", "1KiB", "--seed", "9223372036854775807"}).code == 0);
}

TEST_CASE("stdout takes one format") {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("small.json", kSmall), "--csv", "--json"});
  CHECK(ran.code == 2);
  CHECK(ran.json()["error"]["message"] == "--json and --csv cannot share stdout; write one of them as --csv=FILE");
}

TEST_CASE("files that cannot be read or written end with 4, before anything is simulated") {
  const Folder folder;
  const std::string file = folder.write("small.json", kSmall);
  const std::vector<std::vector<std::string>> attempts = {
      {"run", folder.path("absent.json")},
      {"plot", folder.path("absent.json")},
      {"run", file, "--json=" + folder.path("no/such/folder/r.json")},
      {"run", file, "--csv=" + folder.path("")},
      {"run", file, "--sizes", "1KiB", "--trace", folder.path("no/t.json")},
      {"describe", file, "--dot", folder.path("no/d.dot")},
      {"describe", file, "--fabric", folder.path("no/f.json")}};
  for (const auto& words : attempts) {
    const Ran ran = athanor_run(words);
    CAPTURE(ran.err);
    CHECK(ran.code == 4);
    CHECK(ran.out.empty());
    CHECK(ran.says(words[0] == "plot" || words.size() == 2 ? "absent.json" : folder.path("")));
  }
}

TEST_CASE("with --json every kind of error is an object on stdout too") {
  const Folder folder;
  const std::string wrong = folder.write("wrong.json", small_with("10GB/s", "10"));
  const std::vector<std::tuple<std::vector<std::string>, int, std::string>> errors = {
      {{"run", wrong, "--json"}, 3, "missing-unit"},
      {{"run", wrong, "--jsn", "--json"}, 2, "usage"},
      {{"run", folder.path("absent.json"), "--json"}, 4, "input-output"}};
  for (const auto& [words, code, expected] : errors) {
    const Ran ran = athanor_run(words);
    CHECK(ran.code == code);
    const nlohmann::json error = ran.json()["error"];
    for (const char* key : {"code", "message", "file", "line", "column", "pointer", "hint"}) {
      CAPTURE(key);
      CHECK(error.contains(key));
    }
    CHECK(error["code"] == expected);
    CHECK(ran.json()["errors"][0] == error);
  }
  const nlohmann::json error = athanor_run({"run", wrong, "--json"}).json()["error"];
  CHECK(error["file"] == wrong);
  CHECK(error["line"] == 3);
  CHECK(error["pointer"] == "/cluster/fabric/link/rate");
}

TEST_CASE("colour and progress are for terminals only") {
  const Folder folder;
  const std::string file = folder.write("small.json", kSmall);
  CHECK(athanor_with({"run", file}, -1, true).err.find("[1/3] small, all_reduce of 1 KiB") != std::string::npos);
  CHECK(athanor_with({"run", file, "--quiet"}, -1, true).err.empty());
  CHECK(athanor_run({"run", file}).err.empty());
  CHECK(athanor_with({"rnu"}, -1, true).says("\x1b["));
  CHECK_FALSE(athanor_run({"rnu"}).says("\x1b["));
}
