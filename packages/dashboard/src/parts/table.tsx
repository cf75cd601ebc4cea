// A small table that is whole on the page; long lists are List.
import type { ReactNode } from "react";
import "./table.css";

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ReactNode;
  readonly isNumber?: boolean;
}

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
  readonly tone?: (row: Row) => string;
}

/** At 390 px each row becomes a block and each cell carries its column's name. */
export function Table<Row>({ label, columns, rows, idOf, tone }: TableProps<Row>) {
  return (
    <table className="table" aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ name, isNumber }) => (
            <th key={name} scope="col" className={isNumber === true ? "is-number" : ""}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={idOf(row)} className={tone?.(row) ?? ""}>
            {columns.map(({ name, cell, isNumber }) => (
              <td key={name} data-name={name} className={isNumber === true ? "is-number" : ""}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Facts of one thing: what stands over the page's parts. */
export const Facts = ({
  facts,
  isLarge = false,
}: {
  readonly facts: readonly (readonly [string, ReactNode])[];
  /** Figures that the page is about. */
  readonly isLarge?: boolean;
}) => (
  <dl className={`facts card${isLarge ? " is-large" : ""}`}>
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
