-- Who did it, beside what, when and why. Rows from before do not know, and a node of the version before may go on writing its own.
alter table audit add column actor text not null default '';
