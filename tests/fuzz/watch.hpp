#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace athanor::fuzz {

/// What became of one input or scenario.
struct Verdict {
  std::uint32_t group = 0;    ///< which reader or law; below kMostGroups
  std::uint32_t outcome = 0;  ///< exit status; below kMostOutcomes
  std::string fault;          ///< "": as promised
  std::uint64_t held = 0;     ///< a bit for each law that was held against it
};

constexpr std::size_t kMostGroups = 64;
constexpr std::size_t kMostOutcomes = 8;
constexpr std::size_t kMostLaws = 64;

/// How many, by whom, within which bounds.
struct Watch {
  std::uint64_t first = 0;
  std::uint64_t count = 0;          ///< of tries; 0: until `seconds` are over
  double seconds = 0;               ///< 0: until `count` are done
  unsigned jobs = 1;                ///< processes at a time
  unsigned cpu_seconds = 10;        ///< of one try; more is a hang
  std::uint64_t memory = 0;         ///< bytes of one process; 0: no limit
  std::uint64_t most_faults = 100;  ///< after so many it ends
};

/// A try that did not end as promised.
struct Fault {
  std::uint64_t index = 0;
  std::uint32_t group = 0;
  std::string what;  ///< "crash: signal 11", "hang: ...", or the try's own words
};

struct Watched {
  std::uint64_t tries = 0;
  double seconds = 0;
  std::vector<Fault> faults;
  std::array<std::array<std::uint64_t, kMostOutcomes>, kMostGroups> outcomes{};  ///< by group
  std::array<std::uint64_t, kMostLaws> held{};                                   ///< by law
};

/// Does one try in this process. Equal indices give equal verdicts.
using Try = std::function<Verdict(std::uint64_t index)>;

/// Runs tries in processes of their own, thousands in each, so that a crash, an endless loop or a lack of memory ends
/// one process and is known to be of one index. `told` hears of each fault at once.
Watched watch(const Watch& wanted, const Try& one, const std::function<void(const Fault&)>& told);

/// The same for one index alone: "" or what is wrong.
std::string fault_of(const Watch& wanted, const Try& one, std::uint64_t index);

}  // namespace athanor::fuzz
