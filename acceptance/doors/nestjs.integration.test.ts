// The door of NestJS on the real framework, over Express and over Fastify, as docs/quickstarts/nestjs.md has it.
import "reflect-metadata";
import { Readable } from "node:stream";
import {
  Body,
  type CanActivate,
  Controller,
  HttpException,
  type INestApplication,
  Inject,
  Module,
  Post,
  Req,
  Res,
  StreamableFile,
  UseGuards,
  UseInterceptors,
} from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { of } from "rxjs";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { canonicalJson } from "../../packages/idem/src/model/json.ts";
import { idemModule, idempotent, type Keyed, type RouteOptions, serve } from "../../packages/idem/src/nestjs.ts";
import { asListener } from "../../packages/idem/src/node.ts";
import { signatureHeader, signRequest } from "../../packages/idem/src/protocol/request-signature.ts";
import { Idem } from "../../packages/idem/src/sdk/client.ts";
import { callBody, classic } from "../../packages/idem/src/serve/served-world.suite.ts";
import { keysOf, post, route } from "../../packages/idem/src/toolkit/http/doors/asking.suite.ts";
import { doorSuite } from "../../packages/idem/src/toolkit/http/doors/doors.suite.ts";
import {
  binary,
  type Deed,
  type Door,
  execute,
  large,
  type Shop,
} from "../../packages/idem/src/toolkit/http/doors/served-doors.suite.ts";
import type { Idempotency } from "../../packages/idem/src/toolkit/http/idempotency.ts";
import { memoryKeys } from "../../packages/idem/src/toolkit/keys/memory-keys.ts";
import { nodeWebhook } from "../../packages/idem/src/toolkit/webhooks/node-webhook.ts";
import { signWebhook, stripe, webhook } from "../../packages/idem/src/webhooks.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const platforms = ["Express", "Fastify"] as const;
type Platform = (typeof platforms)[number];

async function listen(
  platform: Platform,
  module: object,
  prepare: (app: INestApplication) => void = () => {},
): Promise<{ app: INestApplication; origin: string }> {
  const options = { rawBody: true, logger: false, forceCloseConnections: true } as const;
  const app =
    platform === "Express"
      ? await NestFactory.create(module as never, options)
      : await NestFactory.create(module as never, new FastifyAdapter() as never, options);
  app.enableCors({ origin: true });
  prepare(app);
  onTestFinished(() => app.close());
  await app.listen(0, "127.0.0.1");
  return { app, origin: (await app.getUrl()).replace("localhost", "127.0.0.1") };
}

/** Whatever the platform, what a handler gets of its response. */
interface Answering {
  status(code: number): Answering;
  header(name: string, value: string): Answering;
}

function shopModule(keys: Idempotency, options: RouteOptions, shop: Shop): object {
  @Controller("charges")
  class Charges {
    @Post()
    @UseInterceptors(idempotent(keys, options))
    async charge(
      @Body() body: unknown,
      @Req() request: Keyed & { query: { deed?: Deed } },
      @Res({ passthrough: true }) response: Answering,
    ): Promise<unknown> {
      const { deed = "json" } = request.query;
      await execute(shop, deed, JSON.stringify(body), request.idempotency);
      switch (deed) {
        case "no-content":
          response.status(204);
          return undefined;
        case "empty":
          response.status(200).header("content-type", "text/plain");
          return "";
        case "binary":
          response.status(200);
          return new StreamableFile(binary);
        case "cookie":
          response.status(200).header("set-cookie", "session=secret");
          return { id: 1 };
        case "large":
          response.status(200);
          return new StreamableFile(large);
        case "written":
        case "file":
        case "piped":
          response.status(200);
          return new StreamableFile(Readable.from(["one ", "two ", "three"].map((part) => Buffer.from(part))));
        case "break":
          return new StreamableFile(
            Readable.from(
              (function* () {
                yield Buffer.from("one ");
                throw new Error("the source broke off");
              })(),
            ),
          );
        default:
          response.header("location", "/charges/1");
          return { id: shop.executed.length };
      }
    }
  }
  @Module({ controllers: [Charges] })
  class ShopModule {}
  return ShopModule;
}

const doors = platforms.map(
  (platform): Door => ({
    name: platform,
    open: async (keys, options, shop) => `${(await listen(platform, shopModule(keys, options, shop))).origin}/charges`,
  }),
);

doorSuite(() => memoryKeys(), doors);

