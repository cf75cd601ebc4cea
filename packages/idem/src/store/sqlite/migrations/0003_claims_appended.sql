-- Keys come in no order, so a B-tree of claims dirtied a page of its own for every key. Claims are appended now, and the tree
-- that finds them by key is filled many at a time: all rows up to `claims-indexed` are in claim_keys, the owner remembers the
-- others (claim-index.ts; docs/decisions/0008).

create table appended (
  n             integer primary key,
  env           text not null,
  scope         text not null,
  key           text not null,
  holder        text not null,
  fence         integer not null,
  generation    text not null,
  state         text not null check (state in ('in-flight', 'settled', 'released')),
  fingerprint   text,
  taken_at      integer not null,
  lease_until   integer,
  ends_at       integer not null,
  held          integer not null check (held in (0, 1)),
  asked         integer not null,
  last_asked_at integer not null,
  outcome       text
);

insert into appended (env, scope, key, holder, fence, generation, state, fingerprint, taken_at, lease_until, ends_at, held,
                      asked, last_asked_at, outcome)
select env, scope, key, holder, fence, generation, state, fingerprint, taken_at, lease_until, ends_at, held,
       asked, last_asked_at, outcome
  from claims order by env, scope, key;

drop table claims;
alter table appended rename to claims;

create index claims_by_end on claims (ends_at);

create table claim_keys (
  env   text not null,
  scope text not null,
  key   text not null,
  n     integer not null,
  primary key (env, scope, key)
) without rowid;

insert into claim_keys (env, scope, key, n) select env, scope, key, n from claims order by n;
insert into meta (name, value) select 'claims-indexed', coalesce(max(n), 0) from claims;
