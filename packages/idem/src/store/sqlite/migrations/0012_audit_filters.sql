-- What one person did, what was done to one thing, and every time one thing was done, newest first. The audit is small: people write it.
create index audit_by_action on audit (env, action, id);
create index audit_by_actor on audit (env, actor, id);
create index audit_by_subject on audit (env, subject, id);
