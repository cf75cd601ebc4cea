// Text for those who cannot hold U+0000, which JavaScript's strings, and so a sender's event id, may well contain: PostgreSQL refuses it, and
// Deno's SQLite cuts text there when it is read. It is written with a marker no text of people contains; the marker itself is written
// with it too, so nothing two senders wrote ever becomes one.
const marker = "\uFFFF";

export const encodeText = (text: string): string =>
  text.includes("\u0000") || text.includes(marker)
    ? text.replaceAll(marker, `${marker}1`).replaceAll("\u0000", `${marker}0`)
    : text;

export const decodeText = (text: string): string =>
  text.includes(marker) ? text.replace(/\uFFFF([01])/g, (_, kind: string) => (kind === "0" ? "\u0000" : marker)) : text;
