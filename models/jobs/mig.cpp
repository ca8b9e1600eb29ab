#include "models/jobs/mig.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/words.hpp"

namespace athanor {

namespace {

/// How often slices of all kinds could still be put on a GPU.
std::uint32_t places_left(std::uint8_t taken) {
  std::uint32_t left = 0;
  for (const MigSlice& slice : kMigSlices) { left += mig_room(slice, taken); }
  return left;
}

/// GPUs that are split alike. Names of slices are those of kMigSlices, in its order; "": there is none.
struct Family {
  std::vector<std::string_view> models;
  std::string_view memory;
  std::array<std::string_view, kMigSlices.size()> names;
};

const std::vector<Family>& families() {
  static const std::vector<Family> kFamilies = {
      {{"A30"}, "24GB", {"", "1g.6gb", "", "2g.12gb", "", "4g.24gb"}},
      {{"A100", "A800"}, "40GB", {"1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"}},
      {{"A100", "A800", "H100", "H800"}, "80GB", {"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"}},
      {{"H100", "GH200", "H20"}, "96GB", {"1g.12gb", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb"}},
      {{"H200"}, "141GB", {"1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"}},
      {{"B200"}, "180GB", {"1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"}},
      {{"GB200"}, "186GB", {"1g.23gb", "1g.47gb", "2g.47gb", "3g.93gb", "4g.93gb", "7g.186gb"}},
  };
  return kFamilies;
}

/// The words of "NVIDIA-A100-SXM4-40GB".
std::vector<std::string> words_of(std::string_view type) {
  std::vector<std::string> words(1);
  for (const char each : type) {
    const bool between = each == '-' || each == ' ' || each == '_';
    if (between) {
      words.emplace_back();
    } else {
      words.back() += each;
    }
  }
  return words;
}

bool is_of(const Family& family, const std::vector<std::string>& words) {
  const auto has = [&](std::string_view wanted) {
    return std::find(words.begin(), words.end(), wanted) != words.end();
  };
  const bool says_memory = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.size() > 2 && word.ends_with("GB") && word.find_first_not_of("0123456789") == word.size() - 2;
  });
  return std::any_of(family.models.begin(), family.models.end(), has) && (!says_memory || has(family.memory));
}

}  // namespace

std::uint32_t mig_room(const MigSlice& slice, std::uint8_t taken) {
  std::uint32_t room = 0;
  for (std::uint32_t start = 0; start < 8; ++start) {
    if ((slice.starts >> start & 1U) != 0 && (slice.at(start) & taken) == 0) { ++room; }
  }
  return room;
}

std::optional<std::uint8_t> mig_start(const MigSlice& slice, std::uint8_t taken) {
  std::optional<std::uint8_t> best;
  std::uint32_t most = 0;
  for (std::uint8_t start = 0; start < 8; ++start) {
    if ((slice.starts >> start & 1U) == 0 || (slice.at(start) & taken) != 0) { continue; }
    const std::uint32_t left = places_left(taken | slice.at(start));
    if (best && left < most) { continue; }
    best = start;
    most = left;
  }
  return best;
}

std::vector<MigProfile> mig_profiles(std::string_view gpu_type) {
  std::vector<MigProfile> all;
  const std::vector<std::string> words = words_of(gpu_type);
  for (const Family& family : families()) {
    if (!is_of(family, words)) { continue; }
    for (std::uint8_t slice = 0; slice < family.names.size(); ++slice) {
      if (!family.names[slice].empty()) { all.push_back({family.names[slice], static_cast<std::uint8_t>(slice + 1)}); }
    }
  }
  return all;
}

MigChoice mig_choice(const std::vector<std::string>& gpu_types, std::string_view profile) {
  MigChoice choice;
  for (const std::string& type : gpu_types) {
    const std::size_t before = choice.slices.size();
    for (const MigProfile& each : mig_profiles(type)) {
      if (each.name == profile) { choice.slices.push_back(each.slice); }
    }
    if (choice.slices.size() > before) { choice.types.push_back(type); }
  }
  std::sort(choice.slices.begin(), choice.slices.end());
  choice.slices.erase(std::unique(choice.slices.begin(), choice.slices.end()), choice.slices.end());
  return choice;
}

std::string mig_names(const std::vector<std::string>& gpu_types) {
  std::vector<std::string> parts;
  for (const std::string& type : gpu_types) {
    std::vector<std::string> names;
    for (const MigProfile& each : mig_profiles(type)) { names.emplace_back(each.name); }
    parts.push_back(fmt::format("{}: {}", type, names.empty() ? "none" : joined(names, ", ")));
  }
  return joined(parts, "; ");
}

}  // namespace athanor
