// idem secret make: keys and passwords nobody guesses. They are made on this machine, printed, and kept nowhere.
import { type SecretKind, secretBytes, secretKinds, secretUses, writtenSecret } from "../../model/secret.ts";
import { type Command, type Context, storeOptions } from "../command.ts";
import { exitCodes, usage } from "../exit.ts";
import { printable } from "../printable.ts";

export const secret: Command = {
  name: "secret",
  summary: "make a key or password nobody guesses; printed once, kept nowhere",
  whyNoServer:
    "a secret is made here and shown to nobody else; `rotate` needs the keys of the store: run it where the server runs, with --store.",
  usage: `make [${secretKinds.join(" | ")}] | rotate`,
  words: { min: 1, max: 2 },
  options: storeOptions,
  details: [
    "With a kind, that secret alone is printed; without, one of each as lines of an environment file.",
    "rotate: seals every secret in the store with the first key of IDEM_SECRET_KEY, also those in clear; the process that has the store must know it.",
    ...secretKinds.map((kind) => `${kind}: ${secretUses[kind].use} (${secretUses[kind].variable})`),
  ],
  examples: ["idem secret make >> .env", "export IDEM_SIGNING_KEY=$(idem secret make signing-key)"],
  async run(context) {
    const [action, kind] = context.words;
    if (action === "rotate" && kind === undefined) return rotate(context);
    if (action !== "make") throw usage("Say idem secret make, and which kind where one is meant.");
    if (kind === undefined) return makeAll(context);
    if (!isKind(kind)) throw usage(`There is no secret "${printable(kind)}"; there are ${secretKinds.join(", ")}.`);
    const text = made(context, kind);
    if (context.isJson) context.json({ [secretUses[kind].variable]: text });
    else context.say(text);
    return exitCodes.ok;
  },
};

async function rotate(context: Context): Promise<number> {
  const { sealed, same } = await context.write((ask) => ask("reseal", context.env, {}));
  if (context.isJson) context.json({ sealed, same });
  else
    context.say(
      `${sealed} sealed with the first key of IDEM_SECRET_KEY, ${same} were already; the other keys are not needed any more`,
    );
  return exitCodes.ok;
}

function makeAll(context: Context): number {
  const all = secretKinds.map((kind) => [secretUses[kind].variable, made(context, kind)] as const);
  if (context.isJson) context.json(Object.fromEntries(all));
  else for (const [variable, text] of all) context.say(`${variable}=${text}`);
  return exitCodes.ok;
}

const isKind = (text: string): text is SecretKind => secretKinds.some((kind) => kind === text);

const made = ({ io }: Context, kind: SecretKind): string =>
  writtenSecret(kind, io.platform.randomBytes(secretBytes[kind]));
