// POST /api/verdicts: the findings of `idem verify --publish`, for people who look at the functions.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import {
  type PublishAnswer,
  publishVerdict,
  type VerdictShelf,
  verdictKind,
} from "../../../observe/published-verdicts.ts";
import { apiRoute } from "../../api/api-route.ts";
import { givenVerdict } from "../../api/verdict-shape.ts";

// A program's functions come in parts of this many.
const verdictsMax = 50;
// Functions verified before they are deployed are not registered yet; nobody has this many.
const keptMax = 5_000;

export const publishVerdicts = apiRoute({
  method: "POST",
  path: "/api/verdicts",
  summary: "Publish verdicts of idem verify; of each function the newest stays",
  tag: "functions",
  bodyBytesMax: 1024 * 1024,
  body: { verdicts: z.array(givenVerdict).min(1).max(verdictsMax) },
  answer: z.object({
    verdicts: z.array(
      z.object({
        function: z.string(),
        answer: z
          .enum(["published", "same", "older"])
          .describe("`same`: it is there already; `older`: a newer one is there, and stays"),
      }),
    ),
  }),
  handle: async ({ body, engine, env, now, actor }) => {
    const { store } = engine;
    const settings = () => store.reads.settings(env, verdictKind);
    const known = new Set((await settings()).map(({ name }) => name));
    const fresh = body.verdicts.filter(({ function: fn }) => !known.has(fn));
    if (known.size + fresh.length > keptMax) {
      throw errors.REQUEST_INVALID({
        why: `there are verdicts of ${known.size} functions, and ${keptMax} can be kept`,
      });
    }
    const shelf: VerdictShelf = { settings, set: (input) => store.set({ ...input, env, actor: actor.name }) };
    const answers: { function: string; answer: PublishAnswer }[] = [];
    for (const verdict of body.verdicts) {
      const answer = await publishVerdict(shelf, verdict, { by: actor.name, now });
      answers.push({ function: verdict.function, answer });
    }
    return { verdicts: answers };
  },
});
