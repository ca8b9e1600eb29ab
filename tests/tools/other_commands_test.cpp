#include <doctest/doctest.h>

#include "tests/tools/command_line_fixture.hpp"

using namespace athanor;

TEST_CASE("list shows every topic as text and as JSON") {
  for (const char* topic : {"algorithms", "topologies", "presets", "profiles", "measurements"}) {
    CAPTURE(topic);
    const Ran text = athanor_run({"list", topic});
    CHECK(text.code == 0);
    const nlohmann::json rows = athanor_run({"list", topic, "--json"}).json()["results"];
    CHECK(rows.size() >= 1);
    for (const nlohmann::json& row : rows) { CHECK(text.says(row["name"].get<std::string>())); }
  }
  CHECK(athanor_run({"list", "topologies"}).says("rail_optimized"));
  CHECK(athanor_run({"list", "profiles"}).says("ideal"));
  CHECK(athanor_run({"list", "presets"}).says("DGX-H100"));
}

TEST_CASE("describe sums up scenarios and presets, and draws them") {
  const Folder folder;
  const std::string file = folder.write("s.json", kSmall);
  const std::string dot = folder.path("s.dot");
  const Ran ran = athanor_run({"describe", file, "--dot", dot});
  CHECK(ran.code == 0);
  CHECK(ran.says("small"));
  CHECK(read_text_file(dot).find("graph") != std::string::npos);
  const nlohmann::json json = athanor_run({"describe", file, "--json"}).json()["results"][0];
  CHECK(json["name"] == "small");
  CHECK(json["endpoints"] == 4);
  CHECK(athanor_run({"describe", "DGX-H100", "--json"}).json()["results"][0]["endpoints"] == 8);
}

TEST_CASE("validate runs nothing and says what is valid") {
  const Folder folder;
  const std::string file = folder.write("s.json", kSmall);
  const Ran ran = athanor_run({"validate", file});
  CHECK(ran.code == 0);
  CHECK(ran.out == file + ": valid, 1 case\n");
  CHECK(athanor_run({"validate", file, "--json"}).json()["results"][0]["cases"][0]["ranks"] == 4);
}

TEST_CASE("the schema knows every section, and cases need nothing") {
  const nlohmann::json schema = athanor_run({"schema"}).json();
  for (const char* key : {"cluster", "network", "collective", "profile", "verify", "seed", "name"}) {
    CAPTURE(key);
    CHECK(schema["else"]["properties"].contains(key));
    CHECK(schema["then"]["properties"].contains(key));
    CHECK(schema["definitions"]["case"]["properties"].contains(key));
  }
  CHECK(schema["else"]["required"] == nlohmann::json({"cluster", "collective"}));
  CHECK_FALSE(schema["definitions"]["case"].contains("required"));
  CHECK_FALSE(schema["else"]["properties"].contains("cases"));
}

TEST_CASE("a data folder without presets is an input error that names the file") {
  const Folder folder;
  const Ran ran = athanor_run({"list", "presets", "--data", folder.path("")});
  CHECK(ran.code == 4);
  CHECK(ran.says(folder.path("")));
}

TEST_CASE("plot says what is missing where no Python can draw") {
  const Folder folder;
  const std::string result = folder.write("r.json", "{}");
  setenv("ATHANOR_PYTHON", "/no/such/python", 1);
  const Ran ran = athanor_run({"plot", result, "--out", folder.path("plots")});
  unsetenv("ATHANOR_PYTHON");
  CHECK(ran.code == 4);
  CHECK(ran.says("ATHANOR_PYTHON is '/no/such/python', which cannot import matplotlib"));
}
