"""What the testbed would run to build a fabric: no right is needed to look at it."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import fabrics
from emulation import enter_host, launch, plan, routes, shaping
from emulation.fabric import cables, check_load, read_fabric
from emulation.refusal import Refusal

ATHANOR = sys.argv.pop(1) if len(sys.argv) > 1 else None
ALL = {"star": fabrics.star(), "racks": fabrics.racks(), "ring": fabrics.ring(5)}


def lines(commands, words):
    """Lines of the batch that a command with these words reads."""
    return [line for command in commands if command.words == tuple(words) for line in command.text.splitlines()]


def refused(test, document, reason):
    with test.assertRaisesRegex(Refusal, reason):
        plan.build(read_fabric(document))


class Routes(unittest.TestCase):
    def test_packets_go_the_ways_of_the_simulator_on_every_fabric(self):
        for name, document in ALL.items():
            fabric = read_fabric(document)
            tables = routes.forwarding(fabric)
            for (source, destination), route in fabric.routes.items():
                with self.subTest(fabric=name, source=source, destination=destination):
                    walked = [link.number for link in routes.walk(tables, source, destination)]
                    self.assertEqual(walked, list(route))

    def test_the_kernel_is_told_the_same_next_hops_by_their_interfaces_and_addresses(self):
        fabric = read_fabric(fabrics.ring(5))
        opposite = {a: b for pair in cables(fabric) for a, b in (pair, pair[::-1])}
        told = lines(plan.build(fabric), ("ip", "-n", plan.namespace(fabric, 0), "-batch", "-"))
        added = [line for line in told if line.startswith("route add")]
        self.assertEqual(len(added), 4)
        for destination, link in routes.forwarding(fabric)[0].items():
            address = f"route add {plan.data_address(destination)}/32 "
            line = next(line for line in added if line.startswith(address))
            self.assertIn(f"dev {plan.interface(link)} onlink src {plan.data_address(0)}", line)
            hop = line.split()[4]
            self.assertIn(f"neighbour add {hop} lladdr {plan._ethernet_address(opposite[link])} "
                          f"dev {plan.interface(link)} nud permanent", told)

    def test_two_ways_to_one_host_from_one_vertex_cannot_be_told_by_destination(self):
        document = fabrics.ring(4)
        back = next(route for route in document["routes"] if (route["from"], route["to"]) == (1, 2))
        back["links"] = [1, 7, 5]  # 1, 0, 3, 2, while 0 still reaches 2 by 1
        refused(self, document, "at host1 routes to host2 part, towards host2 and host0")

    def test_flows_that_part_by_hash_are_refused(self):
        document = fabrics.star()
        document["routes"][0]["by_flow"] = True
        refused(self, document, "flows from host0 to host1 over different ways.*d_mod_k")


class Links(unittest.TestCase):
    def test_every_direction_is_shaped_once_by_the_side_that_sends_at_its_own_rate(self):
        for name, document in ALL.items():
            fabric = read_fabric(document)
            commands = plan.build(fabric)
            shaped = []
            for vertex in range(len(fabric.vertices)):
                for line in lines(commands, ("tc", "-n", plan.namespace(fabric, vertex), "-batch", "-")):
                    words = line.split()
                    if "tbf" not in words:
                        continue
                    link = next(each for each in fabric.links if plan.interface(each) == words[3])
                    self.assertEqual(link.source, vertex)
                    self.assertEqual(words[words.index("rate") + 1], f"{link.rate}bit")
                    shaped.append(link.number)
            with self.subTest(fabric=name):
                self.assertEqual(sorted(shaped), list(range(len(fabric.links))))

    def test_every_cable_is_one_pair_of_interfaces_between_its_two_vertices(self):
        fabric = read_fabric(fabrics.racks())
        made = [line.split() for line in lines(plan.build(fabric), ("ip", "-batch", "-")) if " address " in line]
        self.assertEqual(len(made), len(fabric.links) // 2)
        for words in made:
            for name, place in ((words[3], 7), (words[12], 16)):
                link = next(each for each in fabric.links if plan.interface(each) == name)
                self.assertEqual(words[place], plan.namespace(fabric, link.source))

    def test_two_cables_between_the_same_two_switches_stay_apart(self):
        document = fabrics.document(2, 1, [(0, 2), (1, 2), (1, 2)], [(0, 2, 1), (1, 2, 0)])
        pairs = cables(read_fabric(document))
        self.assertEqual([(one.number, other.number) for one, other in pairs], [(0, 1), (2, 3), (4, 5)])

    def test_queues_hold_every_window_unless_told_otherwise(self):
        self.assertGreaterEqual(shaping.queue_limit(16), 16 * shaping.WINDOW)
        line = shaping.shape("link0", 50_000_000, 16)
        self.assertIn(f"limit {shaping.queue_limit(16)}", line)
        self.assertIn("limit 32768", shaping.shape("link0", 50_000_000, 16, 32768))

    def test_hosts_whose_routes_meet_at_a_link_take_turns_by_their_addresses(self):
        fabric = read_fabric(fabrics.racks())
        uplink = next(link for link in fabric.links if (link.source, link.target) == (4, 5))
        told = lines(plan.build(fabric), ("tc", "-n", plan.namespace(fabric, 4), "-batch", "-"))
        here = [line for line in told if f"dev {plan.interface(uplink)} " in line]
        for rank in (0, 1):  # those of the left rack
            self.assertTrue(any(f"match ip src {plan.data_address(rank)}/32 flowid 2:{rank + 1}" in line for line in here))
        self.assertEqual(sum("htb rate" in line for line in here), 2)
        queued = lines(plan.build(fabric, plan.Queues(32768, fair=False)),
                       ("tc", "-n", plan.namespace(fabric, 4), "-batch", "-"))
        self.assertEqual(len(queued), 3)
        self.assertTrue(all(" limit 32768 " in line for line in queued))

    def test_a_link_of_one_host_needs_no_turns(self):
        fabric = read_fabric(fabrics.star())
        told = lines(plan.build(fabric), ("tc", "-n", plan.namespace(fabric, 0), "-batch", "-"))
        self.assertEqual(len(told), 1)

    def test_a_bucket_is_a_millisecond_and_at_least_two_frames(self):
        self.assertEqual(shaping.bucket(400_000_000), 50_000)
        self.assertEqual(shaping.bucket(8_000), 2 * shaping.FRAME)

    def test_the_wire_counts_preamble_check_sequence_and_gap(self):
        self.assertEqual(shaping.FRAME, 1538)
        self.assertIn("overhead 24 mpu 84", shaping.shape("link0", 1_000_000, 2))


class Refusals(unittest.TestCase):
    def test_what_is_inside_a_node_cannot_be_a_namespace(self):
        document = fabrics.star()
        document["vertices"][0]["kind"] = "gpu"
        refused(self, document, "host0 is a gpu: a namespace stands for a host or a switch")

    def test_a_link_that_is_no_network_link(self):
        document = fabrics.star()
        document["links"][0]["kind"] = "nvlink"
        refused(self, document, "host0 -> leaf0 is a link of kind nvlink")

    def test_a_latency_that_would_need_a_delay(self):
        document = fabrics.star()
        document["links"][0]["latency_ps"] = 10**9
        refused(self, document, "host0 -> leaf0 has a latency of 1000 us.* at most 200 us")

    def test_a_link_without_a_way_back(self):
        document = fabrics.star()
        document["links"].append(fabrics.link(0, 1))
        refused(self, document, "host0 -> host1 has no way back")

    def test_one_host_and_too_many(self):
        refused(self, fabrics.document(1, 1, [(0, 1)], []), "at least 2 hosts")
        refused(self, fabrics.star(65), "65 hosts: at most 64")

    def test_more_than_the_processors_forward_is_refused_with_the_figure_that_fits(self):
        fabric = read_fabric(fabrics.star(8, 125_000_000))
        with self.assertRaisesRegex(Refusal, r"8 hosts x 1000 Mb/s are 8 Gb/s, and 2 .* 0\.5 Gb/s .* 62\.5 Mb/s"):
            check_load(fabric, 2)
        check_load(read_fabric(fabrics.star(8, 7_812_500)), 2)


class Launch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.fabric = read_fabric(fabrics.racks())
        launch.write_files(self.fabric, self.folder)

    def test_processes_talk_over_the_fabric_and_nothing_else(self):
        words = launch.mpirun(self.fabric, self.folder, ["program", "--option"])
        settings = {words[i + 1]: words[i + 2] for i, word in enumerate(words) if word == "--mca"}
        self.assertEqual((settings["pml"], settings["btl"]), ("ob1", "tcp,self"))
        self.assertEqual(settings["btl_tcp_if_include"], plan.DATA_SUBNET)
        self.assertEqual(settings["oob_tcp_if_include"], plan.CONTROL_SUBNET)
        self.assertEqual(words[words.index("-np") + 1], "4")
        self.assertEqual(words[-2:], ["program", "--option"])

    def test_each_address_of_the_host_file_leads_into_a_namespace_of_its_own(self):
        addresses = [line.split()[0] for line in (self.folder / "hostfile").read_text().splitlines()]
        self.assertEqual(addresses, [plan.control_address(rank) for rank in range(4)])
        entered = [enter_host.words_for(self.folder, ["-x", address, "orted", "--a", "'b c'"]) for address in addresses]
        self.assertEqual([words[3] for words in entered], [plan.namespace(self.fabric, v) for v in range(4)])
        for rank, words in enumerate(entered):
            self.assertIn(f"hostname rank{rank} && ", words[8])
            self.assertTrue(words[8].endswith("orted --a 'b c'"))
            self.assertTrue(pathlib.Path(words[10]).is_dir())


@unittest.skipIf(ATHANOR is None, "needs the path of athanor as its argument")
class Described(unittest.TestCase):
    def test_the_three_fabrics_of_the_validation_can_be_built(self):
        for name, hosts in (("star", 8), ("racks", 8), ("torus", 9)):
            with self.subTest(name=name), tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "fabric.json"
                scenario = fabrics.ROOT / "scenarios/testbed" / f"{name}.json"
                subprocess.run([ATHANOR, "describe", scenario, "--fabric", file], check=True, capture_output=True)
                fabric = read_fabric(json.loads(file.read_text(encoding="utf-8")))
                self.assertEqual(len(fabric.endpoints), hosts)
                check_load(fabric, 2)
                plan.build(fabric)


if __name__ == "__main__":
    unittest.main()
