// GET /api/overview: is everything all right, and if not, where?
import { z } from "zod";
import { apiRoute } from "../../api/api-route.ts";
import { overview, overviewOf } from "../../api/overview-shape.ts";

export const readOverview = apiRoute({
  method: "GET",
  path: "/api/overview",
  summary: "Read how all functions do: runs that ended, failed, ran twice, took, and stand in line",
  tag: "server",
  query: { range: z.enum(["1h", "24h", "7d"]).default("24h") },
  answer: overview,
  handle: ({ query, engine, env, now }) => overviewOf(engine, env, query.range, now),
});
