-- Who did it, beside what, when and why. Rows from before do not know.
alter table audit add column actor text not null default '';
