import { expect, test } from "vitest";
import { readableLanguage } from "./readable-language.ts";

test("a language that Intl does not know is the nearest one it knows, and others stay as they are", () => {
  const said = ["de", "en-US@posix", "pt_BR.UTF-8", "C.UTF-8", "@posix", "not a language"];
  expect(said.map(readableLanguage)).toEqual(["de", "en-US", "pt-BR", "en-GB", "en-GB", "en-GB"]);
});
