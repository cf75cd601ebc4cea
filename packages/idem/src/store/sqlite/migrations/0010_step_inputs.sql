-- What each step was given, and the run it invoked, for people. The columns come last in their rows: whoever reads a memo never walks over
-- them. No row is written anew, however many there are; those from before do not know.
alter table steps add column input text;
alter table steps add column child_run_id text;
alter table attempts add column input text;
alter table waits add column input text;
