// Is everything all right, and if not, where? What needs a person comes first; healthy work is grey, so that trouble is the only colour.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { PageTitle } from "../../frame/page-title.tsx";
import { useKeys } from "../../keys.ts";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Segments } from "../../parts/field.tsx";
import { useNow } from "../../parts/now.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { minuteOf } from "../../parts/time-words.ts";
import { useSettings } from "../../settings.ts";
import { counted } from "../runs/group-words.ts";
import { AllEnds } from "./all-ends.tsx";
import { EachFunction } from "./each-function.tsx";
import { NeedsALook } from "./needs-a-look.tsx";
import { type OverviewRange, overviewRanges, useOverview } from "./overview-data.ts";
import { Underneath } from "./underneath.tsx";
import "./overview.css";

const rangeTexts: Readonly<Record<OverviewRange, string>> = { "1h": "1 h", "24h": "24 h", "7d": "7 d" };

export function Overview() {
  const { range = "24h" } = useSearch({ from: "/" });
  const navigate = useNavigate({ from: "/" });
  const { data, error, refetch } = useOverview(range);
  const utc = useSettings().zone === "utc";
  const now = useNow();
  const choose = (next: OverviewRange) =>
    void navigate({ search: (before) => ({ ...before, range: next === "24h" ? undefined : next }), replace: true });
  useKeys(
    overviewRanges.map((each, i) => ({ keys: `${i + 1}`, words: `Last ${rangeTexts[each]}`, run: () => choose(each) })),
  );
  return (
    <>
      <PageTitle title="Overview" />
      <div className="overview-bar">
        <p>
          {data === undefined ? (
            "\u00a0"
          ) : (
            <>
              <b>{counted(data.total.ended, "run")}</b> ended since {minuteOf(data.since, now, utc)}.
            </>
          )}
        </p>
        <Segments
          label="Last"
          value={range}
          choices={overviewRanges.map((value) => ({ value, text: rangeTexts[value] }))}
          onChange={(value) => choose(value as OverviewRange)}
        />
      </div>
      {data !== undefined ? (
        <>
          <NeedsALook overview={data} />
          <AllEnds overview={data} />
          <EachFunction overview={data} />
        </>
      ) : (
        <section className="card">
          {error === null ? (
            <Skeleton rows={8} />
          ) : (
            <ErrorPart error={error} what="The counts could not be read. Runs go on." onRetry={() => void refetch()} />
          )}
        </section>
      )}
      <Underneath suppressed={data?.total.suppressed ?? null} />
    </>
  );
}
