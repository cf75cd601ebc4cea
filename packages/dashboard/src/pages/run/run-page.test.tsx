// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { recorded } from "../../../tests/recorded-server.ts";
import {
  findDialog,
  findWords,
  openApp,
  record,
  screen,
  stopClock,
  textAt,
  textsOf,
  waitFor,
  within,
} from "../../../tests/test-app.tsx";

stopClock();

const { ids } = record;
const script = '<script>window.broken = 1</script><img src=x onerror="window.broken = 2">';
const region = (name: string) => within(screen.getByRole("region", { name }));

test("the second run for a placement says so before anything else, and what it sent under which key", async () => {
  const { user } = await openApp(`/runs/${ids.billedAgain}`);
  await findWords("This is the second run for placementId 48300", ".note");
  await waitFor(() => expect(textsOf("h1")[0]).toContain("agency-bill-placement · 48300, run 2 of 2"));
  // The browser's tab says which run it is.
  await waitFor(() =>
    expect(document.title).toMatch(/agency-bill-placement, placementId 48300, run 2 of 2, waiting · Idem$/),
  );
  expect(textsOf(".waterfall .row .name")).toEqual([
    "queued",
    "fetch-placement",
    "load-markup-table",
    "load-holidays",
    "create-stripe-draft",
    "wait-for-approval",
  ]);
  // A pause says why it is there.
  await findWords("503, again in", ".waterfall");
  const panel = await screen.findByRole("complementary", { name: "Step create-stripe-draft" });
  expect(panel.textContent).toContain("Another destination key than the other run's.");
  expect(panel.textContent).toContain("It made in_1RPq8xUPDATED in 1 try");
  await waitFor(() => expect(panel.querySelector(".payload")?.textContent).toContain("428000"));
  // Both runs wait, and what they made stands under each other: two ids are two invoices.
  await waitFor(() =>
    expect(textsOf(".runs-of-key .preview")).toEqual([
      "So far, by step create-stripe-draft: in_1RPq8xINSERTED",
      "So far, by step create-stripe-draft: in_1RPq8xUPDATED",
    ]),
  );
  // A value of the input leads to the runs that have the same.
  const same = await screen.findByRole("link", { name: "Runs where event.data.placementId == 48300" });
  expect(same.getAttribute("href")).toBe("/runs?cel=event.data.placementId+%3D%3D+48300");
  await user.click(region("Input").getByRole("button", { name: "Raw" }));
  expect(await textAt('[aria-label="Input"] pre')).toBe('{"placementId":48300,"eventType":"UPDATED","clientId":118}');
  await user.click(within(panel).getByRole("link", { name: "Input" }));
  await waitFor(() => expect(panel.textContent).toContain("It was asked for this."));
  await waitFor(() => expect(panel.querySelector(".payload")?.textContent).toContain("placement-48300"));
});

test("what the app says about it stands under its output, what it says about a step beside that step", async () => {
  const { main } = await openApp(`/runs/${ids.paid}?step=charge`);
  await waitFor(() => expect(textsOf('[aria-label="Metadata"] h3')).toEqual(["Scores", "customer"]));
  expect(textsOf('[aria-label="Metadata"] dd')).toEqual(["0.5", `ada ${script}`]);
  expect(textsOf(".step-panel .metadata-kind dt")).toEqual(["model", "input_tokens"]);
  expect(main().querySelectorAll("script, img")).toHaveLength(0);
});

test("what a step's code wrote stands among the run's lines", async () => {
  await openApp(`/runs/${ids.paid}?step=charge`);
  await findWords("the gateway is slow", ".run-logs");
  expect(textsOf(".run-logs li")[0]).toContain('{"ms":900}');
});

test("a step, its tab, the zoom and the table stand in the address", async () => {
  const { user, address } = await openApp(`/runs/${ids.billed}`);
  await user.click(await screen.findByRole("link", { name: "fetch-placement" }));
  await user.click(await screen.findByRole("link", { name: "Attempts 2" }));
  await findWords("Bullhorn answered 503", ".step-panel");
  expect(Object.fromEntries(address().searchParams)).toMatchObject({ step: "fetch-placement", tab: "attempts" });
  await user.click(screen.getByRole("link", { name: "Outcome" }));
  await user.click(await screen.findByRole("button", { name: "Zoom to this step" }));
  await screen.findByRole("button", { name: /show the whole run/ });
  expect(address().searchParams.has("from")).toBe(true);
  await user.keyboard("0");
  await waitFor(() => expect(address().searchParams.has("from")).toBe(false));
  await user.keyboard("t");
  await screen.findByRole("table", { name: "Steps" });
  expect(address().searchParams.get("view")).toBe("table");
  // The zoom is gone, the step is not.
  expect(address().searchParams.get("step")).toBe("fetch-placement");
});

