// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { findWords, openApp, screen, stopClock, textAt, textsOf, waitFor } from "../../../tests/test-app.tsx";

stopClock();

test("the overview says what needs a person, worst first, and its numbers lead to exactly what they count", async () => {
  await openApp("/");
  await waitFor(() => expect(textsOf(".needs li p").length).toBeGreaterThan(3));
  const told = textsOf(".needs li p");
  expect(told[0]).toMatch(/ran again though nobody asked for it/);
  expect(told.findIndex((text) => /failed/.test(text))).toBeGreaterThan(0);
  expect(told.at(-1)).toContain("4 runs in line at render-image behind concurrency 2.");
  expect(await textAt(".all-ends .figure b")).toBe("9");
  const hrefs = (words: RegExp) =>
    screen.getAllByRole("link", { name: words }).map((link) => link.getAttribute("href"));
  expect(hrefs(/^The runs of send-placement-welcome that ended/)[0]).toMatch(
    /^\/runs\?.*fn=agency-send-placement-welcome.*by=ended|^\/runs\?.*by=ended.*fn=agency-send-placement-welcome/,
  );
  expect(hrefs(/^See it$/).some((href) => /state=failed/.test(href!))).toBe(true);
});

test("the charts' cursor tells its values once, by keys, and Enter opens those runs", async () => {
  const { user, address } = await openApp("/");
  await findWords("ended", ".all-ends .values");
  const charts = document.querySelector<HTMLElement>(".all-ends")!;
  charts.focus();
  const now = textsOf(".all-ends .values")[0];
  await user.keyboard("{ArrowLeft}");
  expect(textsOf(".all-ends .values")[0]).not.toBe(now);
  await user.keyboard("{ArrowRight}");
  expect(textsOf(".all-ends .values")[0]).toBe(now);
  await user.keyboard("{Enter}");
  await waitFor(() => expect(address().searchParams.get("by")).toBe("ended"));
});
