-- Where pullers of sources that have no webhooks are: the last batch that is durably in processed_webhook_events, and who may pull now.
-- Times are milliseconds since 1970, by this database's clock.
create table if not exists idem_webhook_cursors (
  source      text primary key,
  cursor      text, -- the last request id that was committed; null before the first
  owner       text,
  fence       bigint not null,
  lease_until bigint not null,
  moved_at    bigint not null
) with (fillfactor = 70);
