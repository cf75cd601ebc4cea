// `match: "data.orderId"` is short for `event.data.orderId == async.data.orderId`: the same path in the run's event and in the
// one that arrives. Where either has nothing at that path, they do not match.

const identifier = /^[A-Za-z_]\w*$/;
// CEL's own words cannot follow a dot (CEL specification, "Syntax").
const words = new Set(["in", "true", "false", "null"]);
const part = /(?:^|(?<=.)\.)([^.[\]"'\\`\s]+)|\[(\d+|'[^'\\]*'|"[^"\\]*")\]/y;

export type Matching =
  | { readonly ok: true; readonly expression: string }
  | { readonly ok: false; readonly why: string };

export function matchExpression(path: unknown): Matching {
  const why = (text: string): Matching => ({ ok: false, why: text });
  const wanted = 'it must be a path inside both events, such as "data.orderId"';
  if (typeof path !== "string" || path === "" || path.startsWith("[")) return why(wanted);
  let at = "";
  part.lastIndex = 0;
  while (part.lastIndex < path.length) {
    const found = part.exec(path);
    if (found === null) return why(wanted);
    const [, name, index] = found;
    if (name === undefined) at += `[${index}]`;
    else if (/^\d+$/.test(name)) return why(`${wanted}; write [${name}] for an element of a list`);
    else at += identifier.test(name) && !words.has(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
  }
  if (/^\.(event|async)\b/.test(at)) return why(`${wanted}, without "${at.slice(1, 6)}" before it`);
  return { ok: true, expression: `event${at} == async${at}` };
}
