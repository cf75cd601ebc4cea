// Act 2: the engine is off, and three people work through the queue at the same time, each with a double click on everything. They do not
// even agree: one of them rejects.
import { line } from "../shop/counts.mjs";

const people = [
  { by: "Anna", to: "approved", from: 0 },
  { by: "Ben", to: "approved", from: 4 },
  { by: "Carla", to: "rejected", from: 8 },
];

/** Everybody clicks everything twice; the answers are all the clicks, with what each was told. */
export async function clickThrough(agency) {
  const screens = await Promise.all(people.map((person) => agency.person(person)));
  const answers = await Promise.all(screens.map((screen) => screen.ask({ go: true })));
  return answers.flatMap(({ clicks }) => clicks);
}

export async function threePeople(agency) {
  await agency.switchOff();
  const clicks = await clickThrough(agency);
  const entries = agency.queue.list();
  const moved = clicks.filter((click) => click.moved);
  const told = clicks.filter((click) => !click.moved);
  const isTrue = ({ id, state, decidedBy }) => {
    const entry = entries.find((each) => each.id === id);
    return entry.state === state && entry.decided_by === decidedBy;
  };
  const countOf = (state) => entries.filter((entry) => entry.state === state).length;
  return {
    byPerson: people.map(({ by }) => `${by} ${moved.filter((click) => click.by === by).length}`),
    // Somebody who came second, and was not the first one's own double click.
    example: told.find((click) => click.decidedBy !== click.by),
    approved: countOf("approved"),
    rejected: countOf("rejected"),
    lines: [
      line("clicks", 72, clicks.length),
      line("clicks that decided something", 12, moved.length),
      line("entries decided by two clicks", 0, moved.length - new Set(moved.map(({ id }) => id)).size),
      line("clicks that were told who had decided, truly", 60, told.filter(isTrue).length),
      line("entries still pending", 0, countOf("pending")),
    ],
  };
}
