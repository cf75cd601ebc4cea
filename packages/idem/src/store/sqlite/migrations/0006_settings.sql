-- What people configured in a running system: sources of webhooks. A few rows; nothing existing is touched.
create table settings (
  env        text not null,
  kind       text not null,
  name       text not null,
  value      text not null,
  version    integer not null,
  changed_at integer not null,
  primary key (env, kind, name)
) without rowid;
