import { describe, expect, test } from "vitest";
import { axisWords, type NamedChart } from "./axis-words.ts";
import { keptInside, labelPx, labelsWithRoom } from "./label-room.ts";

const texts = (labels: readonly { readonly text: string }[]) => labels.map(({ text }) => text);

test("the width of a text is no less than in the widest fonts there are", () => {
  // Measured by Chromium at 11 px in DejaVu Sans, which is wider than Segoe UI, San Francisco and Roboto.
  const measured = { "600 ms": 40.9, "10 m 3 s": 47.9, "14:46:12.1": 59.9, "+9.99 s": 42.9, "Mon 11": 40.7 };
  for (const [text, px] of Object.entries(measured)) expect(labelPx(text), text).toBeGreaterThan(px);
});

describe("labels on a track", () => {
  const track = { trackPx: 100, anchor: "start" } as const;

  test("one that reaches over the end is left out, however far inside it begins", () => {
    expect(
      texts(
        labelsWithRoom(
          [
            { at: 0.5, text: "500 ms" },
            { at: 0.7, text: "700 ms" },
          ],
          track,
        ),
      ),
    ).toEqual(["500 ms"]);
  });

  test("of two that would overlap the first one given is drawn", () => {
    const labels = [
      { at: 0.5, text: "now" },
      { at: 0.3, text: "before" },
      { at: 0, text: "0 s" },
    ];
    expect(texts(labelsWithRoom(labels, track))).toEqual(["now", "0 s"]);
  });

  test("none reaches into a taken stretch", () => {
    const taken = [{ from: 40, to: 60 }];
    const labels = [
      { at: 0.3, text: "300 ms" },
      { at: 0.6, text: "6 s" },
    ];
    expect(texts(labelsWithRoom(labels, { ...track, taken }))).toEqual(["6 s"]);
  });

  test("one in the middle of its place reaches half its width to either side", () => {
    const middle = { trackPx: 100, anchor: "middle" } as const;
    const label = [{ at: 0, text: "now" }];
    expect(labelsWithRoom(label, middle)).toEqual([]);
    expect(labelsWithRoom(label, { ...middle, overPx: labelPx("now") / 2 })).toEqual(label);
  });

  test("one that must be drawn is moved to where it ends inside", () => {
    const moved = keptInside({ at: 0.99, text: "now" }, track);
    expect(labelsWithRoom([moved], track)).toEqual([moved]);
    expect(keptInside({ at: 0.1, text: "now" }, track).at).toBe(0.1);
  });
});

test("names that a chart places itself are left out where they have no room", () => {
  const chart: NamedChart = {
    width: 120,
    bbox: { left: 20, top: 0, width: 200, height: 50 },
    valToPos: (value) => value * 100,
  };
  expect(axisWords(chart, [0, 0.2, 0.5, 1], ["a", "12:00:00", "b", "14:00:00"], 2)).toEqual(["a", "", "b", ""]);
});
