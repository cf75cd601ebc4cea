// GET /api/openapi.json. Told the table when it is asked: it stands in the table itself.
import { readPackageText } from "../../../platform/package-files.ts";
import { openapiDocument } from "../../openapi.ts";
import { json, type Route } from "../../route.ts";

export function readOpenapi(routes: () => readonly Route[]): Route {
  let document: unknown = null;
  return {
    method: "GET",
    path: "/api/openapi.json",
    access: "open",
    bodyBytesMax: null,
    errors: "problem",
    handle: () => {
      document ??= openapiDocument(routes(), version());
      return json(document);
    },
  };
}

const version = (): string => (JSON.parse(readPackageText("../package.json")) as { version: string }).version;
