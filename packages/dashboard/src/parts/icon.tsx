// Line drawings, 16 by 16, in the colour of the text around them. They never stand for a word alone: the word is beside them.
import type { ReactNode } from "react";

const line = {
  fill: "none",
  stroke: "currentColor",
  strokeWidth: 1.5,
  strokeLinecap: "round",
  strokeLinejoin: "round",
} as const;
const drawn = (d: string): ReactNode => <path d={d} {...line} />;

const drawings = {
  overview: drawn("M2.5 13.5h11M4 13.5V8.5M8 13.5V3.5M12 13.5V6.5"),
  workers: drawn("M2.5 2.5h11v4.5h-11zM2.5 9h11v4.5h-11zM5 4.8h.01M5 11.3h.01M8 4.8h3M8 11.3h3"),
  runs: drawn("M2 4h12M2 8h8M2 12h10"),
  radar: (
    <>
      <circle cx="8" cy="8" r="6.25" {...line} />
      <circle cx="8" cy="8" r="2.75" {...line} />
      {drawn("M8 8l4.4-4.4")}
    </>
  ),
  explain: drawn("M2 3.5h12v8H7.5L4 14v-2.5H2zM5 6.5h6M5 8.8h4"),
  events: drawn("M9 1.5L3.5 9H8l-1 5.5L12.5 7H8z"),
  keys: (
    <>
      <circle cx="5" cy="11" r="3.2" {...line} />
      {drawn("M7.4 8.6L13.5 2.5M11 5l2 2")}
    </>
  ),
  functions: drawn("M6 2.5C3.5 2.5 5 7 2.5 8 5 9 3.5 13.5 6 13.5M10 2.5c2.5 0 1 4.5 3.5 5.5-2.5 1-1 5.5-3.5 5.5"),
  webhooks: drawn("M10.5 2v7a3.25 3.25 0 1 1-6.5 0V7.5M4 7.5L2 9.5m2-2l2 2"),
  apps: drawn("M2.5 2.5h4.5v4.5h-4.5zM9 2.5h4.5v4.5h-4.5zM2.5 9h4.5v4.5h-4.5zM9 9h4.5v4.5h-4.5z"),
  audit: drawn("M4 1.5h6l3 3v10H4zM10 1.5v3h3M6.5 8h4M6.5 11h4"),
  settings: drawn("M2 4.5h6M12 4.5h2M2 11.5h2M8 11.5h6M10 2.5v4M6 9.5v4"),
  out: drawn("M6 3.5H3v9.5h9.5V10M9 2.5h4.5V7M13 3L7.5 8.5"),
  leave: drawn("M6.5 2.5H3v11h3.5M6.5 8H14M11 5l3 3-3 3"),
  more: (
    <>
      <circle cx="3" cy="8" r="1.4" fill="currentColor" />
      <circle cx="8" cy="8" r="1.4" fill="currentColor" />
      <circle cx="13" cy="8" r="1.4" fill="currentColor" />
    </>
  ),
  down: drawn("M5 6.5L8 9.5l3-3"),
  right: drawn("M6.5 4.5L10 8l-3.5 3.5"),
  arrow: drawn("M3 8h9.5M9 4.5L12.5 8 9 11.5"),
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" {...line} />
      {drawn("M10.5 3.5v-.5A.5.5 0 0 0 10 2.5H3a.5.5 0 0 0-.5.5v7a.5.5 0 0 0 .5.5h.5")}
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.5" {...line} />
      {drawn("M10.5 10.5L14 14")}
    </>
  ),
  check: <path d="M3 8.5l3.2 3.2L13 4.8" {...line} strokeWidth={2} />,
  cross: <path d="M4 4l8 8m0-8l-8 8" {...line} strokeWidth={2} />,
  download: drawn("M8 2v8M4.5 7L8 10.5 11.5 7M2.5 13.5h11"),
  table: drawn("M2 3h12v10H2zM2 6.5h12M6.5 6.5V13"),
  pause: drawn("M5.5 3.5v9M10.5 3.5v9"),
} as const;

export type IconName = keyof typeof drawings;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      {drawings[name]}
    </svg>
  );
}

export function Brand() {
  return (
    <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
      <rect
        x="1"
        y="4.5"
        width="12"
        height="12"
        rx="6"
        fill="none"
        stroke="currentColor"
        strokeWidth="2"
        strokeDasharray="2.6 2.4"
        opacity=".55"
      />
      <circle cx="14.5" cy="11" r="6.5" fill="currentColor" />
    </svg>
  );
}
