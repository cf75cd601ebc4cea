-- Who a worker is, for the list of nodes. A row per process and columns that may be null: nothing is rewritten.
alter table workers add column node text;
alter table workers add column version text;
alter table workers add column role text;
-- When it was last heard of.
alter table workers add column beat_at integer;
