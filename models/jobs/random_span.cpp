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
    case Law::fixed: return 1;
    case Law::exponential: return -std::log(uniform(stream));
    case Law::weibull: return std::pow(-std::log(uniform(stream)), 1 / shape) / std::tgamma(1 + 1 / shape);
    case Law::log_normal: return std::exp(shape * normal(stream) - shape * shape / 2);
  }
  return 1;
}

}  // namespace

WallTime RandomSpan::draw(RandomStream& stream) const {
  if (law == Law::fixed) { return mean; }
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
  const auto drawn = [&](Fields& fields) {
    Ratio shape{std::llround(span.shape * 1000), 1000};
    fields.required("mean", span.mean, "On average", {least});
    fields.optional("law", span.law, "How it is distributed",
                    {{"exponential", Law::exponential}, {"weibull", Law::weibull}, {"log_normal", Law::log_normal}});
    fields.optional("shape", shape, "Of weibull; the standard deviation of the logarithm of log_normal",
                    {{1, 100}, {100, 1}});
    span.shape = to_double(shape);
    if (fields.reading() && span.law == Law::fixed) { span.law = Law::exponential; }
  };
  value.one_of({{Type::string, fixed}, {Type::object, [&](FieldValue& object) { object.object(drawn); }}});
}

}  // namespace athanor
