-- How many heartbeats each process was acknowledged for: a row that a process finds older than it knows, or gone, proves that the store lost
-- writes (store/history.ts). Not part of `workers`, whose rows come and go with leases.
create table heartbeats (
  id      text collate "C" not null primary key,
  counter bigint not null,
  at      bigint not null
);
create index heartbeats_by_time on heartbeats (at);
