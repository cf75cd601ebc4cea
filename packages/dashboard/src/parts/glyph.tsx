// The end of one asking, in the shapes the whole dashboard uses: a square ran first, a ring was stopped, a diamond slipped through,
// an open square was asked for by a person, two squares are a key that ran twice, a dashed ring with a question was not shown.
export type GlyphName = "first" | "suppressed" | "slipped" | "rerun" | "doubled" | "unproven";

const shapes = {
  first: <rect x="3" y="3" width="10" height="10" rx="1.5" fill="currentColor" />,
  suppressed: <circle cx="8" cy="8" r="5" fill="none" stroke="currentColor" strokeWidth="2" />,
  slipped: <path d="M8 1.5L14.5 8 8 14.5 1.5 8z" fill="currentColor" />,
  rerun: (
    <rect x="3.75" y="3.75" width="8.5" height="8.5" rx="1.5" fill="none" stroke="currentColor" strokeWidth="1.5" />
  ),
  doubled: (
    <>
      <rect x="1" y="1" width="9" height="9" rx="1.5" fill="currentColor" />
      <rect x="5.2" y="5.2" width="10.3" height="10.3" rx="2.2" fill="var(--surface)" />
      <rect x="6" y="6" width="9" height="9" rx="1.5" fill="currentColor" />
    </>
  ),
  unproven: (
    <>
      <circle cx="8" cy="8" r="6.25" fill="none" stroke="currentColor" strokeWidth="1.5" strokeDasharray="2.4 2.5" />
      <path
        d="M6.2 6.3a1.8 1.8 0 1 1 2.6 1.6c-.5.3-.8.6-.8 1.2M8 11.2v.1"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
      />
    </>
  ),
} as const;

const colours = {
  first: "quiet",
  suppressed: "suppressed",
  slipped: "doubled",
  rerun: "quiet",
  doubled: "doubled",
  unproven: "quiet",
} as const;

/** Give `words` where no text beside it says the same. */
export function Glyph({
  name,
  size = 12,
  words,
}: {
  readonly name: GlyphName;
  readonly size?: number;
  readonly words?: string;
}) {
  return (
    <span className={`state-icon ${colours[name]}`}>
      <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
        {shapes[name]}
      </svg>
      {words !== undefined && <span className="spoken">{words}</span>}
    </span>
  );
}
