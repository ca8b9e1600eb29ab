#include "tests/fuzz/subjects.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include <fmt/core.h>

#include "models/experiments/scenario/compute_profile_section.hpp"
#include "models/experiments/scenario/measurement.hpp"
#include "models/experiments/scenario/model_section.hpp"
#include "models/experiments/scenario/profile_section.hpp"
#include "models/library/library.hpp"
#include "models/traces/trace_options.hpp"
#include "sim/byte_source.hpp"
#include "sim/config/field_value.hpp"
#include "sim/file.hpp"
#include "tools/cli/errors.hpp"
#include "tools/cli/run_command_line.hpp"
#include "topologies/scenario/presets.hpp"

namespace athanor::fuzz {

namespace {

namespace files = std::filesystem;

using Read = std::function<Ended(const std::string&)>;

std::vector<std::string> files_in(const std::string& folder, const std::string& ending) {
  std::vector<std::string> found;
  for (const auto& entry : files::directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().string().ends_with(ending)) { found.push_back(entry.path().string()); }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<Seed> load(const std::vector<std::string>& paths, std::size_t most = 1U << 16U) {
  std::vector<Seed> seeds;
  for (const std::string& path : paths) {
    Seed seed{path, ByteSource(path, kMostHeld).rest()};
    if (seed.content.size() <= most) { seeds.push_back(std::move(seed)); }
  }
  if (seeds.empty()) { throw std::runtime_error("no seeds among: " + (paths.empty() ? "nothing" : paths.front())); }
  return seeds;
}

/// As the command line does it; "{}" among the words stands for the file.
Read by_command(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string& path) {
    std::vector<std::string> arguments = words;
    std::replace(arguments.begin(), arguments.end(), std::string("{}"), path);
    Ended ended;
    // Of what it read only the beginning: a trace may be valid and have millions of operations.
    constexpr std::size_t kMostKept = 1U << 16U;
    const Streams streams{.out =
                              [&](std::string_view text) {
                                ended.text += text.substr(0, kMostKept - std::min(kMostKept, ended.text.size()));
                              },
                          .err = [&](std::string_view text) { ended.text += text; },
                          .progress = false,
                          .colour = false,
                          .interrupted = [] { return false; }};
    ended.code = static_cast<int>(run_command_line(arguments, streams));
    return ended;
  };
}

/// A reader that commands use for files of the library.
Read by_reader(std::function<void(const std::string& path, Problems& problems)> reader) {
  return [reader = std::move(reader)](const std::string& path) {
    Ended ended;
    try {
      Problems problems;
      reader(path, problems);
      problems.throw_if_any();
    } catch (...) {
      const Failure failure = current_failure();
      ended.code = static_cast<int>(failure.code);
      for (const Problem& problem : failure.problems) { ended.text += problem.code + ": " + describe(problem) + "\n"; }
    }
    return ended;
  };
}

void link(const files::path& from, const files::path& to) { files::create_symlink(files::absolute(from), to); }

/// What scenarios name is found beside them: the working folder looks like the folder of shipped files.
void link_all(const files::path& from, const files::path& to) {
  files::create_directories(to);
  for (const auto& entry : files::directory_iterator(from)) {
    const files::path target = to / entry.path().filename();
    if (entry.is_directory()) {
      link_all(entry.path(), target);
    } else {
      link(entry.path(), target);
    }
  }
}

class Subjects {
 public:
  Subjects(std::string scenarios, std::string seeds, const std::string& folder)
      : scenarios_(std::move(scenarios)), seeds_(std::move(seeds)), folder_(folder) {
    link_all(scenarios_, folder_);
    link_all(seeds_, folder_ / "seeds");
  }

  std::vector<Subject> all() {
    add_scenarios();
    add_traces();
    add_imports();
    add_library();
    add_results();
    return std::move(all_);
  }

 private:
  Subject& add(std::string name, Form form, std::string file, unsigned weight, std::vector<Seed> seeds, Read read) {
    all_.push_back({.name = std::move(name),
                    .form = form,
                    .file = (folder_ / file).string(),
                    .weight = weight,
                    .seeds = std::move(seeds),
                    .read = std::move(read)});
    return all_.back();
  }

  std::vector<std::string> shipped(const std::vector<std::string>& names) const {
    std::vector<std::string> paths;
    for (const std::string& each : names) { paths.push_back((files::path(scenarios_) / each).string()); }
    return paths;
  }
  std::string seed(const char* name) const { return (files::path(seeds_) / name).string(); }

