// A time as it was chosen ("7d" before now), made an instant: for things that must stay about the same time, whenever they are looked at.

const unitMs: Readonly<Record<string, number>> = { s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5 };

export function instantOf(text: string): number | null {
  const ms = /^\d{10,13}$/.test(text) ? Number(text) : Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

/** "1h" means the hour before now; what is chosen by hand is an instant already. */
export function pinned(text: string, now: number): string {
  const ago = /^(\d+)([smhdw])$/.exec(text);
  const at = ago === null ? instantOf(text) : now - Number(ago[1]) * unitMs[ago[2]!]!;
  return at === null ? text : new Date(at).toISOString();
}
