// Values of a real event are not for reports, which are shown, kept and sent around: they are taken out of every text. Pure.
import type { FunctionReport } from "./report.ts";
import type { Json } from "./thing.ts";

const mask = "•••";
/** Shorter values are found in every text: they are taken out only where they stand alone in a path. */
const lengthMin = 3;

function valuesIn(data: Json): string[] {
  if (typeof data === "string" || typeof data === "number") return [String(data)];
  if (Array.isArray(data)) return data.flatMap(valuesIn);
  return typeof data === "object" && data !== null ? Object.values(data).flatMap(valuesIn) : [];
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

/** A text without these values. */
export function masker(data: Json): (text: string) => string {
  const values = [...new Set(valuesIn(data))].filter((value) => value !== "").sort((a, b) => b.length - a.length);
  const ways = values.flatMap((value) => {
    const spelt = [...new Set([value, encodeURIComponent(value)])].map(escaped);
    return spelt.map((way) =>
      value.length >= lengthMin ? `(?<![\\w-])${way}(?:-twin)?(?![\\w])` : `(?<=/)${way}(?=[/?#\\s]|$)`,
    );
  });
  if (ways.length === 0) return (text) => text;
  const all = new RegExp(ways.join("|"), "g");
  return (text) => text.replace(all, mask);
}

export function withoutValues<Report extends FunctionReport>(report: Report, data: Json): Report {
  const hide = masker(data);
  return {
    ...report,
    notes: report.notes.map(hide),
    findings: report.findings.map((finding) => ({
      ...finding,
      thing: hide(finding.thing),
      effect: finding.effect === null ? null : hide(finding.effect),
      // The least data that shows it are values too.
      event: null,
      timeline: finding.timeline.map(({ at, text }) => ({ at, text: hide(text) })),
    })),
  };
}
