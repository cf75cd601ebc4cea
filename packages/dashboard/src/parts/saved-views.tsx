// Views by name, the same for everyone of the environment: filters, order and columns, as the address has them.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type Answer, ApiError, ask } from "../api/client.ts";
import { useMayAct } from "../api/session.ts";
import { say } from "../frame/messages.ts";
import { parseSearch, stringifySearch } from "../search.ts";
import { ActButton, Button } from "./button.tsx";
import { TextField } from "./field.tsx";
import { Icon } from "./icon.tsx";
import { Menu } from "./menu.tsx";
import { visibleText } from "./visible-text.ts";

type View = Answer<"GET /api/views">["views"][number];

/** The address's view, without the row that is open in it and its environment. */
function queryOf({ env: _, open: __, ...search }: Readonly<Record<string, unknown>>): string {
  return stringifySearch(search).replace(/^\?/, "");
}

export function SavedViews({ page }: { readonly page: View["page"] }) {
  const query = queryOf(useSearch({ strict: false }));
  const { data } = useQuery({
    queryKey: ["views"],
    queryFn: async ({ signal }) => (await ask("GET /api/views", { signal })).views,
    staleTime: 60_000,
  });
  const views = data?.filter((view) => view.page === page) ?? [];
  const shown = views.find((view) => view.query === query && query !== "");
  return (
    <Menu label={shown === undefined ? "Views" : `View: ${shown.name}`} isSet={shown !== undefined}>
      {(close) => (
        <>
          {views.length === 0 ? (
            <p className="quiet">No view is saved for this page yet.</p>
          ) : (
            <ul>
              {views.map((view) => (
                <ViewRow key={view.name} view={view} isShown={view === shown} close={close} />
              ))}
            </ul>
          )}
          <SaveView page={page} query={query} known={data ?? []} />
        </>
      )}
    </Menu>
  );
}

function ViewRow({
  view,
  isShown,
  close,
}: {
  readonly view: View;
  readonly isShown: boolean;
  readonly close: () => void;
}) {
  const queries = useQueryClient();
  const mayAct = useMayAct();
  const remove = async () => {
    await ask("DELETE /api/views/:view", { params: { view: view.name }, body: {} });
    say(`The view “${view.name}” is gone. The audit has it.`);
    await queries.invalidateQueries({ queryKey: ["views"] });
  };
  return (
    <li>
      <Link
        to={view.page === "runs" ? "/runs" : "/events"}
        search={parseSearch(view.query) as never}
        className="cut"
        aria-current={isShown ? "page" : undefined}
        onClick={close}
      >
        <bdi>{visibleText(view.name)}</bdi>
      </Link>
      {mayAct && (
        <Button look="link" small aria-label={`Remove the view ${view.name}`} onClick={() => void remove()}>
          <Icon name="cross" size={12} />
        </Button>
      )}
    </li>
  );
}

function SaveView({
  page,
  query,
  known,
}: {
  readonly page: View["page"];
  readonly query: string;
  readonly known: readonly View[];
}) {
  const [name, setName] = useState("");
  const [error, setError] = useState<string | null>(null);
  const queries = useQueryClient();
  const isThere = known.some((view) => view.name === name.trim());
  const save = async () => {
    try {
      const { view } = await ask("PUT /api/views/:view", { params: { view: name.trim() }, body: { page, query } });
      setName("");
      setError(null);
      say(`The view “${view.name}” is saved for everyone. The audit has it.`);
      await queries.invalidateQueries({ queryKey: ["views"] });
    } catch (failure) {
      setError(failure instanceof ApiError ? failure.detail : String(failure));
    }
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== "") void save();
      }}
    >
      <TextField
        label="Save what is shown as"
        hint={isThere ? "Takes the place of the view of this name" : "Filters, order and columns, for everyone"}
        error={error}
        value={name}
        onChange={setName}
      />
      <ActButton small type="submit" disabled={name.trim() === ""}>
        Save the view
      </ActButton>
    </form>
  );
}
