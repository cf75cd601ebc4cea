// Each function's set-up and health. Is it keyed, is it healthy, is it keeping up?
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { PageTitle } from "../../frame/page-title.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Segments } from "../../parts/field.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { Note } from "../../parts/note.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Table } from "../../parts/table.tsx";
import { Tag } from "../../parts/tag.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import "../../parts/list.css";
import { type FunctionInFigures, nowWords, triggerWords, useFresh, useFunctions } from "./function-data.ts";
import { KeyCell } from "./key-cell.tsx";
import { VerdictCell } from "./verdict-cell.tsx";
import { filterChoices, hasChanged, isShown, standingOf, verdictFilters } from "./verdict-words.ts";
import "./functions.css";

export function Page() {
  const { data, error, refetch } = useFunctions();
  useFresh("function-figures");
  return (
    <>
      <PageTitle title="Functions" />
      {data !== undefined && data.length > 0 && <Headline functions={data} />}
      {data !== undefined && data.length > 0 && <VerdictFilters functions={data} />}
      <section className="card functions">
        {error !== null && data === undefined ? (
          <ErrorPart error={error} what="The functions could not be read. Runs go on." onRetry={() => void refetch()} />
        ) : data === undefined ? (
          <Skeleton rows={6} />
        ) : data.length === 0 ? (
          <NoFunctions />
        ) : (
          <Functions functions={data} />
        )}
      </section>
    </>
  );
}

/** Nobody said what makes two of its events the same, nor why nothing does. */
const isWithoutKey = ({ key, unkeyed }: FunctionInFigures): boolean => key === null && unkeyed === null;

/** In the address, so that everybody who opens it sees the same. */
function VerdictFilters({ functions }: { readonly functions: readonly FunctionInFigures[] }) {
  const { verdict: filter, key } = useSearch({ from: "/functions" });
  const navigate = useNavigate({ from: "/functions" });
  return (
    <div className="verdict-filters">
      <Segments
        label="Last verdict"
        value={filter ?? ""}
        choices={filterChoices(functions, filter)}
        onChange={(value) =>
          void navigate({
            search: (now) => ({ ...now, verdict: verdictFilters.find((each) => each === value) }),
            replace: true,
          })
        }
      />
      {(key !== undefined || functions.some(isWithoutKey)) && (
        <Segments
          label="Key"
          value={key ?? ""}
          choices={[
            { value: "", text: "Any key" },
            { value: "missing", text: `No key, no reason ${functions.filter(isWithoutKey).length}` },
          ]}
          onChange={(value) =>
            void navigate({
              search: (now) => ({ ...now, key: value === "missing" ? "missing" : undefined }),
              replace: true,
            })
          }
        />
      )}
    </div>
  );
}

/** One kind of trouble at a time, worst first. */
function Headline({ functions }: { readonly functions: readonly FunctionInFigures[] }) {
  const slipping = functions.filter(({ day }) => day.slipped > 0);
  const doubling = functions.filter((each) => standingOf(each) === "doubled" && !hasChanged(each));
  const never = functions.filter((each) => standingOf(each) === "never");
  const keyless = functions.filter(isWithoutKey);
  const failing = functions.filter(({ day }) => day.failed > 0);
  const paused = functions.filter(({ pausedAt }) => pausedAt !== null);
  if (slipping.length > 0) {
    const [worst] = [...slipping].sort((a, b) => b.day.slipped - a.day.slipped);
    const rest = slipping.length === 1 ? "" : ` and ${slipping.length - 1} more`;
    return (
      <Note
        tone="doubled"
        title={`${worst!.id}${rest} ran more often than asked, ${timesWords(slipping.reduce((sum, { day }) => sum + day.slipped, 0))} in 24 hours`}
        actions={
          <Link className="button is-hot" to="/functions/$fn" params={{ fn: worst!.function }}>
            Open it
          </Link>
        }
      >
        {worst!.key === null
          ? "It has no key. One line of configuration stops it."
          : "It has a key; its page says what happened to it."}
      </Note>
    );
  }
  if (doubling.length > 0) {
    const [first] = doubling;
    const rest = doubling.length === 1 ? "" : ` and ${doubling.length - 1} more`;
    return (
      <Note
        tone="doubled"
        title={`${first!.id}${rest} would do something twice`}
        actions={
          <Link className="button is-hot" to="/functions/$fn" params={{ fn: first!.function }} hash="verdict">
            See the finding
          </Link>
        }
      >
        <code>idem verify</code> found it <Time at={first!.verdict!.at} as="ago" />. It did not happen in 24 hours.
      </Note>
    );
  }
  if (failing.length > 0) {
    const count = failing.reduce((sum, { day }) => sum + day.failed, 0);
    return (
      <Note
        tone="failed"
        title={`${count} ${count === 1 ? "run" : "runs"} failed in 24 hours`}
      >{`In ${failing.map(({ id }) => id).join(", ")}. No duplicate slipped through.`}</Note>
    );
  }
  if (paused.length > 0)
    return (
      <Note
        tone="waiting"
        title={`${paused.length} of ${functions.length} functions are paused`}
      >{`Their events are kept: ${paused.map(({ id }) => id).join(", ")}.`}</Note>
    );
  const words =
    keyless.length === 0
      ? "Each of them has a key, or says why it has none."
      : `${keyless.length} of ${functions.length} ${keyless.length === 1 ? "has" : "have"} no key.`;
  return (
    <Note tone="good" title="Nothing ran more often than asked in 24 hours">
      {words}
      {never.length > 0 &&
        ` ${never.length} of ${functions.length} ${never.length === 1 ? "was" : "were"} never verified.`}
    </Note>
  );
}

