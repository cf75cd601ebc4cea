// Where the radar may send from a server. Whoever may set up a channel chooses an address inside this server's network, so the rule is that
// of apps (app-address.ts): in `start` an address is public, or its host was allowed by the operator.
import type { ChannelPorts } from "../../sdk/send-to-channel.ts";
import { type AddressSettings, appLookup, whyRefused } from "../app-address.ts";

export const channelAddresses = (settings: AddressSettings): Required<Pick<ChannelPorts, "refuses" | "lookup">> => ({
  refuses: (url) => whyRefused(new URL(url), settings),
  lookup: appLookup(settings),
});