describe.each(platforms)("on %s", (platform) => {
  test("the client begins once every provider has defined its functions, is injected as Idem, and ends with the application", async () => {
    const idem = new Idem({ id: "shop", store: "memory:", logger: silent });
    const stop = vi.spyOn(idem, "stop");
    const mails: unknown[] = [];
    class Functions {
      constructor(@Inject(Idem) client: Idem) {
        const options = { id: "confirm", idempotency: "event.data.orderId" } as const;
        client.createFunction(options, { event: "order/placed" }, ({ event, step }) =>
          step.run("mail", () => void mails.push(event.data.orderId)),
        );
      }
    }
    @Controller("orders")
    class Orders {
      readonly #idem: Idem;
      constructor(@Inject(Idem) client: Idem) {
        this.#idem = client;
      }
      @Post()
      async place(@Body() body: { orderId: number }) {
        const { decisions } = await this.#idem.send({ name: "order/placed", data: body });
        await this.#idem.runs.wait(decisions[0]!.runId!);
        return decisions[0]!.kind;
      }
    }
    @Module({ imports: [idemModule(idem)], controllers: [Orders], providers: [Functions] })
    class AppModule {}
    const dashboard = asListener(idem.dashboard({ base: "/idem", dev: true }));
    const { app, origin } = await listen(platform, AppModule, (nest) => nest.use("/idem", dashboard));
    const place = () => post(`${origin}/orders`, "unused", '{"orderId":7}').then((answer) => answer.text());
    expect([await place(), await place(), mails]).toEqual(["started", "duplicate-key", [7]]);
    const page = await fetch(`${origin}/idem`);
    expect([page.status, (await page.text()).includes("idem-base")]).toEqual([200, true]);
    await app.close();
    expect(stop).toHaveBeenCalledOnce();
  });

  test("calls of a server are answered and signed behind Nest's own body parser; a served client is only injected", async () => {
    const key = "4f2a9c0e7b1d8356af03c9e2517bd864";
    const idem = new Idem({ id: "shop", server: "http://127.0.0.1:9", signingKey: key, logger: silent });
    idem.createFunction({ id: "fn" }, { event: "test/go" }, ({ step }) => step.run("a", () => ({ done: true })));
    @Module({ imports: [idemModule(idem, { start: false })] })
    class AppModule {}
    const { app, origin } = await listen(platform, AppModule, (nest) => nest.use("/api/idem", serve(idem)));
    expect(app.get(Idem)).toBe(idem);
    const body = canonicalJson(JSON.parse(JSON.stringify(callBody({ ctx: classic }))));
    const signed = { "content-type": "application/json", [signatureHeader]: signRequest(body, key, Date.now()) };
    const url = `${origin}/api/idem?fnId=shop-fn&stepId=step`;
    const answer = await fetch(url, { method: "POST", headers: signed, body });
    expect([answer.status, ((await answer.json()) as { data: unknown }[])[0]!.data]).toEqual([206, { done: true }]);
    expect(answer.headers.get(signatureHeader)).not.toBeNull();
    expect((await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body })).status).toBe(
      401,
    );
  });

  test("guards come before the key, what is thrown is answered by Nest's filters and replayed, a stream of values ends in its last", async () => {
    let executed = 0;
    class Guard implements CanActivate {
      canActivate(context: { switchToHttp(): { getRequest(): { headers: Record<string, string> } } }) {
        return context.switchToHttp().getRequest().headers["x-guest"] === undefined;
      }
    }
    @Controller()
    class Charges {
      @Post("refused")
      @UseGuards(Guard)
      @UseInterceptors(idempotent(keysOf(), route))
      refuse() {
        executed++;
        throw new HttpException("no such card", 422);
      }
      @Post("streamed")
      @UseInterceptors(idempotent(keysOf(), route))
      stream() {
        return of({ id: 1 }, { id: 2 });
      }
    }
    @Module({ controllers: [Charges] })
    class AppModule {}
    const { origin } = await listen(platform, AppModule);
    expect((await post(`${origin}/refused`, "k", "{}", { "x-guest": "1" })).status).toBe(403);
    const [first, second] = [await post(`${origin}/refused`, "k"), await post(`${origin}/refused`, "k")];
    expect([first.status, second.status, executed]).toEqual([422, 422, 1]);
    expect(await second.text()).toBe(await first.text());
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(await (await post(`${origin}/streamed`, "k")).json()).toEqual({ id: 2 });
  });

  test("a body that Nest has parsed without keeping its bytes is refused, and nothing is executed", async () => {
    let executed = 0;
    @Controller()
    class Charges {
      @Post("charges")
      @UseInterceptors(idempotent(keysOf(), route))
      charge() {
        return ++executed;
      }
    }
    @Module({ controllers: [Charges] })
    class AppModule {}
    const app =
      platform === "Express"
        ? await NestFactory.create(AppModule, { logger: false })
        : await NestFactory.create(AppModule, new FastifyAdapter() as never, { logger: false });
    onTestFinished(() => app.close());
    await app.listen(0, "127.0.0.1");
    const origin = (await app.getUrl()).replace("localhost", "127.0.0.1");
    expect((await post(`${origin}/charges`, "k")).status).toBe(500);
    expect(executed).toBe(0);
  });
});

test("on Express, a webhook's receiver in a controller verifies the bytes that rawBody keeps", async () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const provider = stripe({ secrets: [secret] });
  const idem = new Idem({ id: "shop", store: "memory:", logger: silent });
  const receive = nodeWebhook(webhook({ source: "stripe", provider, idem }));
  @Controller()
  class Hooks {
    @Post("hook")
    hook(@Req() request: never, @Res() response: never) {
      receive(request, response);
    }
  }
  @Module({ imports: [idemModule(idem)], controllers: [Hooks] })
  class AppModule {}
  const { origin } = await listen("Express", AppModule);
  const body = '{ "id": "evt_1",\n "type":"invoice.paid", "price": 1.0 }';
  const deliver = async () => {
    const { headers } = signWebhook(provider, secret, body);
    const answer = await fetch(`${origin}/hook`, { method: "POST", headers, body });
    return [answer.status, answer.headers.get("idempotent-replayed")];
  };
  expect([await deliver(), await deliver()]).toEqual([
    [200, null],
    [200, "true"],
  ]);
});
