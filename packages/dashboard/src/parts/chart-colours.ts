// The tokens as a canvas needs them: read when a chart is made and again when the theme changes.
const names = [
  "surface",
  "line",
  "edge",
  "text-2",
  "text-3",
  "link",
  "doubled-fill",
  "suppressed",
  "suppressed-bg",
  "completed",
  "failed",
  "failed-bg",
  "running",
  "waiting",
  "queued",
] as const;

export type ChartColours = Readonly<Record<(typeof names)[number], string>>;

export function chartColours(): ChartColours {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as ChartColours;
}

/** Lines of one colour on another: what says "suppressed" or "failed" without its colour. */
export function hatch(
  context: CanvasRenderingContext2D,
  line: string,
  ground: string,
  direction: "across" | "slanted",
): CanvasPattern | string {
  const size = 6;
  const tile = document.createElement("canvas");
  tile.width = size;
  tile.height = size;
  const draw = tile.getContext("2d");
  if (draw === null) return line;
  draw.fillStyle = ground;
  draw.fillRect(0, 0, size, size);
  draw.strokeStyle = line;
  draw.fillStyle = line;
  if (direction === "across") draw.fillRect(0, 0, size, size / 2);
  else {
    draw.lineWidth = 2;
    for (const shift of [-size, 0, size]) {
      draw.beginPath();
      draw.moveTo(shift, size);
      draw.lineTo(shift + size, 0);
      draw.stroke();
    }
  }
  return context.createPattern(tile, "repeat") ?? line;
}

const dark = window.matchMedia("(prefers-color-scheme: dark)");

/** Calls back when the system's or the person's theme changes; returns how to stop. */
export function onThemeChange(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  dark.addEventListener("change", listener);
  return () => {
    observer.disconnect();
    dark.removeEventListener("change", listener);
  };
}
