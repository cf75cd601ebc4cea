// A story on a terminal: the verdict first, the four gates, what happened with its times in one column, whose ids are meant, and what to do.
import type { Story, StoryFact, StoryGate, StoryHit, StoryTodo } from "../stories/story.ts";
import { factText, gateTitles, gateWords } from "../stories/story-text.ts";
import type { Context } from "./command.ts";
import { printable, textWidth } from "./printable.ts";
import { type Said, sayBeside } from "./say-beside.ts";
import { iso } from "./times.ts";

export function showStory(context: Context, story: Story, nameOf: (fn: string) => string): void {
  const { paint } = context;
  const say = (...said: Said) => sayBeside(context, ...said);
  const heading = (text: string) => {
    context.say("");
    context.say(paint.bold(text));
  };
  say("", `${story.title}.`, "", paint.bold);
  if (story.detail !== "") say("", story.detail);

  context.say("");
  const titleWidth = widest(story.gates.map(({ gate }) => gateTitles[gate]));
  const wordsWidth = widest(story.gates.map(({ state }) => gateWords[state]));
  for (const { gate, state, reason } of story.gates) {
    const [sign, colour] = signOf(state, paint);
    const rest = ` ${gateTitles[gate].padEnd(titleWidth)}  ${gateWords[state].padEnd(wordsWidth)}  `;
    say(`${sign}${rest}`, reason, colour(`${sign}${rest}`));
  }

  if (story.facts.length > 0) {
    const { day, timeOf } = clockOf(story.facts);
    heading(`What happened${day}`);
    const width = widest(story.facts.map(({ at }) => (at === null ? "now" : timeOf(at))));
    for (const fact of story.facts) {
      const label = `${(fact.at === null ? "now" : timeOf(fact.at)).padEnd(width)}  ${factSigns[fact.kind] ?? "·"} `;
      say(label, factText(fact, timeOf), (fact.kind === "slipped" ? paint.yellow : paint.dim)(label));
    }
  }

  if (story.things.length > 0) {
    heading("In this story");
    const names = story.things.map(({ kind, name }) => printable(kind === "event" ? `Event ${name}` : name));
    const width = widest(names);
    story.things.forEach(({ id, state, words }, i) => {
      const pad = " ".repeat(width - textWidth(names[i]!));
      context.say(
        `${names[i]}${pad}  ${[id, state, words]
          .filter(Boolean)
          .map((text) => printable(text!))
          .join("  ")}`,
      );
    });
  }

  if (story.todo.length > 0) {
    heading("What to do now");
    story.todo.forEach((todo, i) => {
      say(`${i + 1}. `, todo.text);
      const line = wayOf(todo, nameOf);
      // Whole, for copying.
      if (line !== null) context.say(`     ${printable(line)}`);
    });
  }
}

export function showHits(context: Context, hits: readonly StoryHit[], nameOf: (fn: string) => string): void {
  const ways = hits.map(({ as, id, function: fn }) => {
    const word = printable(shellWord(id));
    if (as === "key") return `idem explain --function ${printable(shellWord(nameOf(fn!)))} --key ${word}`;
    return `idem explain ${word}${as === "entity" ? ` --function ${printable(shellWord(nameOf(fn!)))}` : ""}`;
  });
  const width = widest(ways);
  hits.forEach(({ words }, i) => {
    context.say(`  ${ways[i]}${" ".repeat(width - textWidth(ways[i]!))}  ${context.paint.dim(printable(words))}`);
  });
}

const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(textWidth));

// The shapes of the dashboard: what slipped through is filled, what was stopped is a ring.
const signOf = (state: StoryGate["state"], paint: Context["paint"]): readonly [string, (text: string) => string] =>
  state === "let-through" ? ["◆", paint.yellow] : state === "stopped" ? ["○", paint.green] : ["·", paint.dim];

const factSigns: Readonly<Partial<Record<StoryFact["kind"], string>>> = {
  first: "■",
  slipped: "◆",
  suppressed: "○",
  rerun: "□",
};

/** The day once where it is one, else on each line. UTC, as every command has it. */
function clockOf(facts: readonly StoryFact[]): { readonly day: string; readonly timeOf: (at: number) => string } {
  const days = new Set(
    facts.flatMap(({ at, untilAt }) => [at, untilAt]).flatMap((at) => (at === null ? [] : iso(at).slice(0, 10))),
  );
  if (days.size === 0) return { day: "", timeOf: iso };
  return days.size === 1
    ? { day: ` on ${[...days][0]}, UTC`, timeOf: (at) => iso(at).slice(11, 23) }
    : { day: ", UTC", timeOf: (at) => iso(at).slice(0, 23).replace("T", " ") };
}

/** The command, or the line to paste; null for what is done in code. */
function wayOf({ does, id, other }: StoryTodo, nameOf: (fn: string) => string): string | null {
  switch (does) {
    case "cancel-run":
      return `idem cancel ${id}`;
    case "open-run":
      return `idem run ${id}`;
    case "compare":
      return `idem run ${id}; idem run ${other}`;
    case "open-event":
      return `idem release ${id}`;
    case "open-key":
      return other === null ? null : `idem keys --function ${shellWord(nameOf(other))}`;
    case "open-function":
      return "idem functions";
    case "add-key":
      return other;
    case "send-key":
      return other ?? "step.run(id, ({ key }) => …)";
  }
}

/** As a shell takes it for one word. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./][\w@%+=:,./-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
