// What one comes to first: the first minutes while they last, then the runs.
import { Navigate } from "@tanstack/react-router";
import { PageTitle } from "../../frame/page-title.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { FirstMinutes } from "./first-minutes.tsx";
import { useFirstMinutes } from "./first-minutes-data.ts";

export function Page() {
  const { kind, progress, close } = useFirstMinutes();
  if (kind === "over") return <Navigate to="/runs" replace />;
  if (progress !== null) return <FirstMinutes progress={progress} close={close} />;
  return (
    <>
      <PageTitle title="Idem" />
      <Skeleton rows={8} />
    </>
  );
}
