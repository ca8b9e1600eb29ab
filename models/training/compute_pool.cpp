#include "models/training/compute_pool.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "models/software/decimal.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

constexpr Time kOverhead{2'000'000};  // between kernels that are launched ahead: no step tells it from the rest
constexpr Time kLaunch{7'000'000};    // of an operator of PyTorch on a server's CPU: 5 to 10 us

bool narrow(Precision precision) { return precision == Precision::fp8 || precision == Precision::fp4; }

double value_of(const ComputeValues& values, ComputeFigure figure) {
  const auto place = static_cast<std::size_t>(figure);
  const ComputeFigureRange& range = compute_figure_ranges().at(place);
  return std::clamp(values.at(place), range.least, range.most);
}

}  // namespace

const std::array<ComputeFigureRange, kComputeFigures>& compute_figure_ranges() {
  static constexpr std::array<ComputeFigureRange, kComputeFigures> kRanges{{{"share", 0.2, 1, 0.7},
                                                                            {"depth", 20, 4000, 240},
                                                                            {"waves", 0.02, 2, 0.3},
                                                                            {"narrow_share", 0.3, 1.3, 0.85},
                                                                            {"narrow_depth", 0.2, 10, 1.4},
                                                                            {"attention", 0.05, 0.9, 0.55},
                                                                            {"memory", 0.2, 1, 0.75},
                                                                            {"interference", 0.01, 2, 0.2},
                                                                            {"straggler_growth", 0.0005, 0.03, 0.006},
                                                                            {"pass_overhead", 1, 3000, 100}}};
  return kRanges;
}

ComputeParts compute_parts(const GpuRates& gpu, Precision precision, const TrainedModel& model) {
  return {gpu.generation, precision, model.transformer && model.transformer->experts};
}

std::vector<std::string> parts_of(ComputeFigure figure, const ComputeParts& parts) {
  std::vector<std::string> result;
  const auto add = [&](bool known, const std::string& part) {
    if (known) { result.push_back(part); }
  };
  const std::string precision(name(parts.precision));
  switch (figure) {
    case ComputeFigure::narrow_share:
    case ComputeFigure::narrow_depth:
      add(true, precision);
      add(!parts.gpu.empty(), parts.gpu + " " + precision);
      break;
    case ComputeFigure::share:
    case ComputeFigure::memory: add(parts.experts, "experts"); [[fallthrough]];
    case ComputeFigure::depth:
    case ComputeFigure::waves:
    case ComputeFigure::attention: add(!parts.gpu.empty(), "gpu " + parts.gpu); break;
    case ComputeFigure::interference:
    case ComputeFigure::straggler_growth:
    case ComputeFigure::pass_overhead: break;
  }
  add(!parts.software.empty(), "software " + parts.software);
  return result;
}

bool matters(ComputeFigure figure, const ComputeParts& parts) {
  const bool of_narrow = figure == ComputeFigure::narrow_share || figure == ComputeFigure::narrow_depth;
  return !of_narrow || narrow(parts.precision);
}

ComputeProfile compute_profile(const ComputeValues& values, Precision precision) {
  const auto of = [&](ComputeFigure figure) { return value_of(values, figure); };
  ComputeProfile profile;
  profile.gemm = {of(ComputeFigure::share), of(ComputeFigure::depth)};
  if (narrow(precision)) {
    profile.narrow[precision] = {std::min(1.0, profile.gemm.share * of(ComputeFigure::narrow_share)),
                                 profile.gemm.depth * of(ComputeFigure::narrow_depth)};
  }
  profile.waves = of(ComputeFigure::waves);
  profile.attention = of(ComputeFigure::attention);
  profile.attention_by_shape = true;
  profile.memory = of(ComputeFigure::memory);
  profile.interference = of(ComputeFigure::interference);
  profile.straggler_growth = of(ComputeFigure::straggler_growth);
  profile.overhead = kOverhead;
  profile.launch = kLaunch;
  constexpr double kMicrosecond = 1e6;  // in ps
  profile.pass_overhead = Time{std::llround(of(ComputeFigure::pass_overhead) * kMicrosecond)};
  return profile;
}

