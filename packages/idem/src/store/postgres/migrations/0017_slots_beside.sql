-- What a run holds of its limits beside its own slot, for steps that run side by side. Counts while the job is leased. No row is written anew.
alter table jobs add column beside_1 integer not null default 0;
alter table jobs add column beside_2 integer not null default 0;
