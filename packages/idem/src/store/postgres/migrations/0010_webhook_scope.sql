-- Deliveries of webhooks had their ids among those that anybody sends: who had an event key could take the id of a delivery to come. They have
-- a scope of their own now. Windows that are open move along: of events that webhooks kept, as their shape tells (`webhook` in meta; what is
-- quarantined, gathered, merged or pulled by its name and id). Looked at as text: not every text of JSON is one to PostgreSQL.

update claims set scope = 'webhook'
  from (select *, substr(caller_id, 1, strpos(caller_id, ':') - 1) as source
          from events where strpos(caller_id, ':') > 1) e
 where claims.scope = 'event' and e.env = claims.env and e.id = claims.holder
   and (strpos(coalesce(e.extra, ''), '"webhook":{"source":"' || e.source || '"') > 0
     or (e.name = e.source || '/quarantined' and strpos(e.caller_id, e.source || ':quarantined-') = 1)
     or (e.name = e.source || '/received' and strpos(e.data, '{"coalesce":"') = 1)
     or (strpos(e.caller_id, e.source || ':logical-') = 1 and strpos(e.data, '"carries":[') > 0)
     or (e.name = e.source || '/pulled' and strpos(e.caller_id, e.source || ':request-') = 1)
     or (e.name = e.source || '/pulling' and e.caller_id = e.source || ':puller'));
