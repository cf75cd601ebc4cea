-- Short logs of messages that one process leaves and others read. The row of a channel has its last place: whoever publishes holds it until
-- its commit, so places follow each other in the order of the commits.
create table channels (
  env   text collate "C" not null,
  name  text collate "C" not null,
  base  bigint not null,
  floor bigint not null,
  last  bigint not null,
  bytes bigint not null,
  at    bigint not null,
  primary key (env, name)
);
create index channels_by_time on channels (at);
create index channels_with_messages on channels (env, bytes) where bytes > 0;
create table messages (
  env     text collate "C" not null,
  channel text collate "C" not null,
  place   bigint not null,
  id      text collate "C" not null,
  topic   text,
  size    bigint not null,
  at      bigint not null,
  body    text not null,
  primary key (env, channel, place)
);
create index messages_by_id on messages (id);
create index messages_by_time on messages (at);
