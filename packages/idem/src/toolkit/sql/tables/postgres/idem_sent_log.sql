-- What was sent to somebody who keeps no idempotency keys: mails, texts, posts. Times are milliseconds since 1970, by this database's
-- clock. A sent row is free again past ends_at. Rows in doubt (sending, unknown, parked) are never deleted.
create table if not exists idem_sent_log (
  id          text primary key check (length(id) = 64), -- SHA-256 of template, recipient and about
  template    text not null,
  recipient   text not null,
  about       text,
  state       text not null check (state in ('intent', 'sending', 'sent', 'refused', 'unknown', 'parked')),
  generation  integer not null, -- one per window; part of the tag
  owner       text not null,
  fence       integer not null,
  attempts    integer not null,
  lease_until bigint not null,
  window_ms   bigint not null,
  sending_at  bigint not null, -- the first try of this window
  unknown_at  bigint, -- when it stopped being known whether it was sent
  sent_at     bigint,
  ends_at     bigint not null,
  receipt     text, -- JSON
  reason      text
) with (fillfactor = 70);
create index if not exists idem_sent_log_ends on idem_sent_log (ends_at) where state in ('intent', 'sent', 'refused');
create index if not exists idem_sent_log_parked on idem_sent_log (id) where state = 'parked';
