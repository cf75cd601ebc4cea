// One alert with all its pairs.
import { useParams } from "@tanstack/react-router";
import { ApiError } from "../../api/client.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { AlertAndKey } from "./alert-and-key.tsx";
import { useAlert, useFunctionName } from "./radar-data.ts";

export function Page() {
  const { alert: id } = useParams({ from: "/radar/alerts/$alert" });
  const { data, error, refetch } = useAlert(id);
  const name = useFunctionName(data?.alert.function ?? null);
  const isUnknown = error instanceof ApiError && error.status === 404;
  return (
    <>
      <PageTitle title={name === "" ? "Alert" : `Alert of ${name}`} under={{ to: "/radar", text: "Radar" }} />
      {data !== undefined ? (
        <AlertAndKey found={data} isWhole hasKeys />
      ) : (
        <section className="card">
          {error === null ? (
            <Skeleton rows={10} />
          ) : isUnknown ? (
            <Empty title="No alert has this id" />
          ) : (
            <ErrorPart error={error} what="The alert could not be read." onRetry={() => void refetch()} />
          )}
        </section>
      )}
    </>
  );
}
