-- Messages that are there exactly if the transaction that wrote them committed, until a relay or dispatcher has handed them on.
-- Times are milliseconds since 1970, by this database's clock. Done ones are deleted after 7 days, dead ones after 30, unless they block.
create table if not exists idem_outbox (
  seq              bigint generated always as identity primary key, -- the order of one order_key; says nothing about others
  id               text not null unique, -- stays the same on every try: what the destination and the consumer know a message by
  topic            text not null,
  message          text not null, -- JSON
  order_key        text,
  dedup_key        text,
  on_dead          text check (on_dead in ('block', 'skip')),
  state            text not null check (state in ('pending', 'done', 'dead')),
  owner            text,
  lease_until      bigint not null,
  due_at           bigint not null,
  started          integer not null, -- tries that began; the claim's fence
  finished         integer not null, -- tries that came back; where it stays behind, the message ends its process
  reason           text,
  created_at       bigint not null,
  first_started_at bigint,
  ended_at         bigint,
  unique (topic, dedup_key),
  check (order_key is null or on_dead is not null)
) with (fillfactor = 70);
create index if not exists idem_outbox_pending on idem_outbox (seq) where state = 'pending';
create index if not exists idem_outbox_order on idem_outbox (order_key, seq) where state <> 'done';
create index if not exists idem_outbox_ended on idem_outbox (ended_at) where state <> 'pending';
