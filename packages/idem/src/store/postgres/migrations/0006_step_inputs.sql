-- What each step was given, and the run it invoked, for people. No row is written anew, however many there are; those from before do not
-- know, and a node of the version before may go on writing its own.
alter table steps add column input text;
alter table steps add column child_run_id text collate "C";
alter table attempts add column input text;
alter table waits add column input text;