  void add_scenarios() {
    const Read read = by_command({"validate", "--data", scenarios_, "{}"});
    add("scenario", Form::json, "seeds/fuzzed.json", 800, load(files_in(seeds_ + "/scenarios", ".json")), read)
        .may_want_memory = true;
    // Many of these take a tenth of a second.
    for (const char* folder : {"", "crosscheck", "in_network", "published", "sweeps", "training", "validation"}) {
      const std::string name = fmt::format("shipped-{}", *folder == '\0' ? "scenarios" : folder);
      const std::string file = (files::path(folder) / "fuzzed.json").string();
      add(name, Form::json, file, 1, load(files_in(scenarios_ + "/" + folder, ".json")), read).may_want_memory = true;
    }
    add("exchange-csv", Form::text, "seeds/fuzzed.csv", 80, load({seed("exchange.csv")}),
        by_command({"validate", "--data", scenarios_, (folder_ / "seeds/exchange.json").string()}));
    add("htsim-matrix", Form::text, "seeds/fuzzed.cm", 80, load({seed("flows.cm")}),
        by_command({"validate", "--data", scenarios_, (folder_ / "seeds/flows.json").string()}));
  }

  /// `path`: "{}", or what names several files.
  Read trace(const char* format, const std::string& path = "{}", std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"export", "trace", path, "--set", fmt::format("/format=\"{}\"", format)};
    words.insert(words.end(), more.begin(), more.end());
    return by_command(std::move(words));
  }

  void add_traces() {
    const auto traces = [&](const std::vector<std::string>& names) {
      std::vector<std::string> paths;
      for (const std::string& each : names) { paths.push_back("traces/" + each); }
      return load(shipped(paths));
    };
    const std::vector<Seed> ets = traces({"transformer.0.et"});
    const std::vector<Seed> profiles = traces({"ddp.0.json", "ddp.1.json", "fsdp.json.gz"});
    // The trace of one rank beside those of the others, as they are shipped.
    const auto beside = [&](const std::string& others, const char* ending) {
      for (int rank = 1; rank < 4; ++rank) {
        const files::path from = files::path(scenarios_) / "traces" / fmt::format("{}.{}.{}", others, rank, ending);
        if (files::exists(from)) { link(from, folder_ / "traces" / fmt::format("fuzzed.{}.{}", rank, ending)); }
      }
      return (folder_ / "traces/fuzzed.*.").string() + ending;
    };
    add("chakra", Form::bytes, "traces/fuzzed.0.et", 160, ets, trace("chakra", beside("transformer", "et")));
    add("chakra-json", Form::json, "traces/fuzzed.0.json", 120, traces({"pipeline.0.json"}),
        trace("chakra-json", beside("pipeline", "json"), {"--set", "/drop_absent=true"}));
    add("kineto", Form::json, "traces/fuzzed.json", 160, profiles, trace("kineto"));
    add("kineto-text", Form::text, "traces/fuzzed.json", 80, profiles, trace("kineto"));
    add("astra", Form::text, "traces/fuzzed.txt", 80, traces({"layers.astra.txt"}),
        trace("astra", "{}", {"--set", "/unit=\"1us\"", "--set", "/ranks=8", "--set", "/model_ranks=2"}));
    add("simai", Form::text, "traces/fuzzed.txt", 80, traces({"moe.simai.txt"}), trace("simai"));
    add("goal", Form::text, "traces/fuzzed.goal", 80, traces({"ring.goal"}), trace("goal"));
    add("goal-binary", Form::bytes, "traces/fuzzed.bin", 80, traces({"ring.bin"}), trace("goal-binary"));
    add("own-trace", Form::json, "traces/fuzzed.json", 120, traces({"stages.json"}), trace("athanor"));
    add("trace-of-any-format", Form::bytes, "traces/fuzzed.json.gz", 40, profiles,
        by_command({"export", "trace", "{}"}))
        .compressed = true;
  }

