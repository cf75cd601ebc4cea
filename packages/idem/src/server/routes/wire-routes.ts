// The wire of apps, their workers and senders of events: everybody but people and tools.
import type { Route } from "../route.ts";
import { describeDevServer } from "./wire/describe-dev-server.ts";
import { flushReply } from "./wire/flush-reply.ts";
import { invokeFunction } from "./wire/invoke-function.ts";
import { readRunActions, readRunEvents } from "./wire/read-run-state.ts";
import { receiveWebhook, receiveWebhookIn } from "./wire/receive-webhook.ts";
import { registerApp } from "./wire/register-app.ts";
import { sendEvents } from "./wire/send-events.ts";
import { startConnection } from "./wire/start-connection.ts";

export const wireRoutes: readonly Route[] = [
  // -- events, with an event key
  sendEvents,
  invokeFunction,
  // -- webhooks, signed
  receiveWebhook,
  receiveWebhookIn,
  // -- apps
  describeDevServer,
  registerApp,
  // -- what an app fetches that a call could not carry
  readRunActions,
  readRunEvents,
  // -- workers that connect
  flushReply,
  startConnection,
];
