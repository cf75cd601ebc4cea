// Messages as receivers on this machine really got them.
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcp, type Server } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { testMessage } from "../radar/channel-message.ts";
import { type ChannelInput, makeChannel, newChannelSecret } from "../radar/channels.ts";
import { channelAddresses } from "../server/app-address.ts";
import { standardWebhooks } from "../toolkit/webhooks/providers/standard-webhooks.ts";
import { ownChannelAddresses, sendToChannel } from "./send-to-channel.ts";

const now = Date.UTC(2026, 10, 15, 12);
const secret = newChannelSecret((count) => new Uint8Array(count).fill(7));

const platform = { wallMs: () => now, timer: () => ({ cancel() {} }) };

function ports() {
  const warned: string[] = [];
  return { warned, platform, logger: { warn: (line: unknown) => void warned.push(String(line)) } };
}

const channelOf = (input: ChannelInput) => makeChannel("ops", input, null, { secret, now });
const message = { ...testMessage("ops-1", "ops", now), title: "<!channel> ran twice" };

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function httpReceiver(status = 204, headers: Record<string, string> = {}) {
  const got: { headers: Headers; body: string }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      got.push({
        headers: new Headers(request.headers as Record<string, string>),
        body: Buffer.concat(chunks).toString(),
      });
      response.writeHead(status, headers).end();
    });
  });
  return { got, url: `http://127.0.0.1:${await listen(server)}/in/secret-path` };
}

/** As much of SMTP as one message takes. */
async function smtpReceiver(refuse?: string) {
  const said: string[] = [];
  let mail = "";
  const server = createTcp((socket) => {
    let isData = false;
    let rest = "";
    socket.write("220 test\r\n");
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      rest += chunk.toString();
      for (let end = rest.indexOf("\r\n"); end >= 0; end = rest.indexOf("\r\n")) {
        const line = rest.slice(0, end);
        rest = rest.slice(end + 2);
        if (isData) {
          if (line === ".") {
            isData = false;
            socket.write("250 taken\r\n");
          } else mail += `${line}\n`;
          continue;
        }
        said.push(line);
        if (/^EHLO/.test(line)) socket.write("250-test\r\n250 AUTH PLAIN\r\n");
        else if (/^AUTH/.test(line)) socket.write(refuse === "AUTH" ? "535 wrong password\r\n" : "235 ok\r\n");
        else if (line === "DATA") {
          isData = true;
          socket.write("354 go on\r\n");
        } else if (line === "QUIT") socket.end("221 bye\r\n");
        else socket.write("250 ok\r\n");
      }
    });
  });
  const port = await listen(server);
  return { said, mail: () => mail, url: `smtp://ada:p%40ssword@127.0.0.1:${port}` };
}

test("a webhook is signed so that any receiver of Standard Webhooks verifies it", async () => {
  const { got, url } = await httpReceiver();
  expect(await sendToChannel(channelOf({ kind: "webhook", url }), message, ports())).toEqual({ kind: "sent" });
  const { headers, body } = got[0]!;
  expect(JSON.parse(body)).toEqual({
    type: "radar.test",
    timestamp: new Date(now).toISOString(),
    data: { channel: "ops" },
  });
  const verify = (bytes: string) =>
    standardWebhooks({ secrets: [secret] }).verify({ headers, bytes: Buffer.from(bytes), url }, now);
  expect(headers.get("webhook-id")).toBe("ops-1");
  expect(verify(body)).toEqual({ kind: "verified" });
  expect(verify(`${body} `)).not.toEqual({ kind: "verified" });
});

test("Slack is told in plain text: what stands in a payload calls nobody", async () => {
  const { got, url } = await httpReceiver(200);
  expect(await sendToChannel(channelOf({ kind: "slack", url }), message, ports())).toEqual({ kind: "sent" });
  expect(JSON.parse(got[0]!.body)).toEqual({
    text: "&lt;!channel&gt; ran twice",
    blocks: [
      { type: "section", text: { type: "plain_text", text: "<!channel> ran twice", emoji: false } },
      { type: "section", text: { type: "plain_text", text: message.lines.join("\n"), emoji: false } },
    ],
  });
});

