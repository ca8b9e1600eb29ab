#!/usr/bin/env python3
"""Draws the messages of a schedule, as `athanor plot schedule --json` lists them.

    plot_schedule.py SCHEDULE.json --output PICTURE.svg|.png|.pdf

A column per rank or engine, time downwards: an arrow leaves its sender at the begin of a round and arrives at the end.
A ring at its head: the receiver adds it to something. Prints the picture's path. Exit status: 0, 2 for a wrong command
line, 4 for a file that cannot be read, drawn or written.
"""

import collections
import sys
import textwrap

import interpreter

interpreter.require_module("matplotlib")

import matplotlib  # noqa: E402  (only now is it known to be there)

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402
from matplotlib.collections import LineCollection  # noqa: E402

import axes  # noqa: E402
import figures  # noqa: E402
import pictures  # noqa: E402
import schedule as schedules  # noqa: E402

HEAD = 0.16  # of a round: arrow heads end this far before the next round begins


def arrow_ends(arrow):
    return (arrow["from"], arrow["round"] - 1), (arrow["to"], arrow["round"] - HEAD)


def colour_of(arrow):
    mixed = arrow["colour"] == schedules.MIXED
    return "#333333" if mixed else axes.PALETTE[arrow["colour"] % len(axes.PALETTE)]


def draw_arrows(panel, arrows, width):
    """All shafts as one collection, all heads of one kind as one: small files."""
    panel.add_collection(LineCollection([arrow_ends(arrow) for arrow in arrows], linewidths=width,
                                        colors=[colour_of(arrow) for arrow in arrows], zorder=2))
    for adds in (False, True):
        heads = [arrow for arrow in arrows if arrow["adds"] == adds]
        if not heads:
            continue
        colours = [colour_of(arrow) for arrow in heads]
        panel.scatter([arrow["to"] for arrow in heads], [arrow_ends(arrow)[1][1] for arrow in heads],
                      s=26 * width ** 2, marker="o" if adds else "v", zorder=3, linewidths=1.3 * width,
                      facecolors="white" if adds else colours, edgecolors=colours)


def label_place(arrow, fan):
    """Near the sender, where arrows of other columns are still apart; further on where many leave one column."""
    (x0, y0), (x1, y1) = arrow_ends(arrow)
    share = 0.36 / max(1, abs(x1 - x0)) if fan <= 2 else 0.6
    return x0 + share * (x1 - x0), y0 + share * (y1 - y0)


def draw_labels(panel, schedule, arrows):
    """What each arrow carries, on a white ground. Returns whether every round had room for that."""
    fans = collections.Counter((arrow["round"], arrow["from"]) for arrow in arrows)
    rounds = collections.Counter(arrow["round"] for arrow in arrows)
    dense = {number for number, count in rounds.items() if count > schedules.DENSE * schedule["agents"]}
    labelled = [(arrow, *label_place(arrow, fans[arrow["round"], arrow["from"]])) for arrow in arrows
                if arrow["label"] and arrow["round"] not in dense]
    for length in {len(arrow["label"]) for arrow, _, _ in labelled}:
        places = [(x, y) for arrow, x, y in labelled if len(arrow["label"]) == length]
        half = 0.42 * length  # a ground as wide as the words: markers are small in the file
        panel.scatter(*zip(*places), marker=[(-half, -0.7), (half, -0.7), (half, 0.7), (-half, 0.7)],
                      s=(9.5 * max(half, 0.7)) ** 2, color="white", linewidths=0, zorder=4)
    for arrow, x, y in labelled:
        panel.text(x, y, arrow["label"], fontsize=7, ha="center", va="center_baseline", color=colour_of(arrow), zorder=5)
    return not dense


