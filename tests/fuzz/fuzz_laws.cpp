#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>

#include <fmt/core.h>

#include "tests/fuzz/laws.hpp"
#include "tests/fuzz/random_scenario.hpp"
#include "tests/fuzz/request.hpp"
#include "tests/json_tree.hpp"

namespace athanor::fuzz {

namespace {

namespace files = std::filesystem;

class Laws {
 public:
  Laws(const Request& request, std::string folder)
      : seed_(request.number("seed", 1)),
        folder_(std::move(folder)),
        data_(files::absolute(request.text("scenarios", "scenarios")).string()),
        keep_(request.text("keep", "fuzz-findings")) {
    wanted_ = watch_of(request, 200);
    wanted_.cpu_seconds = 60;  // one try is many runs
  }

  Json scenario(std::uint64_t index) const {
    RandomStream random(seed_, fmt::format("scenario {}", index));
    return random_scenario(random, data_ + "/traces");
  }

  int run() {
    const Try one = [&](std::uint64_t index) {
      RandomStream random(seed_, fmt::format("variants {}", index));
      return judge(scenario(index), folder_, data_, random);
    };
    const Watched watched = watch(wanted_, one, [&](const Fault& fault) { take(fault); });
    print(watched);
    return watched.faults.empty() ? 0 : 1;
  }

 private:
  void take(const Fault& fault) {
    const std::string law = fault.what.substr(0, fault.what.find(':'));
    if (++kinds_[law] > kMostKept) { return; }
    files::create_directories(keep_);
    const std::string path = (files::path(keep_) / fmt::format("{}-{}.json", law, fault.index)).string();
    std::ofstream(path) << text_of(scenario(fault.index), 1) << "\n";
    fmt::print("scenario {}: {}\n  kept as {}\n", fault.index, fault.what, path);
    std::fflush(stdout);
  }

  void print(const Watched& watched) const {
    std::uint64_t run = 0;
    std::uint64_t refused = 0;
    for (std::size_t subject = 0; subject < kSubjects.size(); ++subject) {
      const auto& by_code = watched.outcomes[subject];
      const std::uint64_t others = std::accumulate(by_code.begin() + 1, by_code.end(), std::uint64_t{0});
      fmt::print("{:<18} {:>8} run, {:>8} refused\n", kSubjects[subject], by_code[0], others);
      run += by_code[0];
      refused += others;
    }
    for (std::size_t law = 0; law < kLaws; ++law) {
      const auto named = name(static_cast<Law>(law));
      const auto found = kinds_.find(std::string(named));
      fmt::print("{:<12} held against {:>8} scenarios, broken by {}\n", named, watched.held[law],
                 found == kinds_.end() ? 0 : found->second);
    }
    fmt::print("{} scenarios from seed {} in {:.1f} s: {} run, {} refused, {} faults\n", watched.tries, seed_,
               watched.seconds, run, refused, watched.faults.size());
  }

  static constexpr std::uint64_t kMostKept = 5;

  std::uint64_t seed_;
  std::string folder_;
  std::string data_;
  std::string keep_;
  Watch wanted_;
  std::map<std::string, std::uint64_t> kinds_;
};

int main_of(const Request& request) {
  const Scratch scratch;
  Laws laws(request, scratch.path());
  if (!request.text("show", "").empty()) {
    fmt::print("{}\n", text_of(laws.scenario(request.number("show", 0)), 1));
    return 0;
  }
  return laws.run();
}

}  // namespace

}  // namespace athanor::fuzz

int main(int count, char** words) {
  return athanor::fuzz::run_program("fuzz_laws", count, words, athanor::fuzz::main_of);
}
