-- Webhook deliveries: one row per event of a source, however often it was delivered. Logical events, which carry several raw ones, are rows
-- too. Times are milliseconds since 1970, by this database's clock; to_timestamp(first_seen_at / 1000.0) reads them. Rows past ends_at are reaped, but
-- for those that are dead or in quarantine: these wait for a person.
create table if not exists processed_webhook_events (
  source        text not null,
  event_id      text not null, -- the provider's; the digest of the body where it gives none
  kind          text not null check (kind in ('raw', 'logical')),
  type          text not null,
  subject       text,
  digest        text not null, -- SHA-256 of the body that came first
  state         text not null check (state in ('persisted', 'gathering', 'absorbed', 'processing', 'done', 'dead', 'quarantined')),
  payload       text, -- JSON
  body          bytea, -- as it came, where the payload is not its text
  occurred_at   bigint, -- by the provider's word
  first_seen_at bigint not null,
  last_seen_at  bigint not null,
  deliveries    integer not null,
  conflicts     integer not null, -- deliveries of this id with another body; the first one stays
  carried_by    text, -- the event_id of the row that is processed for this one
  business_key  text, -- SHA-256 of what makes several events one
  number        integer, -- which window of its business key
  due_at        bigint not null, -- when it may be claimed; while it is processed, the end of the lease
  attempts      integer not null,
  owner         text,
  fence         bigint not null,
  reason        text,
  processed_at  bigint,
  ends_at       bigint not null,
  primary key (source, event_id)
) with (fillfactor = 70);
create index if not exists processed_webhook_events_due on processed_webhook_events (source, due_at)
  where state in ('persisted', 'gathering', 'processing');
create index if not exists processed_webhook_events_carried on processed_webhook_events (source, carried_by) where carried_by is not null;
create unique index if not exists processed_webhook_events_window on processed_webhook_events (source, business_key, number)
  where kind = 'logical';
create index if not exists processed_webhook_events_waiting on processed_webhook_events (source, first_seen_at)
  where state in ('dead', 'quarantined');
create index if not exists processed_webhook_events_ends on processed_webhook_events (ends_at);
