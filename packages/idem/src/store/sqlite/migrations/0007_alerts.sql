-- What the radar found, and how far it has read. New tables; nothing existing is touched.
create table alerts (
  env         text not null,
  id          text not null,
  kind        text not null,
  fn          text not null,
  about       text not null,
  subject     text not null,
  state       text not null check (state in ('open', 'acknowledged', 'muted', 'closed')),
  first_at    integer not null,
  last_at     integer not null,
  pair_count  integer not null,
  facts       text not null,
  judged_by   text,
  judged_at   integer,
  note        text,
  muted_until integer,
  primary key (env, id)
) without rowid;

-- Pairs join the one that is not closed.
create unique index alerts_unclosed on alerts (env, kind, fn, about) where state <> 'closed';

create table alert_pairs (
  env      text not null,
  alert_id text not null,
  later_id text not null,
  entity   text not null,
  first_id text,
  at       integer not null,
  primary key (env, alert_id, later_id)
) without rowid;

create table radar_positions (
  env      text not null primary key,
  position text not null,
  version  integer not null,
  moved_at integer not null
) without rowid;