test("a rerun says what it does, starts a run, and leads to it", async () => {
  const { user, address, server } = await openApp(`/runs/${ids.paid}`, (server) =>
    server.answer("POST /api/runs/:run/rerun", { runId: ids.billed }),
  );
  await screen.findByRole("button", { name: "Rerun" });
  await user.keyboard("r");
  const { getByRole, text } = await findDialog();
  expect(text()).toContain("A new run starts, past the key, with the same destination keys");
  await user.click(getByRole("button", { name: "Start a new run" }));
  await waitFor(() => expect(address().pathname).toBe(`/runs/${ids.billed}`));
  expect(server.sent("POST /api/runs/:run/rerun")).toMatchObject([{ path: `/api/runs/${ids.paid}/rerun`, body: {} }]);
});

test("a run that a person asked for says so", async () => {
  await openApp(`/runs/${ids.paid}`, (server) =>
    server.answer("GET /api/runs/:run", (_, answer) => ({
      ...answer,
      run: { ...answer.run, rerunOf: ids.billed },
    })),
  );
  await findWords("A person asked for this run");
});

test("it is rerun from a step with other arguments, once what differs is shown", async () => {
  const charge = recorded("GET /api/runs/:run", ids.paid).run.timeline.find(({ name }) => name === "charge")!;
  const { user, address, server } = await openApp(`/runs/${ids.paid}?step=charge`, (server) =>
    server
      .answer("GET /api/runs/:run/steps/:step/input", [10])
      .answer("POST /api/runs/:run/rerun", { runId: ids.billed }),
  );
  await user.click(await screen.findByRole("button", { name: "Rerun from here" }));
  const { getByRole, findByRole } = await findDialog();
  await user.click(getByRole("button", { name: "Others" }));
  const field = (await findByRole("textbox")) as HTMLTextAreaElement;
  // The editor begins with what the step was called with.
  expect(JSON.parse(field.value)).toEqual([10]);
  const start = getByRole("button", { name: "Start a new run from here" });
  expect(start).toHaveProperty("disabled", true);
  await user.clear(field);
  await user.type(field, "{{ 4280 }");
  await findWords("This is no JSON yet", "dialog");
  expect(start).toHaveProperty("disabled", true);
  await user.clear(field);
  await user.type(field, "[[4280]");
  await findWords("1 difference", "dialog");
  await user.click(start);
  await waitFor(() => expect(address().pathname).toBe(`/runs/${ids.billed}`));
  expect(server.sent("POST /api/runs/:run/rerun")[0]!.body).toEqual({ fromStep: charge.stepId, input: [4280] });
});

test("it is rerun with other data, once what differs and what becomes of keys is said; data about another thing is not", async () => {
  const { user, address, server } = await openApp(`/runs/${ids.paid}`, (server) =>
    server
      .answer("POST /api/runs/:run/rerun", { runId: ids.billed })
      .answer("POST /api/runs/:run/rerun-preview", ({ body }) => ({
        key: body.data.order === 7 ? ("same" as const) : ("other" as const),
        runKey: "7",
        dataKey: `${body.data.order}`,
        holder: null,
      })),
  );
  await user.click(await screen.findByRole("button", { name: "Rerun with another" }));
  const { getByRole, findByRole } = await findDialog();
  const field = (await findByRole("textbox")) as HTMLTextAreaElement;
  expect(JSON.parse(field.value)).toEqual({ order: 7, price: 10 });
  const start = getByRole("button", { name: "Start a new run with this data" });
  expect(start).toHaveProperty("disabled", true);
  await user.clear(field);
  await user.type(field, '{{"order":8,"price":10}');
  await findWords("This data is about something else: it gives key 8, the run has key 7.", "dialog");
  expect(start).toHaveProperty("disabled", true);
  await user.clear(field);
  await user.type(field, '{{"order":7,"price":11}');
  await findWords("The data gives the same key, 7.", "dialog");
  await findWords(/2 steps hand on the same destination keys as the first time/, "dialog");
  await user.click(start);
  await waitFor(() => expect(address().pathname).toBe(`/runs/${ids.billed}`));
  expect(server.sent("POST /api/runs/:run/rerun")[0]!.body).toEqual({ data: { order: 7, price: 11 } });
});

test("any two runs can be compared: by an id that nobody knows it says so", async () => {
  const { user, address } = await openApp(`/runs/${ids.paid}`, (server) =>
    server.answer("GET /api/runs", { runs: [], next: null, isPartial: false, lookedBackTo: null }),
  );
  await user.click(await screen.findByRole("button", { name: "Compare" }));
  const { getByLabelText, getAllByRole } = await findDialog();
  const id = getByLabelText("With a run, by its id");
  const compare = () => getAllByRole("button", { name: "Compare the two" }).at(-1)!;
  await user.type(id, "01ARZ3NDEKTSV4RRFFQ69G5FAV");
  await user.click(compare());
  await findWords(/There is no run 01ARZ3/, "dialog");
  await user.clear(id);
  await user.type(id, ids.billed);
  await user.click(compare());
  await waitFor(() => expect(address().pathname).toBe(`/runs/${ids.paid}/compare/${ids.billed}`));
});

