-- What people configured in a running system: sources of webhooks. A few rows; nothing existing is touched.
create table settings (
  env        text collate "C" not null,
  kind       text collate "C" not null,
  name       text collate "C" not null,
  value      text not null,
  version    bigint not null,
  changed_at bigint not null,
  primary key (env, kind, name)
);
