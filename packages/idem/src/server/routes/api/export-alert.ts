// GET /api/radar/alerts/:alert/export: the pairs with what their runs did, for the person who puts things right.
import { z } from "zod";
import { alertAsCsv, alertAsMarkdown, noteOfAlert } from "../../../radar/alert-note.ts";
import { apiRoute, RawAnswer } from "../../api/api-route.ts";
import { findAlert } from "../../radar/alert-shape.ts";

const formats = {
  md: { write: alertAsMarkdown, type: "text/markdown; charset=utf-8" },
  csv: { write: alertAsCsv, type: "text/csv; charset=utf-8" },
} as const;

export const exportAlert = apiRoute({
  method: "GET",
  path: "/api/radar/alerts/:alert/export",
  summary: "Export an alert's pairs with the outputs of their steps, as Markdown or CSV",
  tag: "radar",
  query: { format: z.enum(["md", "csv"]).default("md") },
  answer: z.string(),
  handle: async ({ params, query, engine, env }) => {
    const alert = await findAlert(engine, env, params.alert!);
    const note = await noteOfAlert(engine.store, env, alert, engine.registry.fullName(alert.fn));
    const { write, type } = formats[query.format];
    const headers = {
      "content-type": type,
      "content-disposition": `attachment; filename="alert-${alert.id}.${query.format}"`,
    };
    return new RawAnswer({ status: 200, headers, body: write(note) });
  },
});
