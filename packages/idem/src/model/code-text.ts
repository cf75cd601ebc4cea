// A function's text as far as it says what the function does: the same after formatting, after its types are taken out or as CommonJS. Transpilers
// keep names and order, and differ in blanks, comments, quotes, commas, semicolons and brackets around one name; a bundler that minifies says
// something else. It is for a hash: what this little reader takes for a regular expression or a string matters less than that it always does.

const space = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
const word = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const number = /\d[\w.]*/y;
const quoted = /'((?:[^'\\]|\\[\s\S])*)'|"((?:[^"\\]|\\[\s\S])*)"/y;
const expression = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const sign = /=>|[\s\S]/y;
// After these a slash begins a regular expression, and a bracket holds no arguments.
const operators = new Set("return typeof await yield void delete in of instanceof new case throw else do".split(" "));
/** Names of imported modules after a transpiler to CommonJS: stripe_1 (tsc), _stripe (swc). */
const importedAs = /^(?:_\w+|\w+_\d+)$/;
const isWord = (token: string | undefined): boolean => token !== undefined && /^[\p{L}\p{N}_$]/u.test(token);
/** It ends a value: what follows is an operator, or a call of it. */
const isValue = (token: string | undefined): boolean =>
  (isWord(token) && !operators.has(token!)) || token === ")" || token === "]" || /^["`]/.test(token ?? "");

export const codeText = (text: string): string => plain(tokensOf(text, 0).tokens).join(" ");

interface Read {
  readonly tokens: string[];
  /** Behind the bracket that ended it. */
  readonly end: number;
}

/** Until the text is over, or a brace that was not opened here. */
function tokensOf(text: string, from: number): Read {
  const tokens: string[] = [];
  let at = from;
  let depth = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  while (at < text.length) {
    if (take(space) !== null) continue;
    const before = tokens.at(-1);
    const string = take(quoted);
    if (string !== null) {
      tokens.push(`"${(string[1] ?? string[2] ?? "").replace(/\\(['"])/g, "$1")}`);
      continue;
    }
    if (text[at] === "`") {
      const template = templateOf(text, at + 1);
      tokens.push(...template.tokens);
      at = template.end;
      continue;
    }
    const other = take(word)?.[0] ?? numberText(take(number)?.[0]) ?? (isValue(before) ? null : take(expression)?.[0]);
    if (other !== null && other !== undefined) {
      tokens.push(other);
      continue;
    }
    const [mark] = take(sign)!;
    if (mark === "{") depth++;
    if (mark === "}" && depth-- === 0) return { tokens, end: at };
    tokens.push(mark);
  }
  return { tokens, end: at };
}

/** 60_000 is 6e4. */
const numberText = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : String(Number(text.replaceAll("_", "")) || text);

function templateOf(text: string, from: number): Read {
  const tokens: string[] = [];
  let said = "`";
  for (let at = from; at < text.length; at++) {
    const mark = text[at]!;
    if (mark === "`") return { tokens: [...tokens, said], end: at + 1 };
    if (mark === "$" && text[at + 1] === "{") {
      const inner = tokensOf(text, at + 2);
      tokens.push(said, ...inner.tokens);
      said = "`";
      at = inner.end - 1;
    } else {
      said += mark === "\\" ? mark + text[++at] : mark;
    }
  }
  return { tokens: [...tokens, said], end: text.length };
}

/** Without what transpilers add and leave out. */
function plain(tokens: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    const [next, second, third] = tokens.slice(i + 1, i + 4);
    if (token === ";" || (token === "," && /^[)\]}]$/.test(next ?? ""))) continue;
    // (0, stripe_1.create)(…)
    if (token === "(" && next === "0" && second === "," && tokens[i + 4] === "." && tokens[i + 6] === ")") {
      kept.push(tokens[i + 5]!);
      i += 6;
      continue;
    }
    if (next === "." && importedAs.test(token)) {
      i++;
      continue;
    }
    // (event as Event).data, and x => x for (x) => x.
    if (token === "(" && isWord(next) && second === ")" && !isValue(kept.at(-1)) && third !== "=>") {
      kept.push(next!);
      i += 2;
      continue;
    }
    if (next === "=>" && isWord(token)) kept.push("(", token, ")");
    else kept.push(token);
  }
  return kept;
}
