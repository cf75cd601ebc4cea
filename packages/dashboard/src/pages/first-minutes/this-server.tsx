// This server's addresses for apps and senders, and things to try meanwhile.
import { Link } from "@tanstack/react-router";
import type { Status } from "../../api/status.ts";
import { Copy } from "../../parts/copy.tsx";
import { Icon } from "../../parts/icon.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { portWords } from "./connect-app.tsx";
import type { TriedPort } from "./first-minutes-data.ts";

export function ThisServer({
  status,
  tried,
}: {
  readonly status: Status | undefined;
  readonly tried: readonly TriedPort[];
}) {
  return (
    <>
      <section className="card" aria-label="This server">
        <header>
          <h2>This server</h2>
          {status !== undefined && <Copy text={status.origin} what="the server's address" />}
        </header>
        {status !== undefined && (
          <dl className="first-facts">
            <div>
              <dt>Address</dt>
              <dd className="mono">{status.origin}</dd>
            </div>
            <div>
              <dt>Event key</dt>
              <dd>{status.mode === "dev" ? "none needed here" : "one of IDEM_EVENT_KEY"}</dd>
            </div>
            <div>
              <dt>Store</dt>
              <dd className="cut" title={visibleText(status.store)}>
                {/^postgres/.test(status.store)
                  ? "PostgreSQL"
                  : /^sqlite/.test(status.store)
                    ? "SQLite"
                    : visibleText(status.store)}
              </dd>
            </div>
            {tried.length > 0 && (
              <div>
                <dt>Ports watched</dt>
                <dd>{portWords(tried.map(({ port }) => port))}</dd>
              </div>
            )}
          </dl>
        )}
      </section>
      <section className="card" aria-label="Meanwhile">
        <header>
          <h2>Meanwhile</h2>
        </header>
        <ul className="first-meanwhile">
          <li>
            <Icon name="events" />
            <span>
              <Link to="/events/new">Send a test event</Link>
              <span className="faint">Without an app it is kept and starts nothing</span>
            </span>
          </li>
          {status?.isMounted !== true && (
            <li>
              <Icon name="webhooks" />
              <span>
                <Link to="/webhooks">Receive a webhook</Link>
                <span className="faint">Stripe, GitHub, Bullhorn and any HMAC</span>
              </span>
            </li>
          )}
        </ul>
      </section>
    </>
  );
}
