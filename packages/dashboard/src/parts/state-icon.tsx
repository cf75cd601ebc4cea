// A run's or a step's state, as a shape first and a colour second: the picture still works in grey.
import "./state-icon.css";

export type State = "queued" | "running" | "waiting" | "parked" | "completed" | "failed" | "cancelled";

const line = {
  fill: "none",
  stroke: "currentColor",
  strokeWidth: 1.5,
  strokeLinecap: "round",
  strokeLinejoin: "round",
} as const;
const inner = {
  fill: "none",
  stroke: "var(--surface)",
  strokeWidth: 1.75,
  strokeLinecap: "round",
  strokeLinejoin: "round",
} as const;

const shapes = {
  queued: <circle cx="8" cy="8" r="6.25" {...line} strokeDasharray="2.4 2.5" />,
  running: (
    <>
      <circle cx="8" cy="8" r="6.25" {...line} strokeOpacity=".35" />
      <path className="quarter" d="M8 1.75A6.25 6.25 0 0 1 14.25 8" {...line} strokeWidth="2" />
      <path d="M6.6 5.6v4.8L10.6 8z" fill="currentColor" />
    </>
  ),
  waiting: (
    <>
      <circle cx="8" cy="8" r="6.25" {...line} />
      <path d="M8 4.5V8l2.4 1.5" {...line} />
    </>
  ),
  parked: (
    <>
      <rect x="1.75" y="1.75" width="12.5" height="12.5" rx="3" {...line} />
      <path d="M6.4 11.6V4.6h2.2a2 2 0 0 1 0 4.2H6.4" {...line} />
    </>
  ),
  completed: (
    <>
      <circle cx="8" cy="8" r="7" fill="currentColor" />
      <path d="M4.8 8.2l2.2 2.2 4.2-4.6" {...inner} />
    </>
  ),
  failed: (
    <>
      <path d="M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1z" fill="currentColor" />
      <path d="M5.7 5.7l4.6 4.6m0-4.6l-4.6 4.6" {...inner} />
    </>
  ),
  cancelled: (
    <>
      <circle cx="8" cy="8" r="6.25" {...line} />
      <path d="M3.8 12.2l8.4-8.4" {...line} />
    </>
  ),
} as const;

/** `words` false where the state's name stands beside it. */
export function StateIcon({
  state,
  size = 16,
  words = true,
}: {
  readonly state: State;
  readonly size?: number;
  readonly words?: boolean;
}) {
  return (
    <span className={`state-icon ${state}`}>
      <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
        {shapes[state]}
      </svg>
      {words && <span className="spoken">{state}</span>}
    </span>
  );
}
