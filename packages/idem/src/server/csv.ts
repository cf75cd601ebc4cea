// Rows for a spreadsheet (RFC 4180). What a spreadsheet would take for a formula stays text: subjects and reasons are anybody's words.

export const csvOf = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => `${cells.map(cellOf).join(",")}\r\n`).join("");

function cellOf(text: string): string {
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
