-- What the radar found, and how far it has read. New tables; nothing existing is touched.
create table alerts (
  env         text collate "C" not null,
  id          text collate "C" not null,
  kind        text collate "C" not null,
  fn          text collate "C" not null,
  about       text collate "C" not null,
  subject     text not null,
  state       text not null check (state in ('open', 'acknowledged', 'muted', 'closed')),
  first_at    bigint not null,
  last_at     bigint not null,
  pair_count  bigint not null,
  facts       text not null,
  judged_by   text,
  judged_at   bigint,
  note        text,
  muted_until bigint,
  primary key (env, id)
);

-- Pairs join the one that is not closed.
create unique index alerts_unclosed on alerts (env, kind, fn, about) where state <> 'closed';

create table alert_pairs (
  env      text collate "C" not null,
  alert_id text collate "C" not null,
  later_id text collate "C" not null,
  entity   text not null,
  first_id text collate "C",
  at       bigint not null,
  primary key (env, alert_id, later_id)
);

create table radar_positions (
  env      text collate "C" not null primary key,
  position text not null,
  version  bigint not null,
  moved_at bigint not null
);
