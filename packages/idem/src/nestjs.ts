/**
 * NestJS, on Express or Fastify: the client as a module that begins and ends with the application, functions for an Idem server to call, and
 * handlers behind an Idempotency-Key.
 *
 * ```ts
 * @Module({ imports: [idemModule(idem)], controllers: [Orders] })
 * class AppModule {}
 *
 * @Controller("orders")
 * class Orders {
 *   constructor(private readonly idem: Idem) {}
 *
 *   @Post()
 *   @UseInterceptors(idempotent(keys, { onCrash: "park" }))
 *   place(@Body() order: Order, @Req() { idempotency }: Keyed) { … }
 * }
 *
 * const app = await NestFactory.create(AppModule, { rawBody: true }); // what is compared is bytes
 * app.use("/api/idem", serve(idem)); // in place of idemModule; with IDEM_DEV=1, then: npx idem dev -u http://127.0.0.1:3000/api/idem
 * ```
 */
import { Idem } from "./sdk/client.ts";
import type { ServeOptions } from "./serve/app-handler.ts";
import { type NodeRequest, type NodeResponse, nodeHandler } from "./serve/node-handler.ts";
import type { KeyContext, RouteOptions } from "./toolkit/http/begin.ts";
import { type NestInterceptor, nestDoor } from "./toolkit/http/doors/nest-door.ts";
import type { Idempotency } from "./toolkit/http/idempotency.ts";

export type { ServeOptions } from "./serve/app-handler.ts";

export type { KeyContext, RouteOptions } from "./toolkit/http/begin.ts";
export type { NestContext, NestInterceptor, NestStream } from "./toolkit/http/doors/nest-door.ts";

/** A request behind `idempotent`. */
export interface Keyed {
  /** Absent where no key applies. */
  readonly idempotency?: KeyContext;
}

export interface IdemModuleOptions {
  /** False for a client whose functions a server calls: it is only there to be injected. */
  readonly start?: boolean;
}

/** A dynamic module of NestJS. */
export interface IdemModule {
  readonly module: new () => object;
  readonly global: true;
  readonly providers: { provide: typeof Idem; useValue: Idem }[];
  readonly exports: (typeof Idem)[];
}

/**
 * The client, to be injected as `Idem` everywhere. It starts once every provider has defined its functions, and stops after the last request:
 * `app.enableShutdownHooks()` lets it hear of SIGTERM.
 */
export function idemModule(idem: Idem, { start = true }: IdemModuleOptions = {}): IdemModule {
  class EmbeddedIdem {
    onApplicationBootstrap(): Promise<void> {
      return idem.start();
    }

    onApplicationShutdown(): Promise<void> {
      return idem.stop();
    }
  }
  class ServedIdem {}
  return {
    module: start ? EmbeddedIdem : ServedIdem,
    global: true,
    providers: [{ provide: Idem, useValue: idem }],
    exports: [Idem],
  };
}

export type NestMiddleware = (request: NodeRequest, response: NodeResponse, next: (error?: unknown) => void) => void;

/** `app.use("/api/idem", serve(idem))`. Nest's body parser stands before it, and reads up to its own limit. */
export function serve(idem: Idem, options: ServeOptions = {}): NestMiddleware {
  const handle = nodeHandler(idem, options, "nestjs");
  return (request, response, next) => {
    handle(request, response).catch(next);
  };
}

/**
 * The handler runs once per key: `@UseInterceptors(idempotent(keys, { onCrash: "park" }))`, behind the guards that find out who asks. Create the
 * application with `{ rawBody: true }`.
 */
export const idempotent = (keys: Idempotency, route: RouteOptions): NestInterceptor => nestDoor(keys, route);
