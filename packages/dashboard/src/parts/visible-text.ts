// Text of strangers, made so that what is there can be seen and nothing around it can be changed by it: control characters become
// their symbols, and characters that turn the direction of text or take no room become their code.

// Bidirectional controls, zero-width characters, the soft hyphen, tags and the rest of "Cf": none of them can be seen. What joins two
// pictures to one, and the three flags that are spelled with tags, are seen by what they make.
const joined = "(?<=\\p{Extended_Pictographic}[\\uFE0F\\u{1F3FB}-\\u{1F3FF}]*)\\u200D(?=\\p{Extended_Pictographic})";
const tagged = (region: string): string =>
  [...region].map((char) => `\\u{E00${char.charCodeAt(0).toString(16)}}`).join("");
const flags = `\\u{1F3F4}(?:${["gbeng", "gbsct", "gbwls"].map(tagged).join("|")})\\u{E007F}`;
const unseen = new RegExp(`(${joined}|${flags})|[\\p{Cf}\\u2028\\u2029]`, "gu");
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are the ones to be shown
const control = /[\u0000-\u001f\u007f]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a tab or a line's end inside a longer text is only layout
const controlButLayout = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

const symbolOf = (char: string): string => {
  const code = char.charCodeAt(0);
  return String.fromCharCode(code === 0x7f ? 0x2421 : 0x2400 + code);
};
const codeOf = (char: string, seen: string | undefined): string =>
  seen ?? `‹U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}›`;

/** For one line. */
export const visibleText = (text: string): string => text.replace(control, symbolOf).replace(unseen, codeOf);

/** For a block in which lines and tabs are kept. */
export const visibleBlock = (text: string): string => text.replace(controlButLayout, symbolOf).replace(unseen, codeOf);
