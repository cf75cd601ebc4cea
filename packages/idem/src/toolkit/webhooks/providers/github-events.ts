// The event of GitHub's that a payload is. `X-GitHub-Event` says it, and nobody signs that header: a recorded delivery could be sent again as
// another event. So what it says is believed only where the signed payload shows it (docs.github.com, "Webhook events and payloads").

import { at, words } from "../payload.ts";

/** Paths that a payload of this event has, and fields by which it would be another one that has them as well. */
interface Evidence {
  readonly has: readonly string[];
  readonly lacks?: readonly string[];
  /** All fields there may be, beside those that say where anything happened. */
  readonly only?: readonly string[];
}

/** In payloads of any event. */
const anywhere: readonly string[] = ["action", "sender", "repository", "organization", "installation", "enterprise"];
const ofComment = ["comment", "review", "thread"];

const evidence: ReadonlyMap<string, Evidence> = new Map<string, Evidence>([
  ["ping", { has: ["zen", "hook_id"] }],
  ["push", { has: ["ref", "before", "after"] }],
  ["create", { has: ["ref", "ref_type", "master_branch"] }],
  ["delete", { has: ["ref", "ref_type"], lacks: ["master_branch"] }],
  ["issues", { has: ["issue"], lacks: ofComment }],
  ["issue_comment", { has: ["issue", "comment"] }],
  ["pull_request", { has: ["pull_request"], lacks: ofComment }],
  ["pull_request_target", { has: ["pull_request"], lacks: ofComment }],
  ["pull_request_review", { has: ["pull_request", "review"] }],
  ["pull_request_review_comment", { has: ["pull_request", "comment"], lacks: ["review"] }],
  ["pull_request_review_thread", { has: ["pull_request", "thread"] }],
  ["commit_comment", { has: ["comment.commit_id"], lacks: ["issue", "pull_request", "discussion"] }],
  ["discussion", { has: ["discussion"], lacks: ofComment }],
  ["discussion_comment", { has: ["discussion", "comment"] }],
  ["deployment", { has: ["deployment"], lacks: ["deployment_status"] }],
  ["deployment_status", { has: ["deployment", "deployment_status"] }],
  ["workflow_run", { has: ["workflow_run"], lacks: ["workflow_job"] }],
  ["workflow_dispatch", { has: ["workflow", "ref", "inputs"], lacks: ["workflow_run", "workflow_job"] }],
  ["repository_dispatch", { has: ["client_payload", "branch"] }],
  ["status", { has: ["sha", "state", "context"] }],
  ["star", { has: ["starred_at"] }],
  ["fork", { has: ["forkee"] }],
  ["gollum", { has: ["pages"] }],
  ["page_build", { has: ["build"] }],
  ["label", { has: ["label"], lacks: ["issue", "pull_request", "discussion"] }],
  ["milestone", { has: ["milestone"], lacks: ["issue", "pull_request"] }],
  ["member", { has: ["member"], lacks: ["team"] }],
  ["membership", { has: ["team", "member"] }],
  ["repository", { has: ["repository", "action"], only: ["changes"] }],
  ["watch", { has: ["repository", "action"], only: [] }],
  ["public", { has: ["repository"], lacks: ["action"], only: [] }],
  [
    "organization",
    { has: ["organization"], lacks: ["repository"], only: ["membership", "invitation", "user", "changes"] },
  ],
  ["installation", { has: ["installation"], lacks: ["repository"], only: ["repositories", "requester"] }],
  ["installation_repositories", { has: ["installation", "repositories_added", "repositories_removed"] }],
  ["code_scanning_alert", { has: ["alert.rule", "alert.tool"] }],
  ["dependabot_alert", { has: ["alert.dependency"] }],
  ["secret_scanning_alert", { has: ["alert.secret_type"] }],
]);

/** The event's name, where the signed payload shows it; null where it says nothing either way. Throws where it shows another. */
export function eventShown(name: string | null, payload: unknown): string | null {
  if (name === null) return null;
  const known = evidence.get(name);
  if (known === undefined) return isNamedInside(name, payload) ? name : null;
  const { has, lacks = [], only } = known;
  const isOnly = only === undefined || fieldsOf(payload).every((field) => [...anywhere, ...only].includes(field));
  if (isOnly && has.every((path) => isThere(payload, path)) && !lacks.some((path) => isThere(payload, path)))
    return name;
  throw new Error(`its X-GitHub-Event says ${name}, which is not signed, and its payload is of another event`);
}

const fieldsOf = (payload: unknown): string[] =>
  typeof payload === "object" && payload !== null ? Object.keys(payload) : [];

const isThere = (payload: unknown, path: string): boolean => at(payload, ...path.split(".")) !== undefined;

/** Most others carry what they are about under their own name: `release`, `check_run`, `sponsorship`. */
const isNamedInside = (name: string, payload: unknown): boolean =>
  !anywhere.includes(name) && typeof at(payload, name) === "object" && words(at(payload, "action")) !== null;