test("what stands in a payload adds no line, calls nobody and is no link, on any kind of channel and in what only understands Slack's form", async () => {
  const forged =
    "x\r\nBcc: eve@example.com\n\nEverything: idem radar \u001b[2J\u202e\u2028@everyone [idem](https://evil.example) @channel";
  const hostile = { ...message, title: forged, lines: [forged, "second"] };
  const { got, url } = await httpReceiver(200);
  await sendToChannel(channelOf({ kind: "slack", url }), hostile, ports());
  const { text, blocks } = JSON.parse(got[0]!.body);
  // Mattermost and Discord read this field as Markdown with mentions, and ignore the blocks.
  expect(text).not.toMatch(/@everyone|@channel|\]\(|https:\/\//);
  expect(text).toContain("everyone");
  const unsafe = /[\p{Cc}\u202e\u2028]/u;
  expect(text).not.toMatch(unsafe);
  expect(blocks[0].text.text).not.toMatch(unsafe);
  expect(blocks[1].text.text.split("\n")).toHaveLength(2);

  const { mail, url: smtp } = await smtpReceiver();
  const email = { kind: "email", url: smtp, from: "radar@example.com", to: ["ada@example.com"] };
  await sendToChannel(channelOf(email), hostile, ports());
  expect(mail()).not.toMatch(/^Bcc:/m);
  expect(mail()).not.toMatch(/^Everything: idem radar/m);

  const logged: string[] = [];
  const log = { ...ports(), logger: { warn: (...words: unknown[]) => void logged.push(words.join(" ")) } };
  await sendToChannel(channelOf({ kind: "log" }), hostile, log);
  expect(logged).toHaveLength(1);
  expect(logged[0]).not.toMatch(unsafe);
});

test("an e-mail goes to everybody in plain text, and a wrong password is said without it", async () => {
  const { said, mail, url } = await smtpReceiver();
  const email = { kind: "email", url, from: "radar@example.com", to: ["ada@example.com", "bob@example.com"] };
  expect(await sendToChannel(channelOf(email), message, ports())).toEqual({ kind: "sent" });
  expect(said.filter((line) => line.startsWith("RCPT"))).toEqual([
    "RCPT TO:<ada@example.com>",
    "RCPT TO:<bob@example.com>",
  ]);
  expect(mail()).toContain("Subject: <!channel> ran twice");
  expect(mail()).toContain("Content-Type: text/plain");
  expect(mail()).toContain("Nothing ran twice. Alerts will arrive here.");
  const refusing = await smtpReceiver("AUTH");
  const answer = await sendToChannel(channelOf({ ...email, url: refusing.url }), message, ports());
  expect(answer).toMatchObject({ kind: "failed", why: expect.stringContaining("535") });
  expect(JSON.stringify(answer)).not.toMatch(/p@ssword|p%40ssword/);
});

test("a redirect is not followed, and a receiver that is gone or refuses is an answer without the address", async () => {
  const target = await httpReceiver();
  const { url } = await httpReceiver(302, { location: target.url });
  const slack = (to: string) => sendToChannel(channelOf({ kind: "slack", url: to }), message, ports());
  expect(await slack(url)).toEqual({ kind: "failed", why: "it answered 302" });
  expect(target.got).toEqual([]);
  const gone = await slack("http://127.0.0.1:1/in/secret-path");
  expect(gone).toMatchObject({ kind: "failed", why: expect.stringContaining("ECONNREFUSED") });
  expect(JSON.stringify(gone)).not.toContain("secret-path");
});

test("in start, addresses of the machine and its network are refused unless they were allowed, by name and by address", async () => {
  const { got, url } = await httpReceiver();
  const send = (to: string, allowHosts: string[], kind = "slack") =>
    sendToChannel(channelOf({ kind, url: to, from: "a@example.com", to: ["b@example.com"] }), message, {
      ...ports(),
      ...channelAddresses({ mode: "start", allowHosts, sdkUrls: [] }),
    });
  for (const [to, kind] of [
    [url, "slack"],
    [url.replace("127.0.0.1", "localhost"), "webhook"],
    ["http://169.254.169.254/latest", "slack"],
    ["smtp://10.0.0.7", "email"],
    ["smtp://localhost:2525", "email"],
  ] as const) {
    expect([to, await send(to, [], kind)]).toEqual([to, { kind: "failed", why: expect.any(String) }]);
  }
  expect(got).toEqual([]);
  expect(await send(url, ["127.0.0.1"])).toEqual({ kind: "sent" });
});

test("the log is a channel too", async () => {
  const { warned, ...open } = ports();
  expect(await sendToChannel(channelOf({ kind: "log" }), message, open)).toEqual({ kind: "sent" });
  expect(warned).toEqual([expect.stringContaining("ran twice. Nothing ran twice")]);
});

test("from an application's own process a receiver beside it is told, and what keeps a cloud's credentials never is", async () => {
  const { got, url } = await httpReceiver();
  const own = { ...ports(), ...ownChannelAddresses };
  expect(await sendToChannel(channelOf({ kind: "slack", url }), message, own)).toEqual({ kind: "sent" });
  expect(got).toHaveLength(1);
  for (const host of ["169.254.169.254", "[fd00:ec2::254]", "[::ffff:169.254.169.254]"]) {
    const answer = await sendToChannel(channelOf({ kind: "webhook", url: `http://${host}/latest` }), message, own);
    expect(answer).toMatchObject({ kind: "failed", why: expect.stringContaining("nobody can be told at") });
  }
});
