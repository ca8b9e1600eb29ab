#pragma once

#include <string>
#include <vector>

#include "models/layouts/layout_plan.hpp"

namespace athanor::testing {

/// Rings of an ideal network: what a device sends, at 1 ps a byte.
Time ring_time(const LayoutStep& step, Bytes size, const DeviceMesh& mesh);

/// Two products with something between: of h x f and f x h, on b x s tokens.
LayoutModelText two_layer_perceptron(std::int64_t b, std::int64_t s, std::int64_t h, std::int64_t f);

/// A layer of a transformer, repeated: norms, attention by einsums with n heads of d elements, and two products.
LayoutModelText transformer_layers(std::uint32_t layers, std::int64_t b, std::int64_t s, std::int64_t n,
                                   std::int64_t d);

/// Megatron's layouts of transformer_layers(): axis `tensor` shards heads and the inner side of the two products, axis
/// `data` the batch.
GivenLayouts megatron_layouts(std::uint8_t data, std::uint8_t tensor);

/// 1 ps for so many operations, and nothing for memory.
LayoutPrices ring_prices(const DeviceMesh& mesh, double flops_per_ps);

LayoutTask task_of(const LayoutModelText& model, const DeviceMesh& mesh, const GivenLayouts& given);

}  // namespace athanor::testing
