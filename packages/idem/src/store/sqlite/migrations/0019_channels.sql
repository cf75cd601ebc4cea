-- Short logs of messages that one process leaves and others read. The row of a channel has its last place: whoever publishes holds it until
-- its commit, so places follow each other in the order of the commits.
create table channels (
  env   text not null,
  name  text not null,
  base  integer not null,
  floor integer not null,
  last  integer not null,
  bytes integer not null,
  at    integer not null,
  primary key (env, name)
) without rowid;
create index channels_by_time on channels (at);
create index channels_with_messages on channels (env, bytes) where bytes > 0;
create table messages (
  env     text not null,
  channel text not null,
  place   integer not null,
  id      text not null,
  topic   text,
  size    integer not null,
  at      integer not null,
  body    text not null,
  primary key (env, channel, place)
);
create index messages_by_id on messages (id);
create index messages_by_time on messages (at);
