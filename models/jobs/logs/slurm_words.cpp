#include "models/jobs/logs/slurm_words.hpp"

#include <algorithm>
#include <array>

#include "models/jobs/logs/job_log.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

/// What stands before the separator, which is taken away with it.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

}  // namespace

std::optional<TresGpus> tres_gpus_of(std::string_view tres) {
  constexpr std::string_view kGpu = "gres/gpu";
  std::optional<std::int64_t> total;
  TresGpus typed;
  std::size_t types = 0;
  while (!tres.empty()) {
    std::string_view value = take_until(tres, ',');
    const std::string_view key = take_until(value, '=');
    if (!key.starts_with(kGpu)) { continue; }
    const std::string_view type = key.substr(kGpu.size());
    if (!type.empty() && type.front() != ':') { continue; }
    const auto count = whole_number_of(value);
    if (!count || *count < 0) { return {}; }
    if (type.empty()) {
      total = count;
      continue;
    }
    typed.count += *count;
    typed.type = ++types == 1 ? type.substr(1) : "";
  }
  return TresGpus{total.value_or(typed.count), typed.type};
}

std::optional<WallTime> slurm_span_of(std::string_view text) {
  std::int64_t days = 0;
  if (text.find('-') != std::string_view::npos) {
    const auto before = whole_number_of(take_until(text, '-'));
    if (!before || *before < 0 || *before > 1'000'000) { return {}; }
    days = *before;
  }
  if (text.find(':') == std::string_view::npos) { return {}; }
  std::int64_t minutes = 0;
  while (text.find(':') != std::string_view::npos) {
    const auto part = whole_number_of(take_until(text, ':'));
    if (!part || *part < 0 || *part > 1'000'000) { return {}; }
    minutes = minutes * 60 + *part;
  }
  const auto last = seconds_of_text(text);
  if (!last) { return {}; }
  return *last + WallTime{(days * 86'400 + minutes * 60) * 1'000'000};
}

bool is_open_state(std::string_view state) {
  constexpr std::array<std::string_view, 9> kOpen = {"PENDING",    "RUNNING",     "SUSPENDED",
                                                     "COMPLETING", "CONFIGURING", "REQUEUE_HOLD",
                                                     "RESIZING",   "STOPPED",     "SIGNALING"};
  return std::find(kOpen.begin(), kOpen.end(), state) != kOpen.end();
}

}  // namespace athanor
