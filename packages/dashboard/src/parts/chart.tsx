// uPlot in the dashboard's colours and sizes. The sentence over it says what is to be seen, the table holds the same numbers.
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useKeys } from "../keys.ts";
import { Button } from "./button.tsx";
import { type ChartColours, chartColours, onThemeChange } from "./chart-colours.ts";
import { type Column, Table } from "./table.tsx";
import "./chart.css";

export type ChartOptions = Omit<uPlot.Options, "width" | "height">;

interface ChartProps {
  /** The chart in a sentence: "Slipped-through runs on every working day". */
  readonly label: string;
  readonly data: uPlot.AlignedData;
  /** Made anew when the theme changes; must not change between renders. */
  readonly options: (colours: ChartColours) => ChartOptions;
  /** 74 in strips, 160 on pages. */
  readonly height?: number;
  /** The same numbers; the first column names the row. */
  readonly table: { readonly columns: readonly string[]; readonly rows: readonly (readonly ReactNode[])[] };
}

// Digests come twice a second; nothing is drawn more often.
const drawnEveryMs = 500;

export function Chart({ label, data, options, height = 160, table }: ChartProps) {
  const [isTable, setTable] = useState(false);
  useKeys([{ keys: "t", words: "Charts as tables, and back", run: () => setTable(!isTable) }]);
  return (
    <figure className="chart">
      {isTable ? (
        <div className="as-table">
          <Numbers label={label} {...table} />
        </div>
      ) : (
        <Drawing label={label} data={data} options={options} height={height} />
      )}
      <figcaption className="spoken">{label}</figcaption>
      <Button look="link" small aria-pressed={isTable} onClick={() => setTable(!isTable)}>
        {isTable ? "Show as chart" : "Show as table"}
      </Button>
    </figure>
  );
}

function Drawing({
  label,
  data,
  options,
  height,
}: Required<Pick<ChartProps, "label" | "data" | "options" | "height">>) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const shown = useRef(data);
  shown.current = data;
  useEffect(() => {
    const element = place.current!;
    const make = () => {
      chart.current?.destroy();
      chart.current = new uPlot(
        { ...options(chartColours()), width: Math.max(1, element.clientWidth), height },
        shown.current,
        element,
      );
    };
    make();
    const sizes = new ResizeObserver(() => chart.current?.setSize({ width: Math.max(1, element.clientWidth), height }));
    sizes.observe(element);
    const unwatch = onThemeChange(make);
    return () => {
      unwatch();
      sizes.disconnect();
      chart.current?.destroy();
      chart.current = null;
    };
  }, [options, height]);
  const lastDrawn = useRef(0);
  useEffect(() => {
    let frame = 0;
    const timer = setTimeout(
      () => {
        frame = requestAnimationFrame(() => {
          lastDrawn.current = performance.now();
          chart.current?.setData(data);
        });
      },
      Math.max(0, lastDrawn.current + drawnEveryMs - performance.now()),
    );
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    };
  }, [data]);
  return <div ref={place} className="drawing" role="img" aria-label={label} />;
}

function Numbers({ label, columns, rows }: ChartProps["table"] & { readonly label: string }) {
  const named = useMemo(
    () => columns.map((name, at): Column<readonly ReactNode[]> => ({ name, cell: (row) => row[at], isNumber: at > 0 })),
    [columns],
  );
  const places = useMemo(() => new Map(rows.map((row, at) => [row, `${at}`])), [rows]);
  return <Table label={label} columns={named} rows={rows} idOf={(row) => places.get(row)!} />;
}

/** Axes as the pages have them: quiet, small, from zero. */
export const quietAxes = (colours: ChartColours): NonNullable<ChartOptions["axes"]> => {
  const font = "11px system-ui, -apple-system, Segoe UI, Roboto, sans-serif";
  const axis = { stroke: colours["text-3"], font, ticks: { show: false } };
  return [
    { ...axis, grid: { show: false } },
    { ...axis, grid: { stroke: colours.line, width: 1 }, size: 44 },
  ];
};
