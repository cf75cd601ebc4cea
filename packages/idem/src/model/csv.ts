// Rows for a spreadsheet (RFC 4180). Cells hold other people's words, and none of them may become a formula.

/** Also behind white space, which spreadsheets skip, and as East Asian input methods write it. */
const formula = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
// A spreadsheet of many countries separates cells by semicolons, and some guess tabs: what is between quotes is one cell to all of them.
const apart = /[",;\t\r\n]/;

export const csvOf = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => `${cells.map(cellOf).join(",")}\r\n`).join("");

function cellOf(text: string): string {
  const inert = formula.test(text) ? `'${text}` : text;
  return apart.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
