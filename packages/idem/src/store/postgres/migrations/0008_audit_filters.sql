-- What one person did, what was done to one thing, and every time one thing was done, newest first. The audit is small, people write it: a
-- node of the version before waits for a moment at most. Names can be longer than an index takes, so their beginnings stand in it.
create index audit_by_action on audit (env, action, id);
create index audit_by_actor on audit (env, left(actor, 100), id);
create index audit_by_subject on audit (env, left(subject, 100), id);