def draw_grid(panel, schedule, rounds):
    agents, ranks = schedule["agents"], schedule["ranks"]
    panel.vlines(range(ranks), 0, rounds, color="#BBBBBB", linewidth=0.9, zorder=1)
    if agents > ranks:
        panel.vlines(range(ranks, agents), 0, rounds, color="#555555", linewidth=3, zorder=1)
    panel.hlines(range(rounds + 1), -0.4, agents - 0.6, color="#EEEEEE", linewidth=0.8, zorder=0)
    panel.set_xlim(-0.6, agents - 0.4)
    panel.set_ylim(rounds + 0.15, -0.15)
    panel.set_yticks([round + 0.5 for round in range(rounds)], [str(round + 1) for round in range(rounds)])
    panel.set_xticks(range(agents), [schedules.agent_name(schedule, agent) for agent in range(agents)])
    panel.xaxis.tick_top()
    panel.tick_params(length=0)
    panel.grid(visible=False)
    for side in panel.spines.values():
        side.set_visible(False)
    panel.set_ylabel("Round")


def counted(number, thing):
    return f"{number} {thing}{'' if number == 1 else 's'}"


def what_labels_say(schedule):
    if not any(message["carries"] for message in schedule["messages"]):
        return "Messages are empty: they only tell."
    if schedule["agents"] > schedules.MOST_LABELLED:
        return "Columns are too narrow for what messages carry."
    if schedule["collective"].startswith("all_to_all"):
        return "Labels: the block of which rank for which."
    if schedules.by_origin(schedule):
        return "Labels: whose blocks."
    return "Labels: which pieces of the vector."


def explanation(schedule, arrows, parts):
    """What the picture says, and what it leaves out."""
    lines = [f"{counted(schedule['ranks'], 'rank')}, {counted(schedule['rounds'], 'round')}, "
             f"{counted(len(schedule['messages']), 'message')}. Circle: the receiver adds. Triangle: it stores."]
    there = len({message["part"] for message in schedule["messages"]})  # some parts only copy within a rank
    if len(parts) < there:
        lines.append(f"Drawn: {counted(len(parts), 'part')} of {there} that run side by side.")
    elif there > 1:
        lines.append(f"Colours: {there} parts that never wait for each other.")
    if any(arrow["colour"] == schedules.MIXED for arrow in arrows):
        lines.append("Black: several messages.")
    return "\n".join(lines[:1] + [" ".join(lines[1:] + [what_labels_say(schedule)])])


def figure_of(schedule):
    parts = schedules.drawn_parts(schedule)
    arrows = schedules.arrows_of(schedule, [message for message in schedule["messages"] if message["part"] in parts])
    labelled = schedule["agents"] <= schedules.MOST_LABELLED
    rounds = max(1, schedule["rounds"])
    column = 0.72 if labelled else max(0.2, 11.5 / schedule["agents"])
    row = max(0.62, 1.8 / rounds) if rounds <= 16 else max(0.16, 10 / rounds)
    width, height = max(6.8, 0.9 + column * schedule["agents"]), 1.15 + row * rounds
    figure, panel = pyplot.subplots(figsize=(width, height))
    figure.subplots_adjust(left=0.6 / width, right=1 - 0.1 / width, top=1 - 1.05 / height, bottom=0.1 / height)
    draw_grid(panel, schedule, rounds)
    draw_arrows(panel, arrows, 1.2 if labelled else 0.8)
    note = explanation(schedule, arrows, parts)
    if not labelled:
        panel.set_xticks(range(0, schedule["agents"], 8))
    elif not draw_labels(panel, schedule, arrows):
        note += " Crowded rounds have none."
    note = "\n".join(textwrap.fill(line, int(15.5 * width)) for line in note.split("\n"))
    headline = f"{figures.collective_title(schedule['collective'])}: {schedule['algorithm']}"
    figure.text(0.1 / width, 1 - 0.08 / height, headline, ha="left", va="top", fontsize=13, fontweight="bold")
    figure.text(0.1 / width, 1 - 0.34 / height, note, ha="left", va="top", fontsize=8.5, color="#444444", linespacing=1.35)
    return figure


if __name__ == "__main__":
    sys.exit(pictures.draw_file("Draws the messages of a schedule.", "schedule", "the JSON of `athanor plot schedule`",
                                lambda path: figure_of(schedules.load(path))))
