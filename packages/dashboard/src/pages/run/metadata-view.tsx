// Metadata of the run or a step: scores, what a model cost, notes of its author.
import { sizeWords } from "../../parts/size-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { metadataPairs, metadataTitle } from "./metadata-words.ts";
import type { MetadataItem, RunDetail } from "./run-data.ts";
import "./metadata-view.css";

/** Of one step, among what else there is about it. */
export function StepMetadata({ run, stepId }: { readonly run: RunDetail; readonly stepId: string }) {
  const own = run.metadata.filter((item) => item.stepId === stepId && stepId !== "");
  return own.map((item) => <Kind key={item.kind} item={item} of={null} />);
}

/** Of the run itself, and of steps that are not in its timeline. */
export function RunMetadata({ run }: { readonly run: RunDetail }) {
  const known = new Set(run.timeline.map(({ stepId }) => stepId));
  const items = run.metadata.filter(({ stepId }) => stepId === null || !known.has(stepId));
  if (items.length === 0) return null;
  return (
    <section className="card run-metadata" aria-label="Metadata">
      <header>
        <h2>Metadata</h2>
      </header>
      <div className="inner">
        {items.map((item) => (
          <Kind key={`${item.stepId} ${item.kind}`} item={item} of={item.stepId} />
        ))}
      </div>
    </section>
  );
}

/** `of`: the step it is about, where that is not plain to see. */
function Kind({ item, of }: { readonly item: MetadataItem; readonly of: string | null }) {
  const { values } = item;
  return (
    <div className="metadata-kind">
      <h3>
        {visibleText(metadataTitle(item.kind))}
        {of !== null && <span className="quiet mono"> step {of.slice(0, 8)}</span>}
      </h3>
      {values.isOmitted ? (
        <p className="quiet">{sizeWords(values.bytes)}, too much to be shown here.</p>
      ) : (
        <dl className="said">
          {metadataPairs(item).map(([name, text]) => (
            <div key={name}>
              <dt>
                <bdi>{visibleText(name)}</bdi>
              </dt>
              <dd className="mono">{visibleText(text)}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
