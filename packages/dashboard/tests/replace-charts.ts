import { vi } from "vitest";

/** Stands for uPlot, which measures and draws: a canvas, and nothing on it. The numbers of a chart are in its table. */
class TestChart {
  private readonly canvas = document.createElement("canvas");
  constructor(_options: unknown, _data: unknown, place: HTMLElement) {
    place.append(this.canvas);
  }
  setSize(): void {}
  setData(): void {}
  destroy(): void {
    this.canvas.remove();
  }
}

/** In a file of its own: vitest rewrites the imports and exports of a file that replaces a module. */
export async function replaceCharts(): Promise<void> {
  vi.doMock("uplot", () => ({ default: TestChart }));
  // Loaded now: files share their modules, and vitest forgets what is replaced with the end of the first one.
  await import("../src/parts/chart.tsx");
}
