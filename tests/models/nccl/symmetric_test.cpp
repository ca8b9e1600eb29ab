#include "models/nccl/tuning/symmetric.hpp"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "tests/models/nccl/nccl_systems.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

NcclSymmetricEstimate of(const NcclCommunicator& box, const NcclCall& call, const std::string& kernel) {
  for (const NcclSymmetricEstimate& each : nccl_symmetric_estimates(box, call)) {
    if (each.kernel == kernel) { return each; }
  }
  FAIL("no kernel ", kernel);
  return {};
}

std::string fastest(const NcclCommunicator& box, const NcclCall& call) {
  const auto all = nccl_symmetric_estimates(box, call);
  return std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.time < b.time; })->kernel;
}

}  // namespace

TEST_CASE("a symmetric kernel of no bytes takes its latency and the foot of its bend") {
  const double foot = std::log1p(std::exp(-1.0));
  CHECK(of(dgx_h100(1), all_reduce_of(0), "AllReduce_AGxLL_R").time == doctest::Approx(4.5 + foot));
  CHECK(of(dgx_h100(1), all_reduce_of(0), "AllReduce_RSxLD_AGxST").time == doctest::Approx(7.8 + foot));
  CHECK(of(dgx_b200(1), all_reduce_of(0), "AllReduce_RSxLD_AGxST").time == doctest::Approx(19.5 + foot));
  CHECK(of(dgx_b200(1), call_of(NcclFunction::all_gather, 0), "AllGather_LL").time == doctest::Approx(8.5 + foot));
  CHECK(of(dgx_h100(1), all_reduce_of(0), "AllReduce_AGxLL_R").blocks == 1);
}

TEST_CASE("a large symmetric call runs at its peak, within the share that it may lose") {
  const double bytes = 8.0 * 1024 * 1024 * 1024;
  const NcclCall call = all_reduce_of(8LL << 30);
  const double giga = 1024.0 * 1024 * 1024;
  const auto check = [&](const char* kernel, double traffic, double peak) {
    const double least = traffic / (peak * giga) * 1e6;
    const double time = of(dgx_h100(1), call, kernel).time;
    CHECK(time > least);
    CHECK(time < 1.04 * least);
  };
  check("AllReduce_RSxLD_AGxST", 2 * bytes * 7 / 8, 320);
  check("AllReduce_RSxLDMC_AGxSTMC", bytes * 9 / 8, 480);
  // Two blocks for each of eight ranks: 16 on Hopper.
  CHECK(of(dgx_h100(1), call, "AllReduce_RSxLDMC_AGxSTMC").blocks <= 2);
  CHECK(of(dgx_h100(1), call, "AllReduce_RSxLD_AGxST").blocks > 4);
}

TEST_CASE("small symmetric calls take flags, large ones multicast") {
  CHECK(fastest(dgx_h100(1), all_reduce_of(1024)).find("LL") != std::string::npos);
  CHECK(fastest(dgx_h100(1), all_reduce_of(1 << 30)) == "AllReduce_RSxLDMC_AGxSTMC");
  CHECK(fastest(dgx_h100(1), call_of(NcclFunction::all_gather, 1024)).find("LL") != std::string::npos);
}

TEST_CASE("symmetric kernels need 2.27, Hopper, NVLink, sums and, for some, multicast") {
  const auto why = [](const NcclCommunicator& box, const NcclCall& call, const char* kernel) {
    return of(box, call, kernel).disabled;
  };
  const NcclCall call = all_reduce_of(1024);
  CHECK(why(dgx_h100(1), call, "AllReduce_AGxLLMC_R") == "");
  CHECK(why(with_version(dgx_h100(1), {2, 26, 5}), call, "AllReduce_AGxLL_R") ==
        "symmetric kernels begin with NCCL 2.27");
  CHECK(why(dgx_a100(1), call, "AllReduce_AGxLL_R") == "symmetric kernels need Hopper or newer GPUs");
  CHECK(why(dgx_h100(2), call, "AllReduce_AGxLL_R") == "only kernels of one node are modelled");
  NcclCommunicator box = dgx_h100(1);
  box.multicast = false;
  CHECK(why(box, call, "AllReduce_AGxLLMC_R") == "no NVLink multicast here");
  CHECK(why(box, call, "AllReduce_AGxLL_R") == "");
  box.peers.all_nvlink = false;
  CHECK(why(box, call, "AllReduce_AGxLL_R") == "symmetric kernels need NVLink between all GPUs");
  NcclCall largest = call;
  largest.operation = NcclOperation::maximum;
  CHECK(why(dgx_h100(1), largest, "AllReduce_AGxLL_R") == "symmetric kernels only add");
  CHECK(nccl_symmetric_estimates(dgx_h100(1), call_of(NcclFunction::broadcast, 8)).empty());
}
