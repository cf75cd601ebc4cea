// The package that sees requests leave, loaded when the thread opens: nothing else in Idem needs it, and only who verifies installs it.
import type { BatchInterceptor } from "@mswjs/interceptors";

/** Of `fetch`, and of `node:http` and `node:https`. */
export async function loadInterceptors(): Promise<BatchInterceptor> {
  try {
    const [{ BatchInterceptor }, { FetchInterceptor }, { ClientRequestInterceptor }] = await Promise.all([
      import("@mswjs/interceptors"),
      import("@mswjs/interceptors/fetch"),
      import("@mswjs/interceptors/ClientRequest"),
    ]);
    const interceptors = [new FetchInterceptor(), new ClientRequestInterceptor()];
    return new BatchInterceptor({ name: "idem-verify", interceptors });
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    const needed = "npm install --save-dev @mswjs/interceptors@0.41.9";
    throw new Error(`idem verify needs a library that is not installed here; "${needed}", and try again`);
  }
}