std::string_view name(StepKnowledge knowledge) {
  switch (knowledge) {
    case StepKnowledge::steps: return "steps";
    case StepKnowledge::models: return "models";
    case StepKnowledge::one_step: return "one_step";
    case StepKnowledge::nothing: return "nothing";
  }
  return "";
}

namespace {

bool has(const ComputePool& pool, ComputeFigure figure, const std::string& part) {
  const std::vector<PartEffect>& known = pool.figures.at(static_cast<std::size_t>(figure)).parts;
  return std::any_of(known.begin(), known.end(), [&](const PartEffect& each) { return each.part == part; });
}

}  // namespace

bool ComputePool::knows(const ComputeParts& parts) const {
  if (parts.gpu.empty()) { return false; }
  const std::string precision = fmt::format("{} {}", parts.gpu, athanor::name(parts.precision));
  return has(*this, ComputeFigure::share, "gpu " + parts.gpu) &&
         (!narrow(parts.precision) || has(*this, ComputeFigure::narrow_share, precision));
}

bool ComputePool::knows_software(const ComputeParts& parts) const {
  return has(*this, ComputeFigure::share, "software " + parts.software);
}

const StepError* ComputePool::error_of(StepKnowledge knowledge) const {
  const auto found =
      std::find_if(errors.begin(), errors.end(), [&](const StepError& each) { return each.knowledge == knowledge; });
  return found == errors.end() ? nullptr : &*found;
}

namespace {

void visit_error(Fields& fields, StepError& error) {
  constexpr std::int64_t kMost = 1'000;
  Names<StepKnowledge> names{};
  for (const StepKnowledge each : kStepKnowledges) { names.named.push_back({name(each), each}); }
  fields.required("known", error.knowledge, "What had been measured of the software before", names);
  visit_decimal(fields, "low", error.low, 1, kMost, "A tenth of measured times are less than this x the simulated one");
  visit_decimal(fields, "high", error.high, 1, kMost, "A tenth are more");
  visit_decimal(fields, "shared", error.shared, 0, 1, "Of the errors' variance, what is common to one software");
  fields.required("tables", error.tables, "That were held out");
}

void visit_figure(Fields& fields, PooledFigure& figure) {
  constexpr std::int64_t kMost = 10'000;
  visit_decimal(fields, "typical", figure.typical, 1, kMost, "Of parts that nothing is known of");
  visit_spreads(fields, figure);
}

}  // namespace

void visit(Fields& fields, ComputePool& pool) {
  fields.required("name", pool.name, "As results name it");
  fields.optional("description", pool.description, "For people");
  fields.optional("source", pool.source, "Where its figures come from");
  fields.optional_list("errors", pool.errors, "How far predicted steps were off that no fit had seen", &visit_error);
  for (std::size_t i = 0; i < kComputeFigures; ++i) {
    fields.required_object(compute_figure_ranges().at(i).key, "A figure of compute profiles",
                           [&](Fields& inner) { visit_figure(inner, pool.figures.at(i)); });
  }
}

ComputeProfile pooled_compute(const ComputePool& pool, const ComputeParts& parts) {
  ComputeValues values{};
  for (std::size_t i = 0; i < kComputeFigures; ++i) {
    values.at(i) = expected(pool.figures.at(i), parts_of(static_cast<ComputeFigure>(i), parts), true).value;
  }
  ComputeProfile profile = compute_profile(values, parts.precision);
  profile.name = pool.name;
  profile.description = "what " + pool.description + " tell of " + text_of(parts);
  profile.pooled = true;
  return profile;
}

std::string text_of(const ComputeParts& parts) {
  std::vector<std::string> words;
  if (!parts.gpu.empty()) { words.push_back(parts.gpu); }
  words.emplace_back(name(parts.precision));
  if (parts.experts) { words.emplace_back("with experts"); }
  if (!parts.software.empty()) { words.push_back(parts.software); }
  return std::string(joined(words, ", "));
}

}  // namespace athanor
