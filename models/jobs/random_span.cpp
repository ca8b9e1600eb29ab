#include "models/jobs/random_span.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/config/fields.hpp"

namespace athanor {

namespace {

using Law = RandomSpan::Law;

/// In (0, 1).
double uniform(RandomStream& stream) { return (static_cast<double>(stream.bits() >> 11U) + 0.5) * 0x1p-53; }

/// Of mean 0 and variance 1, by Box and Muller.
double normal(RandomStream& stream) {
  const double radius = std::sqrt(-2 * std::log(uniform(stream)));
  return radius * std::cos(2 * std::numbers::pi * uniform(stream));
}

/// Of mean 1.
double relative(Law law, double shape, RandomStream& stream) {
  switch (law) {
    case Law::fixed:
    case Law::empirical: return 1;
    case Law::exponential: return -std::log(uniform(stream));
    case Law::weibull: return std::pow(-std::log(uniform(stream)), 1 / shape) / std::tgamma(1 + 1 / shape);
    case Law::log_normal: return std::exp(shape * normal(stream) - shape * shape / 2);
  }
  return 1;
}

void put_mean_of_times(Fields& fields, RandomSpan& span) {
  if (span.times.empty()) {
    fields.problem("times", "missing-key", "times to draw from", R"(as in "times": ["1h", "7h"])");
    return;
  }
  double sum = 0;
  for (const WallTime time : span.times) { sum += static_cast<double>(time.count()); }
  span.mean = WallTime{std::max<std::int64_t>(1, std::llround(sum / static_cast<double>(span.times.size())))};
}

void visit_drawn(Fields& fields, RandomSpan& span, WallTime least) {
  if (fields.reading() && span.law == Law::fixed) { span.law = Law::exponential; }
  fields.optional("law", span.law, "How it is distributed",
                  {{"exponential", Law::exponential},
                   {"weibull", Law::weibull},
                   {"log_normal", Law::log_normal},
                   {"empirical", Law::empirical}});
  fields.optional("times", span.times, "Of empirical: one of them, each as likely", {least});
  if (!fields.writing() || span.law != Law::empirical) {
    Ratio shape{std::llround(span.shape * 1000), 1000};
    fields.optional("shape", shape, "Of weibull; the standard deviation of the logarithm of log_normal",
                    {{1, 100}, {100, 1}});
    span.shape = to_double(shape);
    fields.optional("mean", span.mean, "On average; of all laws but empirical", {least});
  }
  if (!fields.reading() || !fields.ok()) { return; }
  const bool empirical = span.law == Law::empirical;
  if (empirical && (fields.has("mean") || fields.has("shape"))) {
    fields.problem("times", "conflict", "times that are given have their mean and their shape",
                   R"(leave out "mean" and "shape")");
  } else if (empirical) {
    put_mean_of_times(fields, span);
  } else if (!span.times.empty()) {
    fields.problem("times", "no-effect", "only an empirical law draws from times", R"(write "law": "empirical")");
  } else if (!fields.has("mean")) {
    fields.problem("mean", "missing-key", "how long it is on average", R"(as in "mean": "4h")");
  }
}

}  // namespace

WallTime RandomSpan::draw(RandomStream& stream) const {
  if (law == Law::fixed) { return mean; }
  if (law == Law::empirical) { return times[stream.below(times.size())]; }
  constexpr double kMost = 9e18;
  const double drawn = static_cast<double>(mean.count()) * relative(law, shape, stream);
  return WallTime{std::max<std::int64_t>(1, std::llround(std::min(drawn, kMost)))};
}

void visit(FieldValue& value, RandomSpan& span, WallTime least) {
  using Type = FieldValue::Form::Type;
  const auto fixed = [&](FieldValue& text) {
    if (text.writing() && span.law != Law::fixed) { return; }
    text.visit(span.mean, {least});
  };
  value.one_of({{Type::string, fixed}, {Type::object, [&](FieldValue& object) {
                                          object.object([&](Fields& fields) { visit_drawn(fields, span, least); });
                                        }}});
}

}  // namespace athanor