test("it is cancelled after the page said what stays", async () => {
  const { user, server } = await openApp(`/runs/${ids.billed}`, (server) =>
    server.answer("POST /api/runs/:run/cancel", { cancelled: true, state: "cancelled" }),
  );
  await findWords("to stripe", ".waterfall");
  await user.click(screen.getByRole("button", { name: "Cancel run" }));
  const { getByLabelText, getByRole, text } = await findDialog();
  await waitFor(() =>
    expect(text()).toContain(
      "Steps that finished stay finished. What create-stripe-draft made at stripe, in_1RPq8xINSERTED, is not deleted.",
    ),
  );
  await user.type(getByLabelText("Reason (optional)"), "nobody wanted it");
  await user.click(getByRole("button", { name: "Cancel the run" }));
  await waitFor(() => expect(document.querySelector("dialog[open]")).toBeNull());
  expect(server.sent("POST /api/runs/:run/cancel")).toMatchObject([{ body: { reason: "nobody wanted it" } }]);
});

test("a run that was cancelled says why", async () => {
  await openApp(`/runs/${record.story.failed}`, (server) =>
    server.answer("GET /api/runs/:run", (_, answer) => ({
      ...answer,
      run: {
        ...answer.run,
        state: "cancelled" as const,
        error: { ...answer.run.error!, name: "CancelledError", message: "nobody wanted it" },
      },
    })),
  );
  await findWords("Why it was cancelled");
  await findWords("nobody wanted it", '[aria-label="Error"]');
});

test("a run that waits says what it waits for and can send it, and goes on before one's eyes", async () => {
  const { user, server, digest } = await openApp(`/runs/${ids.billed}?step=load-holidays`, (server) =>
    server.answer("POST /api/events", { ids: [ids.other], decisions: [], unmatched: false }),
  );
  await findWords("waiting for approval");
  await findWords("Waits for event invoice/approved", ".note h2");
  await user.click(screen.getByRole("button", { name: "Send this event" }));
  const { getByRole } = await findDialog();
  await user.click(getByRole("button", { name: "Send the event" }));
  await waitFor(() =>
    expect(server.sent("POST /api/events")[0]?.body.events).toMatchObject([{ name: "invoice/approved" }]),
  );
  server.answer("GET /api/runs/:run", (_, answer) => ({
    ...answer,
    run: { ...answer.run, state: "completed" as const, endedAt: record.recordedAt },
  }));
  digest();
  await waitFor(() => expect(textsOf(".run-head")[0]).toContain("completed"));
  // The selected step stays selected.
  expect(screen.getByRole("complementary", { name: "Step load-holidays" })).toBeTruthy();
});

test("a run that a step invoked stands under its step, and many steps at once are one line", async () => {
  const { user } = await openApp(`/runs/${ids.parent}?step=ask-child`);
  await findWords("wait-for-nothing", ".invoked");
  // Parent and child know each other.
  const fact = (name: string) =>
    [...document.querySelectorAll(".facts > div")].find((each) => each.textContent?.startsWith(name))?.lastChild;
  expect(fact("Children")?.textContent).toBe("agency-child, waiting");
  expect(fact("Code")?.textContent).toMatch(/, as it is now$/);
  expect(screen.getByRole("link", { name: "download" }).getAttribute("href")).toBe(`/api/runs/${ids.parent}/history`);
  const names = () => textsOf(".waterfall > .row > .label .name");
  const folded = [
    "queued",
    "load-page × 20",
    "7 like these, 0 to 6",
    "load-page-7",
    "12 like these, 8 to 19",
    "ask-child",
  ];
  expect(names()).toEqual(folded);
  // The line of all twenty shows the one that failed.
  expect(textsOf(".waterfall .is-series .sum")[0]).toMatch(/^19 completed.*1 failed/);
  expect(document.querySelectorAll(".waterfall .is-series .bar.is-error")).toHaveLength(1);
  // Arrows open and close a fold.
  screen.getByRole("button", { name: "7 like these, 0 to 6" }).focus();
  await user.keyboard("{ArrowRight}");
  await waitFor(() => expect(names()).toHaveLength(13));
  await user.keyboard("{ArrowLeft}");
  await waitFor(() => expect(names()).toEqual(folded));
  await findWords("Invoked run", ".step-panel");
});

test("an id that nobody knows says so", async () => {
  await openApp("/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV");
  await findWords("No run with this id");
});

test("markup, controls and turned text in names, outputs and errors are text and nothing else", async () => {
  const { user, main } = await openApp(`/runs/${ids.hostile}`);
  expect(await textAt(".error-view .said")).toContain(`${script}‹U+202E›txt.exe␇`);
  await user.click(screen.getByRole("link", { name: script }));
  await findWords("9007199254740993", ".step-panel .payload");
  expect(textsOf(".step-panel .payload")[0]).toContain(script);
  expect(textsOf(".step-panel .payload")[0]).toContain("‹U+202E›");
  expect(main().querySelectorAll("script, img")).toHaveLength(0);
});
