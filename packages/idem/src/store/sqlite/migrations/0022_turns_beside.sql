-- Which commit of a lease said last what its run holds beside its slot: one that comes late, behind a later one, changes nothing. No row is written anew.
alter table jobs add column beside_turn integer not null default 0;
