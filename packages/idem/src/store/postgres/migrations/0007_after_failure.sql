-- Of runs that share a window: whether the one before gave its key back because it failed, which a function's configuration asked for.
alter table slips add column after_failure integer not null default 0;
