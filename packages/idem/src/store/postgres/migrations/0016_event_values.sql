-- Values of events' data that people search by, of the events they chose; a row for each field of each such event. No row is written anew.
create table event_values (
  env      text collate "C" not null,
  event_id text collate "C" not null,
  path     text collate "C" not null,
  name     text collate "C" not null,
  -- In small letters, cut; what is typed is compared with its beginning.
  word     text collate "C" not null,
  -- As JSON, cut.
  value    text collate "C" not null,
  primary key (env, event_id, path)
);
create index event_values_by_word on event_values (env, word, event_id);
