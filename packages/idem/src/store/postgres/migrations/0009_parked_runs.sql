-- A run may be parked for a person, with a reason; whose workers were lost is put off before it is entered again. No row is written anew.
-- Kind and reason stay when a person lets it go on: parked_at alone says that it is parked.
alter table jobs add column parked_at bigint;
alter table jobs add column parked_kind text collate "C";
alter table jobs add column parked_reason text;
alter table jobs add column enter_at bigint;
alter table jobs add column lost_by text collate "C";
alter table jobs add column lost_at bigint;

create index jobs_parked on jobs (env, id) where parked_at is not null;