  void add_imports() {
    const auto import = [&](const char* format, std::vector<std::string> more = {}) {
      std::vector<std::string> words{"import", "{}", "--data", scenarios_, "--format", format};
      words.insert(words.end(), more.begin(), more.end());
      return by_command(std::move(words));
    };
    const std::vector<std::string> links{"--link-rate", "100Gb/s", "--link-latency", "1us"};
    add("msccl", Form::text, "fuzzed.xml", 160, load(files_in(scenarios_ + "/algorithms", ".xml")), import("msccl"));
    add("nccl-topology", Form::text, "fuzzed.xml", 80, load(shipped({"imports/eight-h100.xml"})),
        import("nccl-topology"));
    add("nvidia-smi", Form::text, "fuzzed.txt", 80, load(shipped({"imports/four-a100.txt"})),
        import("nvidia-smi", {"--gpu", "A100-SXM-80GB", "--nic", "CX6-200GbE", "--socket-link", "amd-socket"}));
    add("ibnetdiscover", Form::text, "fuzzed.txt", 80, load(shipped({"imports/two-leaves.ibnetdiscover"})),
        import("ibnetdiscover"));
    add("slurm", Form::text, "fuzzed.conf", 80, load(shipped({"imports/topology.conf"})), import("slurm", links));
    add("slurm-yaml", Form::text, "fuzzed.yaml", 80, load(shipped({"imports/topology.yaml"})),
        import("slurm-yaml", links));
    add("htsim-topology", Form::text, "fuzzed.topo", 80, load(shipped({"imports/three-tiers.topo"})), import("htsim"));
    add("nccl-tests", Form::text, "fuzzed.txt", 80, load({seed("nccl_tests.txt")}), import("nccl-tests"));
    add("nccl-tests-json", Form::json, "fuzzed.json", 80, load({seed("nccl_tests.json")}), import("nccl-tests-json"));
    add("osu", Form::text, "fuzzed.txt", 80, load({seed("osu.txt")}), import("osu", {"--ranks", "4"}));
  }

  void add_library() {
    add("measurement", Form::json, "fuzzed.json", 120, load(files_in(scenarios_ + "/measurements", ".json"), 8192),
        by_reader([](const std::string& path, Problems& problems) { read_measurement(FileReader(), path, problems); }));
    add("profile", Form::json, "fuzzed.json", 120, load(files_in(scenarios_ + "/profiles", ".json"), 16384),
        by_reader(
            [](const std::string& path, Problems& problems) { read_profile_file(FileReader(), path, problems); }));
    add("compute-profile", Form::json, "fuzzed.json", 80, load(files_in(scenarios_ + "/profiles/compute", ".json")),
        by_reader([](const std::string& path, Problems& problems) {
          read_compute_profile_file(FileReader(), path, problems);
        }));
    for (const char* preset : {"gpus", "links", "models", "nics", "nodes", "prices", "switches"}) {
      add_presets(preset);
    }
  }

  /// A library of which one file is changed.
  void add_presets(const std::string& preset) {
    const files::path data = folder_ / ("data_" + preset);
    link_all(files::path(scenarios_) / "presets", data / "presets");
    files::remove(data / "presets" / (preset + ".json"));
    const std::string file = fmt::format("data_{}/presets/{}.json", preset, preset);
    const std::vector<Seed> seeds = load(shipped({"presets/" + preset + ".json"}), 1U << 18U);
    const std::string list = preset == "models" ? "models" : "presets";
    add("preset-" + preset, Form::json, file, 3, seeds, by_command({"list", list, "--data", data.string()}));
  }

  void add_results() {
    const std::string result = (folder_ / "result.json").string();
    make({"run", (folder_ / "seeds/scenarios/cases.json").string(), "--data", scenarios_, "--json=" + result,
          "--quiet"});
    add("result", Form::json, "fuzzed.json", 40, load({result}),
        by_command({"compare", "{}", result, "--data", scenarios_}));
    const std::string sweep = (folder_ / "sweep.sqlite").string();
    make({"sweep", (folder_ / "seeds/scenarios/sweep.json").string(), "--data", scenarios_, "--output", sweep,
          "--quiet"});
    add("sweep-file", Form::bytes, "fuzzed.sqlite", 8, load({sweep}, 1U << 20U),
        by_command({"export", "sweep", "{}", "--data", scenarios_}));
  }

  /// What no file that is shipped holds is made by the program itself.
  static void make(std::vector<std::string> words) {
    const Ended made = by_command(std::move(words))("");
    if (made.code != 0) { throw std::runtime_error("nothing to begin with: " + made.text); }
  }

  std::string scenarios_;
  std::string seeds_;
  files::path folder_;
  std::vector<Subject> all_;
};

}  // namespace

std::vector<Subject> subjects(const std::string& scenarios, const std::string& seeds, const std::string& folder) {
  return Subjects(scenarios, seeds, folder).all();
}

std::string fault_in(const Ended& ended, bool may_want_memory) {
  for (const char* word : {"this is a defect of athanor", "broken invariant"}) {
    if (const std::size_t at = ended.text.find(word); at != std::string::npos) {
      const std::size_t line = ended.text.rfind('\n', at);
      return "defect: " + ended.text.substr(line == std::string::npos ? 0 : line + 1, 400);
    }
  }
  if (!may_want_memory && ended.text.find("not enough memory") != std::string::npos) { return "memory: " + ended.text; }
  if (ended.code > 4) { return fmt::format("status {}: {}", ended.code, ended.text.substr(0, 300)); }
  if (ended.code != 0 && ended.text.empty()) { return fmt::format("status {} without a word", ended.code); }
  return "";
}

}  // namespace athanor::fuzz
