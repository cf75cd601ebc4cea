-- Values of events' data that people search by, of the events they chose; a row for each field of each such event. No row is written anew.
create table event_values (
  env      text not null,
  event_id text not null,
  path     text not null,
  name     text not null,
  -- In small letters, cut; what is typed is compared with its beginning.
  word     text not null,
  -- As JSON, cut.
  value    text not null,
  primary key (env, event_id, path)
) without rowid;
create index event_values_by_word on event_values (env, word, event_id);
