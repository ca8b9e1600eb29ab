#include <set>

#include <doctest/doctest.h>

#include "tests/topologies/direct/direct_laws.hpp"
#include "tests/topologies/scenario_rig.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators/direct/galois_field.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

constexpr std::uint32_t kFields[] = {2,  3,  4,  5,  7,  8,  9,   11,  13,  16,  17,
                                     25, 27, 32, 49, 64, 81, 121, 125, 128, 243, 256};
constexpr std::uint32_t kSlimFlies[] = {3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 32};

/// Cables of a router to others: (3 q - delta) / 2.
std::uint32_t degree(std::uint32_t q) {
  const int delta = q % 4 == 3 ? -1 : static_cast<int>(q % 4);
  return static_cast<std::uint32_t>((3 * static_cast<int>(q) - delta) / 2);
}

std::string keys(std::uint32_t q) { return R"("kind": "slim_fly", "hosts_per_router": 1, "q": )" + std::to_string(q); }

std::string refused(std::uint32_t q) { return test::refused(hosts(1), keys(q)); }

/// Whether every router is within two hops of `from`.
bool all_within_two(const Neighbours& routers, std::uint32_t from) {
  std::set<std::uint32_t> met{from};
  for (const std::uint32_t next : routers[from]) {
    met.insert(next);
    met.insert(routers[next].begin(), routers[next].end());
  }
  return met.size() == routers.size();
}

}  // namespace

TEST_CASE("finite fields obey their laws: sums, products, inverses, distribution, and powers that meet all elements") {
  for (const std::uint32_t q : kFields) {
    CAPTURE(q);
    const GaloisField field(q);
    std::set<std::uint32_t> powers;
    for (std::uint32_t exponent = 0; exponent + 1 < q; ++exponent) { powers.insert(field.power(exponent)); }
    CHECK(powers.size() == q - 1);
    CHECK(powers.count(0) == 0);
    bool holds = true;
    for (std::uint32_t a = 0; a < q; ++a) {
      holds = holds && field.add(a, 0) == a && field.multiply(a, 1) == a && field.subtract(a, a) == 0;
      for (std::uint32_t b = 0; b < q; b += 1 + q / 40) {
        holds = holds && field.add(a, b) == field.add(b, a) && field.subtract(field.add(a, b), b) == a;
        holds = holds && (b == 0 || field.multiply(field.divide(a, b), b) == a);
        const std::uint32_t c = (a * 7 + b * 3 + 1) % q;
        holds = holds && field.multiply(c, field.add(a, b)) == field.add(field.multiply(c, a), field.multiply(c, b));
      }
    }
    CHECK(holds);
  }
}

TEST_CASE("prime powers are told from other numbers") {
  for (std::uint32_t q = 0; q < 300; ++q) {
    std::uint32_t primes = 0;
    for (std::uint32_t p = 2; p <= q; ++p) {
      bool prime = q % p == 0;
      for (std::uint32_t d = 2; d * d <= p; ++d) { prime = prime && p % d != 0; }
      primes += prime ? 1 : 0;
    }
    CHECK(prime_base(q).has_value() == (primes == 1));
  }
}

TEST_CASE("a Slim Fly has 2 q^2 routers of (3 q - delta) / 2 cables each, all within two hops") {
  for (const std::uint32_t q : kSlimFlies) {
    CAPTURE(q);
    const Neighbours routers = neighbours_of(on(hosts(1), keys(q)));
    CHECK(routers.size() == 2 * q * q);
    CHECK(broken_cables(routers) == "");
    for (std::uint32_t router = 0; router < routers.size(); router += q <= 9 ? 1 : q * q / 8) {
      CHECK(routers[router].size() == degree(q));
      CHECK(std::set<std::uint32_t>(routers[router].begin(), routers[router].end()).size() == degree(q));
      CHECK(all_within_two(routers, router));
    }
  }
}

TEST_CASE("a Slim Fly with hosts has the cables, diameter and halves of its closed forms, and shortest paths") {
  for (const std::uint32_t q : {3U, 4U, 5U, 7U, 8U, 9U}) {
    const std::uint32_t n = 2 * q * q;
    const Cluster cluster = on(hosts(n), keys(q));
    CAPTURE(cluster.description);
    CHECK(inner_cables(cluster, false) == n * degree(q) / 2);
    CHECK(longest_route(cluster) == 4);
    CHECK(bisection(cluster) == q * (q * q + q % 2) / 2);
    CHECK(broken_routes(cluster, 200) == "");
    const std::string text =
        R"({"cluster": {"fabric": {"kind": "slim_fly", "link": {"rate": "1GB/s", "latency": "1us"},)";
    CHECK(good(text + R"("q": )" + std::to_string(q) + "}}}").endpoints.size() == n * ((degree(q) + 1) / 2));
  }
}

TEST_CASE("valiant paths of a Slim Fly take four hops at most and come nowhere twice") {
  const Cluster cluster = on(hosts(50), keys(5), {Routing::valiant, 4});
  CHECK(broken_paths(cluster, 10) == "");
  CHECK(longest_route(cluster, 10) == 6);
  std::set<VertexId> met;
  for (std::uint64_t flow = 0; flow < 1000; ++flow) {
    for (const LinkId link : route(cluster, VertexId{0}, VertexId{30}, flow)) {
      met.insert(cluster.fabric->target(link));
    }
  }
  CHECK(met.size() == 50 + 1);
}

TEST_CASE("what is no prime power, or two more than a multiple of four, is refused with its neighbours that fit") {
  CHECK(refused(5) == "");
  CHECK(refused(6).find("and 6 is none; use q = 5 (50 routers) or 7 (98 routers)") != std::string::npos);
  CHECK(refused(2).find("use q = 3 (18 routers)") != std::string::npos);
  CHECK(refused(0).find("use q = 3") != std::string::npos);
  CHECK(refused(12).find("use q = 11 (242 routers) or 13 (338 routers)") != std::string::npos);
  CHECK(refused(1000).find("use q = 256 (131072 routers)") != std::string::npos);
}
