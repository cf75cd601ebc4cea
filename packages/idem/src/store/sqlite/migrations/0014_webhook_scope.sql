-- Deliveries of webhooks had their ids among those that anybody sends: who had an event key could take the id of a delivery to come. They have
-- a scope of their own now. Windows that are open move along: of events that webhooks kept, as their shape tells (`webhook` in meta; what is
-- quarantined, gathered, merged or pulled by its name and id). Looked at as text: not every text of JSON is one to PostgreSQL.

update claims set scope = 'webhook'
  from (select *, substr(caller_id, 1, instr(caller_id, ':') - 1) as source
          from events where instr(caller_id, ':') > 1) e
 where claims.scope = 'event' and e.env = claims.env and e.id = claims.holder
   and (instr(coalesce(e.extra, ''), '"webhook":{"source":"' || e.source || '"') > 0
     or (e.name = e.source || '/quarantined' and instr(e.caller_id, e.source || ':quarantined-') = 1)
     or (e.name = e.source || '/received' and instr(e.data, '{"coalesce":"') = 1)
     or (instr(e.caller_id, e.source || ':logical-') = 1 and instr(e.data, '"carries":[') > 0)
     or (e.name = e.source || '/pulled' and instr(e.caller_id, e.source || ':request-') = 1)
     or (e.name = e.source || '/pulling' and e.caller_id = e.source || ':puller'));

update claim_keys set scope = 'webhook'
 where scope = 'event' and (select c.scope from claims c where c.n = claim_keys.n) = 'webhook';
