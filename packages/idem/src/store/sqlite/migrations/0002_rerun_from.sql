-- A rerun may begin at a step and with arguments a person edited. Both columns are null for every other run, so no row is
-- rewritten: on a table of any size this takes no longer than on an empty one.

-- JSON: the step it began at, and how many outcomes came along.
alter table runs add column rerun_from text;

-- JSON: edited arguments by step id.
alter table runs add column inputs text;
