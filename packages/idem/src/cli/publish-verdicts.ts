// `idem verify --publish`: verdicts go where people look, into a store or to a server.
import {
  findingsKeptMax,
  type GivenVerdict,
  type PublishAnswer,
  publishVerdict,
  type VerdictShelf,
  verdictKind,
} from "../observe/published-verdicts.ts";
import { cliName } from "../platform/node-platform.ts";
import { withoutPassword } from "../store/postgres/address.ts";
import type { VerifiedFunction } from "../verify/report.ts";
import type { DescribedFunction } from "../verify/worker/messages.ts";
import type { Context } from "./command.ts";
import { locateStore, type StoreAddress } from "./find-store.ts";
import { cannot } from "./load-program.ts";
import { readStore } from "./open-reading.ts";
import { printable } from "./printable.ts";
import { writeStore } from "./reach-owner.ts";
import { lineTo } from "./server-line.ts";

export type PublishTo = StoreAddress | { readonly kind: "idem-server"; readonly url: string };

/** As many as a store or a server takes at a time. */
const atOnce = 50;

/** Where verdicts go; null where nobody asked for it. Refuses before anything is played. */
export function readPublish({ io, options, lists }: Context): PublishTo | null {
  const address = options.publish;
  if (address === undefined) return null;
  const part = lists.schedule !== undefined ? "--schedule" : options.events !== undefined ? "--events" : null;
  if (part !== null) {
    throw cannot(
      `--publish says of a function what all its schedules showed, and ${part} plays some of them: HELD would be said of what was not tried. Leave one of the two out.`,
    );
  }
  if (/^https?:\/\//i.test(address)) return { kind: "idem-server", url: address };
  return locateStore(io, address === "" ? undefined : address);
}

export interface VerdictOn {
  readonly fn: Pick<DescribedFunction, "fn" | "env" | "code">;
  readonly verified: VerifiedFunction;
}

/** The published part of a function's verdict: never a text that was made of an event, an answer or a request. */
export function givenVerdictOf(
  { fn, verified }: VerdictOn,
  at: number,
  shorten: (file: string) => string,
): GivenVerdict {
  const { verdict, schedules, effects, findings } = verified;
  const lineOf = (place: VerifiedFunction["place"]) =>
    place === null ? null : { file: shorten(place.file), line: place.line };
  return {
    function: fn.fn,
    verdict,
    schedules,
    effects,
    findingCount: findings.length,
    findings: findings.slice(0, findingsKeptMax).map((finding) => ({
      id: finding.id,
      kind: finding.kind,
      isAccepted: finding.verdict === "ACCEPTED",
      place: lineOf(finding.place),
      schedule: finding.schedule,
    })),
    place: lineOf(verified.place),
    code: fn.code,
    at,
  };
}

/** A fault is one however much was played; that it holds is said only where everything was. */
const isWhole = ({ verdict, unplayed }: VerifiedFunction): boolean =>
  unplayed === 0 || (verdict !== "HELD" && verdict !== "ACCEPTED");

export async function publishVerdicts(
  context: Context,
  to: PublishTo,
  verified: readonly VerdictOn[],
  shorten: (file: string) => string,
): Promise<void> {
  const at = context.now();
  const all = verified.filter((each) => isWhole(each.verified));
  for (const { verified: part } of verified) {
    if (isWhole(part)) continue;
    context.remark(
      `${printable(part.id)} is not published: ${part.unplayed} of its schedules were not played within the budget, and ${part.verdict} would be said of them, too. --budget gives more.`,
    );
  }
  if (all.length === 0) return;
  const answers: PublishAnswer[] = [];
  for (const env of new Set(all.map(({ fn }) => fn.env))) {
    const verdicts = all.filter(({ fn }) => fn.env === env).map((each) => givenVerdictOf(each, at, shorten));
    answers.push(
      ...(to.kind === "idem-server"
        ? await publishToServer(context, to.url, env, verdicts)
        : await publishToStore(context, to, env, verdicts)),
    );
  }
  const older = answers.filter((answer) => answer === "older").length;
  const count = answers.length - older;
  const left = older === 0 ? "" : `; of ${older} a newer one is there, and stays`;
  context.remark(`${count} ${count === 1 ? "verdict is" : "verdicts are"} published to ${shownAddress(to)}${left}.`);
}

function shownAddress(to: PublishTo): string {
  if (to.kind === "file") return printable(to.path);
  return printable(to.kind === "server" ? withoutPassword(to.url) : new URL(to.url).origin);
}

async function publishToStore(
  { io, now }: Context,
  address: StoreAddress,
  env: string,
  verdicts: readonly GivenVerdict[],
): Promise<PublishAnswer[]> {
  const place = { address, env, app: undefined };
  return writeStore(io, place, async (ask) => {
    const shelf: VerdictShelf = {
      settings: () => readStore(io, place, ({ reads }) => reads.settings(env, verdictKind)),
      set: (input) => ask("set", env, input),
    };
    const answers: PublishAnswer[] = [];
    for (const verdict of verdicts) answers.push(await publishVerdict(shelf, verdict, { by: cliName(), now: now() }));
    return answers;
  });
}

async function publishToServer(
  { io }: Context,
  url: string,
  env: string,
  verdicts: readonly GivenVerdict[],
): Promise<PublishAnswer[]> {
  const line = lineTo(io, { url, key: undefined }, env);
  const answers: PublishAnswer[] = [];
  for (let from = 0; from < verdicts.length; from += atOnce) {
    const body = { verdicts: verdicts.slice(from, from + atOnce) };
    const told = await line.ask("POST /api/verdicts", { body, what: "The verdicts" });
    if (told === null) throw cannot(`${line.where} does not take verdicts: it is no Idem server, or an older one.`);
    answers.push(...told.verdicts.map(({ answer }) => answer));
  }
  return answers;
}
