import { arrivalBytesMax } from "../alerts.ts";
import { eventColumns } from "../rows.ts";

/** For `events e`: data that is too long to be compared is left out. */
export const boundedEventColumns = eventColumns.replace(
  "e.data",
  `case when octet_length(e.data) <= ${arrivalBytesMax} then e.data else 'null' end as data`,
);
