-- Claims of the toolkit: who may do something now, what was done, and what came of it. One row per key in its scope; the scopes are
-- lock (a name), tick:<id> (a scheduled instant), sent (a hash of template, recipient and about), remote:<kind> (a business key) and
-- cursor (a source that is pulled). Times are milliseconds since 1970, by this database's clock; datetime(taken_at / 1000, 'unixepoch')
-- reads them. Rows past ends_at are free to be taken anew, and deleted by the reaper of their scope.
create table if not exists idem_claims (
  scope       text not null,
  key         text not null,
  state       text not null check (state in ('in-flight', 'settled', 'parked', 'released')),
  owner       text not null,
  fence       integer not null, -- only grows, also after the row was deleted: it is never less than the time at which the key was taken
  attempts    integer not null,
  generation  integer not null, -- the name of the window; another once that ended by itself
  lease_until integer not null, -- 0: given back, for whoever comes next
  window_ms   integer, -- how long it is remembered once it is settled or released; null: for ever
  taken_at    integer not null, -- when the window was opened
  unknown_at  integer, -- since when nobody knows whether it happened
  settled_at  integer,
  ends_at     integer, -- null: not before somebody decided
  note        text, -- JSON; what its holders wrote beside it
  outcome     text, -- JSON; what whoever asks again is told
  reason      text,
  primary key (scope, key)
);
create index if not exists idem_claims_open on idem_claims (scope, key) where state <> 'settled';
create index if not exists idem_claims_ends on idem_claims (scope, ends_at) where ends_at is not null;
