// The local socket of a store's owner: line-delimited JSON, one request and one answer per line. It lets the commands that write
// (`idem send`, `cancel`, `pause`, `prune`, …) write to a file that only its owner may write to.
import { errors, IdemError } from "../model/errors.ts";
import type { LocalConnection, LocalSockets, Platform, Timer } from "../platform/platform.ts";
import type { Ask, DeskAnswers, DeskCommand } from "./owner-desk.ts";

/** Twice what an event may weigh; a longer line is refused before it is read to its end. */
export const lineCharsMax = 1024 * 1024;
// A connection that says nothing for so long is closed.
const silenceMs = 30_000;

type Answer =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly code: IdemError["code"] | null;
      readonly facts: Readonly<Record<string, unknown>>;
      readonly message: string;
    };

export interface OwnerSocket {
  close(): Promise<void>;
}

export async function openOwnerSocket(
  local: LocalSockets,
  file: string,
  ask: Ask,
  platform: Pick<Platform, "timer">,
): Promise<OwnerSocket> {
  return local.listen(file, (connection) => serve(connection, ask, platform));
}

function serve(connection: LocalConnection, ask: Ask, platform: Pick<Platform, "timer">): void {
  let silence: Timer | null = null;
  let isClosed = false;
  const expectWords = () => {
    silence?.cancel();
    if (!isClosed) silence = platform.timer(silenceMs, () => connection.close(), { background: true });
  };
  connection.onClose(() => {
    isClosed = true;
    silence?.cancel();
  });
  // One at a time and in order: an answer belongs to the oldest request without one.
  let last = Promise.resolve();
  const say = (answer: Answer) => connection.write(`${JSON.stringify(answer)}\n`);
  onLines(connection, {
    line: (line) => {
      silence?.cancel();
      last = last.then(async () => {
        say(await answerLine(line, ask));
        expectWords();
      });
    },
    tooLong: () => {
      say(refusal(errors.OPTION_INVALID({ option: "request", why: `it is longer than ${lineCharsMax} characters` })));
      connection.close();
    },
  });
  expectWords();
}

async function answerLine(line: string, ask: Ask): Promise<Answer> {
  try {
    const request: unknown = JSON.parse(line);
    if (typeof request !== "object" || request === null) {
      throw errors.OPTION_INVALID({ option: "request", why: "it must be an object" });
    }
    const { command, env, ...rest } = request as Record<string, unknown>;
    return { ok: true, value: await ask(command as DeskCommand, env as string, rest as never) };
  } catch (error) {
    return refusal(error);
  }
}

const refusal = (error: unknown): Answer =>
  error instanceof IdemError
    ? { ok: false, code: error.code, facts: error.facts, message: error.message }
    : { ok: false, code: null, facts: {}, message: error instanceof Error ? error.message : String(error) };

/** The other side: the process that has the file open, or null when none listens. */
export async function callOwner(
  local: LocalSockets,
  file: string,
  platform: Pick<Platform, "timer">,
  answerMs: number,
): Promise<{ readonly ask: Ask; close(): void } | null> {
  const connection = await local.connect(file);
  if (connection === null) return null;
  const waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void }[] = [];
  const lose = (why: string) => {
    for (const { reject } of waiting.splice(0)) reject(errors.STORE_UNAVAILABLE({ why }));
  };
  onLines(connection, {
    line: (line) => waiting.shift()?.resolve(JSON.parse(line) as Answer),
    tooLong: () => {
      lose("its owner's answer is too long to read");
      connection.close();
    },
    // An answer may list thousands of decisions; it comes from our own kind.
    charsMax: 64 * lineCharsMax,
  });
  connection.onClose(() => lose("its owner went away before it answered; whether it was done is not known"));
  const ask: Ask = async (command, env, request) => {
    const line = JSON.stringify({ ...request, command, env });
    if (line.length > lineCharsMax) {
      throw errors.OPTION_INVALID({ option: "request", why: `it is longer than ${lineCharsMax} characters` });
    }
    const answered = new Promise<Answer>((resolve, reject) => waiting.push({ resolve, reject }));
    const patience = platform.timer(answerMs, () =>
      lose(`its owner did not answer within ${answerMs} ms; whether it was done is not known`),
    );
    connection.write(`${line}\n`);
    try {
      const answer = await answered;
      if (answer.ok) return answer.value as DeskAnswers[typeof command];
      if (answer.code !== null) throw new IdemError(answer.code, answer.facts);
      throw errors.STORE_UNAVAILABLE({ why: `its owner refused: ${answer.message}` });
    } finally {
      patience.cancel();
    }
  };
  return { ask, close: () => connection.close() };
}

function onLines(
  connection: LocalConnection,
  take: { line: (line: string) => void; tooLong: () => void; charsMax?: number },
): void {
  const charsMax = take.charsMax ?? lineCharsMax;
  let pieces: string[] = [];
  let chars = 0;
  let refused = false;
  connection.onText((text) => {
    if (refused) return;
    const lines = text.split("\n");
    for (const [i, piece] of lines.entries()) {
      chars += piece.length;
      if (chars > charsMax) {
        refused = true;
        pieces = [];
        take.tooLong();
        return;
      }
      pieces.push(piece);
      if (i === lines.length - 1) return;
      const line = pieces.join("");
      pieces = [];
      chars = 0;
      if (line !== "") take.line(line);
    }
  });
}
