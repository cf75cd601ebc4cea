// The used part of @mswjs/interceptors, so that this package compiles without it.

declare module "@mswjs/interceptors" {
  export interface RequestSeen {
    readonly request: Request;
    readonly controller: {
      respondWith(response: Response): void;
      errorWith(error: Error): void;
    };
  }

  export class BatchInterceptor {
    constructor(options: { readonly name: string; readonly interceptors: readonly object[] });
    on(name: "request", take: (seen: RequestSeen) => Promise<void>): unknown;
    apply(): void;
  }
}

declare module "@mswjs/interceptors/fetch" {
  export class FetchInterceptor {}
}

declare module "@mswjs/interceptors/ClientRequest" {
  export class ClientRequestInterceptor {}
}
