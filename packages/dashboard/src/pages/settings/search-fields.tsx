// Chooses fields of events to search by: from then on their values are found in all events, and not only in the newest.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, ask } from "../../api/client.ts";
import { say } from "../../frame/messages.ts";
import { ActButton } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";

const shortPath = (path: string): string => path.replace(/^event\.data\./, "");

export function SearchFields() {
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: ["search-fields"],
    queryFn: async ({ signal }) => (await ask("GET /api/search/fields", { signal })).chosen,
  });
  const changed = () => queries.invalidateQueries({ queryKey: ["search-fields"] });
  const remove = async (event: string) => {
    await ask("DELETE /api/search/fields/:event", { params: { event }, body: {} });
    say(`Values of ${event} are no longer kept. Those that are go with their events. The audit has it.`);
    await changed();
  };
  return (
    <section className="card settings" aria-label="Search">
      <header>
        <h2>Search</h2>
      </header>
      <p className="quiet intro">
        The search box looks at the data of the newest 100 events. Fields that are chosen here are kept apart with every
        such event from then on, for this environment, and are found however old it is. They go with their events.
      </p>
      {data !== undefined && data.length > 0 && (
        <Table
          label="Fields that are searched by"
          rows={data}
          idOf={({ event }) => event}
          columns={[
            { name: "Event", cell: ({ event }) => <bdi>{visibleText(event)}</bdi> },
            { name: "Fields", cell: ({ fields }) => <code>{visibleText(fields.map(shortPath).join(", "))}</code> },
            { name: "Since", cell: ({ since }) => <Time at={since} as="list" /> },
            {
              name: "",
              cell: ({ event }) => (
                <ActButton small aria-label={`Keep no more values of ${event}`} onClick={() => void remove(event)}>
                  Remove
                </ActButton>
              ),
            },
          ]}
        />
      )}
      <ChooseFields onChosen={changed} />
    </section>
  );
}

function ChooseFields({ onChosen }: { readonly onChosen: () => Promise<unknown> }) {
  const [event, setEvent] = useState("");
  const [text, setText] = useState("");
  const [error, setError] = useState<string | null>(null);
  const { data: names } = useQuery({
    queryKey: ["event-names"],
    queryFn: async ({ signal }) => (await ask("GET /api/event-types", { signal })).eventTypes,
    staleTime: 60_000,
  });
  const fields = text.split(/[\s,]+/).filter((each) => each !== "");
  const choose = async () => {
    try {
      await ask("PUT /api/search/fields/:event", { params: { event: event.trim() }, body: { fields } });
      say(`From the next ${event.trim()} on its ${fields.join(", ")} is found. The audit has it.`);
      setEvent("");
      setText("");
      setError(null);
      await onChosen();
    } catch (failure) {
      setError(failure instanceof ApiError ? failure.detail : String(failure));
    }
  };
  return (
    <form
      className="choose-fields"
      onSubmit={(submitted) => {
        submitted.preventDefault();
        if (event.trim() !== "" && fields.length > 0) void choose();
      }}
    >
      <TextField label="Event" value={event} onChange={setEvent} list={names?.map((each) => each.name) ?? []} />
      <TextField
        label="Fields of its data"
        hint="Such as orderId, customer.email; up to 10"
        error={error}
        value={text}
        onChange={setText}
      />
      <ActButton type="submit" disabled={event.trim() === "" || fields.length === 0}>
        Search by them
      </ActButton>
    </form>
  );
}
