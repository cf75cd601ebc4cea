-- Messages that were processed: the row is written in the transaction of the writes it stands for. first_seen_at is milliseconds since
-- 1970, by this database's clock. A row may go once its sender can no longer deliver the message again.
create table if not exists idem_inbox (
  source        text not null,
  consumer      text not null, -- each consumer processes a message once
  id            text not null,
  digest        text,
  first_seen_at integer not null,
  primary key (source, consumer, id)
);
create index if not exists idem_inbox_seen on idem_inbox (source, first_seen_at);
