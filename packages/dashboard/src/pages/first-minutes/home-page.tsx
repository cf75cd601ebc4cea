// The page at `/`: the first minutes while they last, then the overview.
import { PageTitle } from "../../frame/page-title.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Overview } from "../overview/overview.tsx";
import { FirstMinutes } from "./first-minutes.tsx";
import { useFirstMinutes } from "./first-minutes-data.ts";

export function Page() {
  const { kind, progress, close } = useFirstMinutes();
  if (kind === "over") return <Overview />;
  if (progress !== null) return <FirstMinutes progress={progress} close={close} />;
  return (
    <>
      <PageTitle title="Idem" />
      <Skeleton rows={8} />
    </>
  );
}
