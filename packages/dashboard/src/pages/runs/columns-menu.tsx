// Chooses the columns of the list of runs; the address keeps them.
import { Menu } from "../../parts/menu.tsx";
import { columnNames, columns, columnsOf, columnsText } from "./run-columns.ts";
import type { RunsView } from "./runs-view.ts";

export function ColumnsMenu({ view: { search, order, change } }: { readonly view: RunsView }) {
  const chosen = columnsOf(search.cols, "newest");
  const shown = columnsOf(search.cols, order);
  return (
    <Menu label="Columns" isSet={search.cols !== undefined}>
      {() => (
        <div>
          {columnNames.map((name) => {
            const isOrder = shown.includes(name) && !chosen.includes(name);
            return (
              <label key={name} className="check">
                <input
                  type="checkbox"
                  checked={shown.includes(name)}
                  disabled={isOrder}
                  onChange={({ target }) =>
                    change({
                      cols: columnsText(target.checked ? [...chosen, name] : chosen.filter((each) => each !== name)),
                    })
                  }
                />
                {columns[name].text}
                {isOrder && <span className="faint">the list is ordered by it</span>}
              </label>
            );
          })}
        </div>
      )}
    </Menu>
  );
}
