// Where the radar may send from an application's own process, and from a terminal. A server refuses private addresses, because whoever may set up
// a channel there need not be let into its network (server/radar/channel-addresses.ts). Here the process is the application's: its code reaches that
// network anyway, and a chat server beside it is an ordinary place for alerts. What hands out the credentials of a cloud's machine is no
// place for alerts anywhere.
import { rangeOf } from "../model/ip-range.ts";
import { guardedLookup } from "../platform/guarded-lookup.ts";
import type { ChannelPorts } from "./send-to-channel.ts";

export const ownChannelAddresses: Required<Pick<ChannelPorts, "refuses" | "lookup">> = {
  refuses: (url) => {
    const host = new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
    return rangeOf(host) === "never" ? `nobody can be told at ${host}` : null;
  },
  lookup: guardedLookup((_, address) => rangeOf(address) !== "never"),
};
