-- Idempotency keys of HTTP requests: one row per key in its scope. Times are milliseconds since 1970, by this database's clock;
-- datetime(created_at / 1000, 'unixepoch') reads them. Rows past ends_at are free to be taken again, and deleted by the reaper.
create table if not exists idempotency_keys (
  id                  text primary key check (length(id) = 64), -- SHA-256 of namespace, tenant, principal, method, path and key
  namespace           text not null,
  tenant              text,
  principal           text not null,
  method              text not null,
  path                text not null,
  hint                text not null, -- for people and logs; the key itself is not kept
  fingerprint         text not null,
  fingerprint_version integer not null,
  state               text not null check (state in ('running', 'parked', 'completed')),
  owner               text not null,
  fence               integer not null,
  attempts            integer not null,
  on_crash            text not null check (on_crash in ('resume', 'rerun', 'park')), -- what its author chose for a claimant that dies
  lease_until         integer not null, -- 0: given back, for whoever comes next
  due_at              integer not null, -- when a completer may look at unfinished work
  point               text,
  point_data          text,
  work                text,
  work_input          text,
  status              integer,
  headers             text,
  body                blob,
  reference           text,
  gone_reason         text,
  parked_reason       text,
  created_at          integer not null,
  completed_at        integer,
  ends_at             integer not null
);
-- Of a running row only one that may simply run again is ever deleted, so the others are not in the reaper's way.
create index if not exists idempotency_keys_ends on idempotency_keys (ends_at) where state = 'completed' or on_crash = 'rerun';
create index if not exists idempotency_keys_unfinished on idempotency_keys (work, due_at) where state = 'running';
create index if not exists idempotency_keys_parked on idempotency_keys (created_at, id) where state = 'parked';