function Functions({ functions }: { readonly functions: readonly FunctionInFigures[] }) {
  const { verdict: filter, key } = useSearch({ from: "/functions" });
  const nameOf = (fn: string): string => functions.find((each) => each.function === fn)?.id ?? fn;
  return (
    <Table
      label="Functions"
      rows={functions.filter((each) => isShown(each, filter) && (key === undefined || isWithoutKey(each)))}
      idOf={({ function: fn }) => fn}
      tone={(each) => (standingOf(each) === "doubled" || each.day.slipped > 0 ? "row is-doubled" : "row")}
      columns={[
        {
          name: "Function",
          cell: ({ function: fn, id, app, pausedAt, triggers, open }) => (
            <span className="name">
              <Link className="row-link" to="/functions/$fn" params={{ fn }}>
                <b>{visibleText(id)}</b>
              </Link>
              {app !== "" && <small className="faint">{visibleText(app)}</small>}
              <small className="quiet starts">{visibleText(triggers.map(triggerWords).join(", "))}</small>
              {!isIdle(open) && <small className="quiet starts">{nowWords({ open })}</small>}
              {pausedAt !== null && <Tag tone="waiting">paused</Tag>}
            </span>
          ),
        },
        { name: "Key", cell: (each) => <KeyCell of={each} /> },
        { name: "Last verdict", cell: (each) => <VerdictCell of={each} nameOf={nameOf} /> },
        { name: "Ran 24 h", isNumber: true, cell: ({ day }) => <Figure count={day.first + day.slipped} /> },
        { name: "Suppressed", isNumber: true, cell: ({ day }) => <Figure count={day.suppressed} tone="suppressed" /> },
        { name: "Slipped", isNumber: true, cell: ({ day }) => <Figure count={day.slipped} tone="slipped" /> },
        {
          name: "Failed",
          isNumber: true,
          cell: ({ function: fn, day }) =>
            day.failed === 0 ? (
              <span className="faint">0</span>
            ) : (
              <Link
                className="failed"
                to="/runs"
                search={{ group: "none", fn, state: "failed", since: new Date(day.since).toISOString() }}
              >
                {day.failed.toLocaleString("en-GB")}
              </Link>
            ),
        },
      ]}
    />
  );
}

const timesWords = (count: number): string => (count === 1 ? "once" : count === 2 ? "twice" : `${count} times`);

const isIdle = ({ running, due, waiting, parked }: FunctionInFigures["open"]): boolean =>
  running + due + waiting + parked === 0;

function Figure({ count, tone }: { readonly count: number; readonly tone?: "suppressed" | "slipped" }) {
  if (count === 0) return <span className="faint">0</span>;
  if (tone === undefined) return count.toLocaleString("en-GB");
  return (
    <span className={`sign-and-count ${tone === "slipped" ? "doubled" : "suppressed"}`}>
      <Glyph name={tone} />
      {count.toLocaleString("en-GB")}
    </span>
  );
}

const NoFunctions = () => (
  <Empty title="No function is registered yet">
    <p>Start your app with this server's address, or add it by its URL.</p>
    <pre>
      {
        'idem.createFunction({ id: "send-invoice", idempotency: "event.data.order" }, { event: "order/paid" }, async ({ step }) => …);'
      }
    </pre>
    <Link className="button is-plain" to="/apps">
      Open Apps
    </Link>
  </Empty>
);
