// The instructions of a Dockerfile, each with its stage. Enough of the language for ours.
export function readDockerfile(text) {
  const lines = text
    .split("\n")
    .filter((line) => !/^\s*#/.test(line))
    .join("\n")
    .replaceAll(/\\\n\s*/g, "");
  let stage = -1;
  return lines.split("\n").flatMap((line) => {
    const [, name, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === undefined) return [];
    if (name === "FROM") stage++;
    return [{ stage, name, rest }];
  });
}

/** What is left of a text in shell form; the words of one in exec form. */
export const execForm = (rest) => JSON.parse(rest.slice(rest.indexOf("[")));

/** The last of its name in the last stage, which is the one that counts. */
export function lastOf(instructions, name) {
  const last = instructions.at(-1).stage;
  return instructions.findLast((each) => each.stage === last && each.name === name)?.rest;
}
