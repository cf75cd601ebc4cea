// HTTP by any client that ends in `fetch` or `node:http(s)`.
import { AsyncLocalStorage } from "node:async_hooks";
import { environment } from "../../platform/node-thread.ts";
import { DestinationModel, type ModelAnswer, type ModelRequest } from "../destination-model.ts";
import { knownHost } from "../known-hosts.ts";
import { recordedOf, secretsOf, withoutSecrets } from "../recordings.ts";
import { AbsentFields, watchAbsent } from "./absent-fields.ts";
import { askReal } from "./ask-real.ts";
import { asMachine } from "./caller.ts";
import { carryOnModel } from "./carry-on-model.ts";
import { doorOf, interceptHttp, lostConnection, refuse } from "./intercept-http.ts";
import { realClearTimeout, realSetTimeout } from "./real.ts";
import type { Outside, Watcher } from "./watcher.ts";
import type { Fixture } from "./world-script.ts";

let model: DestinationModel | null = null;
let absent: AbsentFields | null = null;

/** One request of a world's code. Throws what a broken connection throws. */
export async function askOutside(outside: Outside, request: ModelRequest): Promise<ModelAnswer> {
  const fields = absent!;
  const answer = await carryOut(outside, request);
  if (answer.isMadeUp) fields.watch(answer.body, request);
  else fields.trust(answer.body);
  return answer;
}

async function carryOut(outside: Outside, request: ModelRequest): Promise<ModelAnswer> {
  const here = model!;
  refuse(outside, doorOf(request));
  await recordReal(outside, request);
  const answer = await carryOnModel(here, request, outside);
  if (answer === null) throw lostConnection();
  return answer;
}

interface Recording {
  readonly hosts: readonly string[];
  /** The user's own fixture says what is answered: nobody is asked. */
  readonly isGiven: (request: ModelRequest) => boolean;
  readonly recorded: Fixture[];
  /** Answers, by the exact question. */
  readonly answers: Map<string, Fixture>;
}

let recording: Recording | null = null;

const questionOf = ({ method, url, body }: ModelRequest): string => `${method} ${url.href} ${body}`;

/** Asks a host that is allowed to be asked, and keeps its answer: from then on it is the model's. */
async function recordReal(outside: Outside, request: ModelRequest): Promise<void> {
  const { method, url } = request;
  if (recording === null || !recording.hosts.includes(url.host) || recording.isGiven(request)) return;
  const { hosts, recorded, answers } = recording;
  // The world waits: it is stirred every now and then, as something is under way.
  const underWay = AsyncLocalStorage.bind(() => outside.begin()());
  const answered = asMachine(async () => {
    const stir = (): void => {
      underWay();
      timer = realSetTimeout(stir, 200);
    };
    let timer = realSetTimeout(stir, 200);
    try {
      return await askReal(request, hosts);
    } finally {
      realClearTimeout(timer);
    }
  });
  try {
    const kept = recordedOf({ method, url }, await answered);
    recorded.push(kept);
    answers.set(questionOf(request), kept);
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? cause.message : message;
    outside.unproven(`${url.host} was to be recorded and could not be asked: ${why}`);
    throw error;
  }
}

export const watchHttp: Watcher = {
  name: "http",
  open: (outside) => interceptHttp(outside, (request) => askOutside(outside, request)),
  begin(world) {
    const recorded: Fixture[] = [];
    const answers = new Map<string, Fixture>();
    const given = (request: ModelRequest) => world.given(request) ?? answers.get(questionOf(request)) ?? null;
    const mine = new DestinationModel({ ...world, given, hostOf: knownHost });
    model = mine;
    const fields = new AbsentFields(world.events);
    absent = fields;
    watchAbsent(fields);
    const isGiven = (request: ModelRequest) => world.given(request) !== null;
    recording = world.recordFrom.length === 0 ? null : { hosts: world.recordFrom, isGiven, recorded, answers };
    return {
      things: () => mine.things(),
      madeIds: mine.madeIds,
      // The run itself needs the tokens it was answered; later runs get what is kept.
      recorded: () => recorded.map((each) => withoutSecrets(each, secretsOf(environment()))),
      absent: () => fields.found(),
    };
  },
};
