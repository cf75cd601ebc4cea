// Every watcher, in the order they are opened: after all ways out are shut, so that each may open its own.
import { watchFiles } from "./watch-files.ts";
import { watchHttp } from "./watch-http.ts";
import { watchMail } from "./watch-mail.ts";
import type { Watcher } from "./watcher.ts";

export const watchers: readonly Watcher[] = [watchHttp, watchMail, watchFiles];
